"""The discussion's inbox: heard turns, typed turns and announcements in one order."""

from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass

import anyio

from discussion_helper.iteration import closing
from discussion_helper.types import Utterance

__all__ = ["CLOSE_HEARD_S", "TURNS_HELD", "Announcement", "End", "Turn", "Turns"]

TURNS_HELD = 64
"""Bound of the inbox; whoever adds one more waits."""
CLOSE_HEARD_S = 0.2
"""How long a listener's iterator may take to close."""


@dataclass(frozen=True, slots=True)
class Announcement:
    """Something the agent is to say without a user turn."""

    text: str


@dataclass(frozen=True, slots=True)
class End:
    """The listener has nothing more."""


Turn = Utterance | Announcement | End


class Turns:
    """Bounded; the listener is asked for its next turn only while the loop waits for one.

    A deque and an Event, not a memory object stream: a session that never runs has nothing to close.
    """

    def __init__(self) -> None:
        self._held: deque[Turn] = deque()
        self._changed = anyio.Event()
        self._wanted = anyio.Event()

    async def add(self, turn: Turn) -> None:
        """Add a turn behind the others; waits while the inbox is full."""
        while len(self._held) >= TURNS_HELD:
            await self._changed.wait()
        self._held.append(turn)
        self._notify()

    async def next(self) -> Turn:
        """The next turn."""
        self._wanted.set()
        while not self._held:
            await self._changed.wait()
        turn = self._held.popleft()
        self._notify()
        return turn

    async def pump(self, heard: AsyncIterator[Utterance]) -> None:
        """Take turns from a listener, one whenever one is wanted, then put an End."""
        async with closing(heard, within_s=CLOSE_HEARD_S) as utterances:
            async for utterance in utterances:
                self._wanted = anyio.Event()
                await self.add(utterance)
                await self._wanted.wait()
        await self.add(End())

    def _notify(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()
