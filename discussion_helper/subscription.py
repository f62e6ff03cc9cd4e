"""One watcher's place at a hub."""

import logging
from collections import deque
from collections.abc import Callable
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import anyio

from discussion_helper.overflow import Block, DropOldest, Overflow
from discussion_helper.waiters import Waiters

__all__ = ["Subscription"]

T = TypeVar("T")

_log = logging.getLogger(__name__)


class Subscription(Generic[T]):
    """One watcher's place: an async iterator and an async context manager, for one task at a time."""

    def __init__(
        self, *, select: Callable[[Any], T | None], overflow: Overflow[T], capacity: int, leave: Callable[[], object]
    ) -> None:
        """`select` says what the watcher gets of an item; None = it is not for this one."""
        self._select = select
        self._overflow = overflow
        self._capacity = capacity
        self._leave = leave
        self.room: Waiters | None = Waiters() if isinstance(overflow, Block) else None
        """Those who wait until it may not be full, where somebody may; apart from it, whom they do not keep alive."""
        self._buffer: deque[T] = deque()
        self._awaited: anyio.Event | None = None  # made by who waits: making one takes longer than a delivery
        self._finished = False
        self._missed = 0
        self._misjudged = False
        self.dropped = 0
        """Items this watcher lost, in all."""

    @property
    def capacity(self) -> int:
        """Items that it holds before any is lost."""
        return self._capacity

    def put(self, item: Any) -> None:
        """Take an item if it was asked for; never waits. Called by the hub."""
        if self._finished or (taken := self._select(item)) is None:
            return
        if self._awaited is None and len(self._buffer) < self._capacity:
            self._buffer.append(taken)  # as nearly always: nobody is to be woken, and nothing is lost
        else:
            self.take(taken)

    def take(self, taken: T) -> None:
        """Hold an item in the form that this watcher has it in. Called by the hub."""
        if len(self._buffer) >= self._capacity:
            lost = self._overflow.hold(taken, self._buffer, self._capacity)
            self.dropped += lost
            self._missed += lost
        else:
            self._buffer.append(taken)
        self._wake()

    def skip(self, item: Any) -> None:
        """`put` raised on this item, in code that judges it for this watcher, who goes without it. Told once."""
        if not self._misjudged:
            self._misjudged = True
            _log.exception("a watcher cannot be given an event (%s), nor others like it", type(item).__name__)

    def holds_up(self, item: Any) -> bool:
        """Whether the item is for this watcher, who is full and must not miss it. Asked by the hub."""
        if self.room is None or self._finished or len(self._buffer) < self._capacity:
            return False
        try:
            return self._select(item) is not None
        except Exception:  # it will be skipped
            return False

    def finish(self) -> None:
        """No more items come; those held can still be read. Called by the hub."""
        self._finished = True
        self._wake()

    def _wake(self) -> None:
        awaited, self._awaited = self._awaited, None
        if awaited is not None:
            awaited.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        while not self._buffer:
            if self._finished:
                raise StopAsyncIteration
            if self._awaited is None:  # several tasks may wait for it
                self._awaited = anyio.Event()
            await self._awaited.wait()
        if self._missed and (gap := self._take_gap()) is not None:
            return gap
        item = self._buffer.popleft()
        if self.room is not None:
            self.room.wake()
        return item

    def _take_gap(self) -> T | None:
        missed, self._missed = self._missed, 0
        return self._overflow.gap(missed, self._buffer[0]) if isinstance(self._overflow, DropOldest) else None

    async def aclose(self) -> None:
        """Leave; idempotent. A pending iteration ends."""
        self._buffer.clear()
        self._missed = 0
        self.finish()
        self._leave()
        if self.room is not None:
            self.room.wake()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __len__(self) -> int:
        """Items held."""
        return len(self._buffer)
