"""What is decided about a voice over the agent, for those who wait for it on the event loop."""

from dataclasses import dataclass, field, replace

import anyio

from discussion_helper.voice.notes import Decided, Turn
from discussion_helper.voice.verdict import WITHOUT_WORDS, Act

__all__ = ["DECIDED_S", "AwaitedVerdict"]

DECIDED_S = 0.5
"""So long a turn over the agent waits for what it is to be taken for, once its words are known: the audio thread needs
a block or two."""


@dataclass(slots=True, eq=False)
class AwaitedVerdict:
    """About what the agent was last turned down for."""

    there: anyio.Event = field(default_factory=anyio.Event)
    note: Decided | None = None
    before: "AwaitedVerdict | None" = None
    """About what it was turned down for before that, which may have been the same voice."""
    overruled: anyio.Event = field(default_factory=anyio.Event)
    """The next one was an interruption."""
    was_read: bool = False
    """The audio thread was given the words of a voice that had paused."""

    def next(self) -> "AwaitedVerdict":
        """It is turned down again."""
        self.before = None
        return AwaitedVerdict(before=self)

    def told(self, note: Decided) -> None:
        """It is this."""
        if self.before is not None and note.what == Act.INTERRUPT.value:
            self.before.overruled.set()
        self.note = note
        self.there.set()

    async def about(self, turn: Turn) -> Turn:
        """The turn with it; where nothing is decided, for the reply is over, it is a turn like others.

        One that was found to hold no words, or none in time, may hold some in the end: its last were just read.
        """
        if turn.undecided:
            with anyio.move_on_after(DECIDED_S):
                await self.there.wait()
            ignored = self.note.why if self.note is not None and self.note.what == "ignored" else ""
            turn = replace(turn, undecided=False, decided=self.note is not None, ignored=ignored)
        if turn.ignored in WITHOUT_WORDS and not self._is_overruled:
            with anyio.move_on_after(DECIDED_S):
                await self.overruled.wait()
        return replace(turn, ignored="") if turn.ignored in WITHOUT_WORDS and self._is_overruled else turn

    @property
    def _is_overruled(self) -> bool:
        """Also where this one is what overruled the one before."""
        return self.overruled.is_set() or (self.before is not None and self.before.overruled.is_set())
