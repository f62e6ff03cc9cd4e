"""What the person at the keyboard wants of a talk."""

from collections import deque
from dataclasses import dataclass

import anyio

__all__ = ["WISHES_HELD", "Interrupt", "Mute", "Press", "Say", "Suspend", "Wish", "Wishes"]

WISHES_HELD = 16
"""More than a person can type ahead; what comes on top is refused."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Cut the reply."""


@dataclass(frozen=True, slots=True)
class Mute:
    """Close the microphone, or open it again."""

    on: bool


@dataclass(frozen=True, slots=True)
class Press:
    """The key of push to talk goes down, or comes up."""

    down: bool


@dataclass(frozen=True, slots=True)
class Say:
    """A typed turn."""

    text: str
    waits: bool = False
    """For room, as long as it takes: whoever typed it is a program, and is held back."""


@dataclass(frozen=True, slots=True)
class Suspend:
    """Stop the program, as a shell's job, until the shell lets it go on."""

    muted: bool
    """Whether the microphone is closed already, and stays so."""


Wish = Interrupt | Mute | Press | Say | Suspend


class Wishes:
    """In order, and bounded; from callbacks of the event loop to one task."""

    def __init__(self) -> None:
        self._held: deque[Wish] = deque()
        self._changed = anyio.Event()

    def put(self, wish: Wish) -> bool:
        """Ask for something; False when too much was asked for already."""
        if len(self._held) >= WISHES_HELD:
            return False
        self._held.append(wish)
        self._notify()
        return True

    async def room(self) -> None:
        """Wait until something can be asked for."""
        while len(self._held) >= WISHES_HELD:
            await self._changed.wait()

    async def next(self) -> Wish:
        """The next wish."""
        while not self._held:
            await self._changed.wait()
        wish = self._held.popleft()
        self._notify()
        return wish

    def rest(self) -> list[Wish]:
        """Those that nobody has taken; there are none then."""
        rest = list(self._held)
        self._held.clear()
        self._notify()
        return rest

    def _notify(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()
