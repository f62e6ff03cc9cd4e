"""Rejoining: a turn that was taken to be over, and what its speaker says next, are one."""

from dataclasses import dataclass

import anyio
import numpy as np

from discussion_helper.audio.frames import Samples
from discussion_helper.turn.turns import TurnEnded, TurnPaused
from discussion_helper.types import SpokenUtterance
from discussion_helper.voice.lexicon import words_of
from discussion_helper.voice.notes import Turn

__all__ = ["LONGEST_S", "RATE", "SAME_S", "Piece", "Rejoining"]

RATE = 16_000
LONGEST_S = 25.0
"""Of both with the pause between them, to be recognised as one; what is longer hardly fits into the recogniser's window
of 30 s, and its texts are joined."""

SAME_S = 0.1
"""Notes of one turn put its beginning up to so far apart, for each goes by the newest time stamp of the microphone.
Between two turns there is more silence than that."""


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """What was heard up to the end of a turn; `samples` None: too much to be recognised again."""

    note: Turn
    text: str
    samples: Samples | None
    start: int
    end: int
    voiced_s: float
    started_at_s: float


class Rejoining:
    """Knows the turn that was given last, and whether somebody goes on with it. For the event loop's thread."""

    def __init__(self) -> None:
        self._last: Piece | None = None
        self._open: Piece | None = None
        self._open_from_s = 0.0
        self._read: set[int] = set()
        """Ends of what was recognised with the piece before it."""
        self.began_at_s = 0.0
        """When somebody who is not the agent began to speak last, on `time.monotonic`'s clock."""
        self._nothing_at_s = float("-inf")
        """The same of what came to nothing."""
        self._began = anyio.Event()

    def reset(self) -> None:
        """Another microphone, or none: nothing goes on."""
        self._last = self._open = None
        self._read.clear()

    # -- the turn that was given

    def given(self, note: Turn, utterance: SpokenUtterance) -> None:
        """This came of a turn, and of what that was joined to. Where it wants no answer nothing goes on with it."""
        event = note.event
        if not isinstance(event, TurnEnded) or not utterance.text:
            self.nothing(note)
            return
        before = self._last if utterance.revises else None
        whole = (event.samples, event.start) if before is None else self._joined(before, event)
        samples, start = whole if whole is not None else (None, event.start)
        voiced_s = event.voiced_s + (before.voiced_s if before is not None else 0.0)
        started_at_s = note.started_at_s if before is None else before.started_at_s
        piece = Piece(note, utterance.text, samples, start, event.end, voiced_s, started_at_s)
        self._last = piece if utterance.wants_answer else None

    # -- going on with it

    def is_newest(self, started_at_s: float) -> bool:
        """Whether what began then is the newest that did."""
        return started_at_s >= self.began_at_s - SAME_S

    def begins(self, note: Turn) -> None:
        """Somebody has begun to speak; the agent's own voice goes on with nothing."""
        if note.own:
            return
        self.began_at_s = note.started_at_s
        if self._goes_on:
            began, self._began = self._began, anyio.Event()
            began.set()

    def nothing(self, note: Turn) -> None:
        """What was said in this turn, which is over, is nothing to go on with: a noise, or a listener's response."""
        if self.is_newest(note.started_at_s):
            self._nothing_at_s = self.began_at_s

    @property
    def _goes_on(self) -> bool:
        is_over = self.began_at_s <= self._nothing_at_s
        return self._last is not None and not is_over and self.began_at_s > self._last.note.voiced_until_s

    async def resumed(self) -> None:
        """Return when somebody speaks after that turn, or does."""
        while not self._goes_on:
            await self._began.wait()

    def reopen(self, *, within_s: float, at_s: float | None = None) -> bool:
        """It goes on with what began at `at_s`, None = last, if that was so soon after its end."""
        if at_s is None and not self._goes_on:
            return False
        began_at_s = self.began_at_s if at_s is None else at_s
        last = self._last
        if last is None or not last.note.voiced_until_s < began_at_s <= last.note.decided_at_s + within_s:
            return False
        self._open, self._open_from_s = last, began_at_s
        return True

    def close(self, note: Turn) -> None:
        """This turn is over; if it was what went on, nothing goes on any more."""
        if self.before(note) is not None:
            self._open = None
            self._read.clear()

    def before(self, note: Turn) -> Piece | None:
        """What this turn goes on with."""
        return self._open if note.started_at_s >= self._open_from_s - SAME_S else None

    # -- what is said next

    def whole(self, turn: TurnPaused | TurnEnded) -> tuple[Samples, int, float]:
        """What is to be recognised of a turn: samples, the first one's place, seconds of voice."""
        before = self._open
        joined = None if before is None else self._joined(before, turn)
        if before is None or joined is None:
            return turn.samples, turn.start, turn.voiced_s
        self._read.add(turn.end)
        return joined[0], joined[1], turn.voiced_s + before.voiced_s

    def text(self, note: Turn, text: str) -> str:
        """The whole text, of what was recognised of a turn; "" when nothing was added to what was before."""
        before = self.before(note)
        if before is None or not text.strip():
            return text
        whole = text if getattr(note.event, "end", 0) in self._read else f"{before.text} {text}"
        return "" if words_of(whole) == words_of(before.text) else whole

    def _joined(self, before: Piece, turn: TurnPaused | TurnEnded) -> tuple[Samples, int] | None:
        """Both with silence between them, for the agent may have spoken there; None if that is too long."""
        gap = turn.start - before.end
        if before.samples is None or turn.start < before.start:
            return None
        first = before.samples[: len(before.samples) + min(gap, 0)]
        if len(first) + max(gap, 0) + len(turn.samples) > LONGEST_S * RATE:
            return None
        return np.concatenate((first, np.zeros(max(gap, 0), np.float32), turn.samples)), before.start
