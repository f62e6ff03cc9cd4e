"""The bench that a part stands on while it is checked: makes it, and closes it again."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Generic, TypeVar

from discussion_helper.background import Background
from discussion_helper.testing.conformance.limits import Limits
from discussion_helper.testing.conformance.rule import Unchecked

__all__ = ["Bench", "Make"]

P = TypeVar("P")
Make = Callable[[], P]


class Bench(Generic[P]):
    """Most rules share one part, for loading a model takes long; those that harm it have one of their own."""

    def __init__(
        self, make: Make[P], *, limits: Limits, make_dead: Make[P] | None = None, make_slow: Make[P] | None = None
    ) -> None:
        self.make = make
        self.limits = limits
        self._dead = make_dead
        self._slow = make_slow
        self._shared: list[P] = []

    @property
    def part(self) -> P:
        """The shared one."""
        if not self._shared:
            self._shared.append(self.make())
        return self._shared[0]

    @asynccontextmanager
    async def own(self, make: Make[P] | None = None) -> AsyncIterator[P]:
        """Another one, closed on leaving."""
        part = (make or self.make)()
        try:
            yield part
        finally:
            await self._close(part)

    def dead(self) -> Make[P]:
        """Makes one that cannot work. Raises Unchecked."""
        if self._dead is None:
            raise Unchecked("give make_dead, which makes one whose model, server or device is gone")
        return self._dead

    def slow(self) -> Make[P]:
        """Makes one that takes very long. Raises Unchecked."""
        if self._slow is None:
            raise Unchecked("give make_slow, which makes one that takes a minute for a call")
        return self._slow

    async def renew(self) -> None:
        """Close the shared one; the next rule has a new one."""
        while self._shared:
            await self._close(self._shared.pop())

    async def _close(self, part: P) -> None:
        """As far as it can be: that it can is a rule of its own."""
        close = getattr(part, "aclose", None)
        if close is not None:
            await Background(close, name="closing").start().ends(within_s=self.limits.close_s)
