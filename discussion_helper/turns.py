"""The discussion's inbox: heard turns, typed turns and announcements in one order."""

from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass

import anyio

from discussion_helper.iteration import closing
from discussion_helper.types import Utterance
from discussion_helper.waiters import Waiters

__all__ = ["CLOSE_HEARD_S", "TURNS_HELD", "Announcement", "End", "Turn", "Turns", "Typed"]

TURNS_HELD = 64
"""Bound of the inbox; whoever adds one more waits."""
CLOSE_HEARD_S = 0.2
"""How long a listener's iterator may take to close."""


@dataclass(frozen=True, slots=True)
class Typed:
    """A user turn that did not come through a microphone: no noise, and no echo, whenever it came."""

    utterance: Utterance


@dataclass(frozen=True, slots=True)
class Announcement:
    """Something the agent is to say without a user turn."""

    text: str


@dataclass(frozen=True, slots=True)
class End:
    """The listener has nothing more, and nothing else is waiting."""


Turn = Utterance | Typed | Announcement | End


class Turns:
    """Bounded; the listener is asked for its next turn only while the loop waits for one.

    A deque and an Event, not a memory object stream: a session that never runs has nothing to close.
    """

    def __init__(self) -> None:
        self._held: deque[Utterance | Typed | Announcement] = deque()
        self._changed = Waiters()
        self._wanted = anyio.Event()
        self._heard_all = False
        self._closed = False

    async def add(self, turn: Typed | Announcement) -> None:
        """Add a turn behind the others; waits while the inbox is full. Raises RuntimeError once nobody takes turns."""
        if not await self._put(turn):
            raise RuntimeError("the session is not running")

    async def _put(self, turn: Utterance | Typed | Announcement) -> bool:
        while len(self._held) >= TURNS_HELD and not self._closed:
            await self._changed.wait()
        if self._closed:
            return False
        self._held.append(turn)
        self._changed.wake()
        return True

    async def next(self) -> Turn:
        """The next turn; an End when the listener has ended and everything was taken."""
        self._wanted.set()
        while not self._held and not self._heard_all:
            await self._changed.wait()
        if not self._held:
            return End()
        turn = self._held.popleft()
        self._changed.wake()
        return turn

    async def pump(self, heard: AsyncIterator[Utterance]) -> None:
        """Take turns from a listener, one whenever one is wanted, until it ends."""
        async with closing(heard, within_s=CLOSE_HEARD_S) as utterances:
            async for utterance in utterances:
                if not isinstance(utterance, Utterance) or utterance.speaker != "user":
                    raise TypeError(f"the listener gave {utterance!r} where a user's Utterance was due")
                self._wanted = anyio.Event()
                if not await self._put(utterance):
                    return
                await self._wanted.wait()
        self._heard_all = True
        self._changed.wake()

    def close(self) -> None:
        """Nobody takes turns any more."""
        self._closed = True
        self._changed.wake()

    def take_typed(self) -> list[Utterance]:
        """What was typed and will not be answered, in order."""
        typed = [turn.utterance for turn in self._held if isinstance(turn, Typed)]
        self._held.clear()
        return typed

    def __len__(self) -> int:
        """Turns held."""
        return len(self._held)
