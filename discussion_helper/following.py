"""A watcher who may fall behind, and comes back then."""

from collections.abc import Callable
from typing import Any, TypeVar

import anyio

from discussion_helper.backlog import Backlog
from discussion_helper.overflow import DropOldest
from discussion_helper.subscription import Subscription
from discussion_helper.weight import weight_of

__all__ = ["Following"]

T = TypeVar("T")


class Following(Subscription[T]):
    """Its items wait in a `Backlog`. Where there is no room, all of them go, and a gap is the last that it gets.

    The gap counts those that went and those that came from then on. Whoever follows anew after the last item that was
    taken has all of them as long as they are kept, so that there is never a hole that nobody was told of.
    """

    def __init__(
        self,
        *,
        select: Callable[[Any], T | None],
        weigh: Callable[[Any], int],
        backlog: Backlog[T],
        gap: Callable[[int], T],
        leave: Callable[[], object],
    ) -> None:
        """`weigh` tells the bytes of an item, before `select` has made of it what is held."""
        overflow: DropOldest[T] = DropOldest(lambda missed, _: gap(missed))
        super().__init__(select=select, overflow=overflow, capacity=backlog.items, leave=leave)
        self._weigh = weigh
        self._backlog = backlog
        self._gap = gap

    def put(self, item: Any) -> None:
        """See `Subscription`."""
        if self._finished or (taken := self._select(item)) is None:
            return
        if self._missed:
            self._miss(1)
        else:
            self._hold(taken, self._weigh(item))

    def take(self, taken: T) -> None:
        """See `Subscription`."""
        if self._missed:
            self._miss(1)
        else:
            self._hold(taken, weight_of(taken))

    def _hold(self, taken: T, weight: int) -> None:
        if not self._backlog.add(taken, weight):
            self._miss(self._backlog.clear() + 1)
        if self._awaited is not None:
            self._wake()

    def _miss(self, count: int) -> None:
        self.dropped += count
        self._missed += count

    async def __anext__(self) -> T:
        while not self._backlog:
            if self._missed:
                return self._last_word()
            if self._finished:
                raise StopAsyncIteration
            if self._awaited is None:
                self._awaited = anyio.Event()
            await self._awaited.wait()
        return self._backlog.take()

    def _last_word(self) -> T:
        missed, self._missed = self._missed, 0
        self.finish()
        self._leave()
        return self._gap(missed)

    async def aclose(self) -> None:
        """See `Subscription`."""
        self._backlog.clear()
        await super().aclose()

    def __len__(self) -> int:
        """Items held."""
        return len(self._backlog)
