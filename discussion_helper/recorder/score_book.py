"""The score book: how complete the pauses of a recorded talk sounded, and when that was known."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from discussion_helper.recorder.entries import Entry, Noted, Taken
from discussion_helper.recorder.heard import parsed
from discussion_helper.recorder.word_book import NEAR
from discussion_helper.voice.notes import Note, ProsodyWanted
from discussion_helper.voice.scored import Scored

__all__ = ["ScoreBook"]


@dataclass(frozen=True, slots=True)
class _Ask:
    place: int
    end: int
    until: int


@dataclass(slots=True)
class _Answer:
    """A recorded score that item `place` brought, `delay_s` after it was asked for at `ask`."""

    scored: Scored
    ask: _Ask
    place: int
    delay_s: float


@dataclass(slots=True)
class ScoreBook:
    """Asked in the replay, it gives what was recorded for the same ask at the same item, or for nearly the same later.

    For what was not asked for in the talk it has nothing: the turn then ends by the rest of what is known.
    """

    _answers: list[_Answer] = field(default_factory=list)
    _exact: set[int] = field(default_factory=set)
    _due: list[tuple[float, Scored]] = field(default_factory=list)

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> "ScoreBook":
        """From the entries of a take; those of audio only count."""
        book, place, now = cls(), -1, 0.0
        open_asks: list[tuple[_Ask, float]] = []
        for entry in entries:
            if isinstance(entry, Taken):
                place, now = place + 1, entry.now
                if isinstance(entry.item, Scored):
                    book._add(entry.item, open_asks, place, now)
            elif isinstance(entry, Noted) and (note := parsed(entry.line))["note"] == "ProsodyWanted":
                open_asks.append((_Ask(place, note["end"], note["until"]), now))
        return book

    def _add(self, scored: Scored, asks: list[tuple[_Ask, float]], place: int, now: float) -> None:
        for number, (ask, at_s) in enumerate(asks):
            if ask.until == scored.until:
                del asks[: number + 1]
                self._answers.append(_Answer(scored, ask, place, now - at_s))
                return

    def noted(self, note: Note, place: int, now: float) -> None:
        """The replay's hearing said this after item `place`: it may ask."""
        if not isinstance(note, ProsodyWanted):
            return
        ask = _Ask(place, note.end, note.until)
        exact = [answer.place for answer in self._answers if answer.ask == ask]
        self._exact.update(exact)
        if exact:
            return
        near = [it for it in self._answers if it.place not in self._exact and _is_near(it.ask, ask)]
        if near:
            self._due.append((now + near[0].delay_s, Scored(note.until, near[0].scored.score)))

    def due(self, now: float) -> list[Scored]:
        """Scores that have come by then, beside those at their recorded item."""
        ready = [scored for at_s, scored in self._due if at_s <= now]
        self._due = [(at_s, scored) for at_s, scored in self._due if at_s > now]
        return ready

    def holds(self, place: int) -> bool:
        """Whether the score that item `place` brought in the recording comes there in the replay as well."""
        return place in self._exact


def _is_near(one: _Ask, other: _Ask) -> bool:
    return abs(one.until - other.until) <= NEAR and abs(one.end - other.end) <= NEAR
