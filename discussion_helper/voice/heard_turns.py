"""The turns that were heard, on their way to the loop, and which of them goes on with the one before."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace

from discussion_helper.types import SpokenUtterance
from discussion_helper.voice.notes import Turn
from discussion_helper.voice.rejoining import Rejoining

__all__ = ["HeardTurns"]


class HeardTurns:
    """In order, at most `most`; the oldest go, which only a loop that asks for none can bring about."""

    def __init__(self, most: int) -> None:
        self._waiting: deque[tuple[SpokenUtterance, Turn]] = deque(maxlen=most)
        self.rejoining = Rejoining()

    def put(self, note: Turn, utterance: SpokenUtterance, of: Callable[[float], float]) -> None:
        """One more. `of` gives a note's time on the session's clock."""
        before = self.rejoining.before(note)
        if before is not None and utterance.text:
            started_s = of(before.started_at_s)
            utterance = replace(utterance, started_s=started_s, revises=before.text)
        self._waiting.append((utterance, note))

    def over(self, note: Turn) -> bool:
        """This turn was read; whether it is here, to be told of."""
        self.rejoining.close(note)
        is_here = any(note is waiting for _, waiting in self._waiting)
        if not is_here:
            self.rejoining.nothing(note)
        return is_here

    def take(self) -> SpokenUtterance:
        """The oldest; from now on it is the one that may be gone on with."""
        utterance, note = self._waiting.popleft()
        self.rejoining.given(note, utterance)
        return utterance

    def reopen(self, within_s: float) -> tuple[bool, Turn | None]:
        """Whether what is being said goes on with the turn taken last; and the note of it if it is over already.

        That one does not wait here any more: it is to be read again.
        """
        note = self._waiting[0][1] if self._waiting else None
        if not self.rejoining.reopen(within_s=within_s, at_s=None if note is None else note.started_at_s):
            return False, None
        if note is not None:
            self._waiting.popleft()
        return True, note

    def __bool__(self) -> bool:
        return bool(self._waiting)
