"""The word book: which words the recogniser found for which stretch of a recorded turn, and when they came."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from discussion_helper.audio.frames import Samples
from discussion_helper.recorder.entries import Entry, Noted, Taken
from discussion_helper.recorder.heard import parsed
from discussion_helper.turn.turns import TurnEnded, TurnPaused, TurnResumed
from discussion_helper.voice.deciding import Words
from discussion_helper.voice.notes import Ducked, Note, Resumed, Turn, WordsWanted

__all__ = ["NEAR", "USUAL_S", "Ask", "Reads", "WordBook"]

NEAR = 3_200
"""Samples at 16 kHz by which the ends of a stretch may differ: 0.2 s is less than a word."""
USUAL_S = 0.3
"""How long a recogniser is taken to need where none was recorded."""

Reads = Callable[[Samples, float], Words]
"""Recognises what is asked for: samples at 16 kHz, seconds of voice."""


@dataclass(frozen=True, slots=True)
class Ask:
    """A stretch of a turn that was given to the recogniser after item `place`; `final`: the voice has paused."""

    place: int
    final: bool
    start: int
    end: int
    voiced_s: float


@dataclass(slots=True)
class _Answer:
    """Recorded words: those for `ask`, which item `place` brought after `delay_s`."""

    words: Words
    ask: Ask | None
    place: int
    delay_s: float
    used: bool = False


@dataclass(slots=True)
class _Due:
    at_s: float
    words: Words


@dataclass(slots=True)
class WordBook:
    """Asked in the replay, it gives what was recorded for the same ask at the same item, or for nearly the same later.

    `unknown` counts the asks about an agent that was turned down for which it had
    nothing; without others a turn ends by the rest of what is known.
    """

    read: Reads | None = None
    unknown: int = 0
    _asks: set[Ask] = field(default_factory=set)
    _answers: list[_Answer] = field(default_factory=list)
    _exact: set[int] = field(default_factory=set)
    _due: list[_Due] = field(default_factory=list)
    _last_end: int = -1
    _turned_down: bool = False

    @classmethod
    def of(cls, entries: Iterable[Entry], read: Reads | None = None) -> "WordBook":
        """From the entries of a take; those of audio only count."""
        book, place, now, last_end = cls(read), -1, 0.0, -1
        open_asks: list[tuple[Ask, float]] = []
        for entry in entries:
            if isinstance(entry, Taken):
                place, now = place + 1, entry.now
                if isinstance(entry.item, Words):
                    book._answers.append(_answer(entry.item, open_asks, place, now))
            elif isinstance(entry, Noted):
                ask = _recorded_ask(parsed(entry.line), place)
                if ask is not None and not (ask.final and ask.end == last_end):
                    book._asks.add(ask)
                    open_asks.append((ask, now))
                    last_end = ask.end if ask.final else last_end
        return book

    def noted(self, note: Note, place: int, now: float) -> None:
        """The replay's hearing said this after item `place`: it may ask."""
        if isinstance(note, Ducked | Resumed):
            self._turned_down = isinstance(note, Ducked)
        if isinstance(note, Turn) and isinstance(note.event, TurnResumed):
            self._due.clear()  # what was being read is thrown away
        asked = _ask(note, place)
        if asked is None or (asked[0].final and asked[0].end == self._last_end):
            return
        ask, samples = asked
        self._last_end = ask.end if ask.final else self._last_end
        if ask in self._asks:
            self._exact.update(answer.place for answer in self._answers if answer.ask == ask)
        elif answer := self._near(ask):
            answer.used = True
            self._due.append(_Due(now + answer.delay_s, replace(answer.words, voiced_s=ask.voiced_s)))
        elif not self._turned_down:
            return
        elif self.read is not None:
            words = replace(self.read(samples, ask.voiced_s), final=ask.final, voiced_s=ask.voiced_s)
            self._due.append(_Due(now + self._usual_s(), words))
        else:
            self.unknown += 1

    def due(self, now: float) -> list[Words]:
        """Words that have come by then, beside those at their recorded item."""
        ready = [due.words for due in self._due if due.at_s <= now]
        self._due = [due for due in self._due if due.at_s > now]
        return ready

    def holds(self, place: int) -> bool:
        """Whether the words that item `place` brought in the recording come there in the replay as well."""
        answer = next((answer for answer in self._answers if answer.place == place), None)
        return answer is not None and not answer.used and (answer.ask is None or place in self._exact)

    def _near(self, ask: Ask) -> _Answer | None:
        for answer in self._answers:
            other = answer.ask
            if other is None or answer.used or answer.place in self._exact or other.final is not ask.final:
                continue
            if abs(other.start - ask.start) <= NEAR and abs(other.end - ask.end) <= NEAR:
                return answer
        return None

    def _usual_s(self) -> float:
        delays = sorted(answer.delay_s for answer in self._answers if answer.ask is not None)
        return delays[len(delays) // 2] if delays else USUAL_S


def _answer(words: Words, asks: list[tuple[Ask, float]], place: int, now: float) -> _Answer:
    for ask, at_s in reversed(asks):
        if ask.final is words.final and ask.voiced_s == words.voiced_s:
            return _Answer(words, ask, place, now - at_s)
    return _Answer(words, None, place, 0.0)


def _recorded_ask(note: dict[str, Any], place: int) -> Ask | None:
    if note["note"] == "WordsWanted":
        return Ask(place, False, note["start"], note["end"], note["voiced_s"])
    event = note.get("event", {})
    if note["note"] != "Turn" or note.get("own") or event.get("event") not in ("TurnPaused", "TurnEnded"):
        return None
    return Ask(place, True, event["start"], event["end"], event["voiced_s"])


def _ask(note: Note, place: int) -> tuple[Ask, Samples] | None:
    match note:
        case WordsWanted(samples, start, end, voiced_s):
            return Ask(place, False, start, end, voiced_s), samples
        case Turn(event=TurnPaused() | TurnEnded() as event, own=False):
            return Ask(place, True, event.start, event.end, event.voiced_s), event.samples
        case _:
            return None
