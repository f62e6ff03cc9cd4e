"""The event hub: one total order, one bounded buffer for each watcher, and nobody ever waits for a watcher.

A deque and an Event per subscription, because that delivers about ten times as many events a second as
memory object streams do, and because `publish` then needs neither a task nor an await.
"""

import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import anyio

__all__ = ["COARSE_KINDS", "FINE_KINDS", "DropNewest", "DropOldest", "Event", "EventHub", "Overflow", "Subscription"]

T = TypeVar("T")

COARSE_KINDS = ("floor", "utterance", "timing", "ended")
"""What a transcript would show; what a watcher gets who names no kinds."""
FINE_KINDS = ("partial", "decision", "interruption", "device", "level", "shed")
"""Only for those who ask."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something worth telling a watcher, as it happens. `data` is JSON-shaped."""

    kind: str
    at_s: float
    data: dict[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The event as it goes on the wire; a payload key never overwrites `kind` or `at_s`."""
        payload = {key: value for key, value in self.data.items() if key not in ("kind", "at_s")}
        return {"kind": self.kind, "at_s": round(self.at_s, 3), **payload}


class DropOldest(Generic[T]):
    """Overflow: the oldest item goes, and one gap item comes before the next: `gap(missed, next)`."""

    def __init__(self, gap: Callable[[int, T], T]) -> None:
        self.gap = gap

    def room_for(self, item: T, buffer: deque[T], capacity: int) -> int:  # noqa: ARG002 - any item may push
        """Make room; returns how many items were lost (here: from the front)."""
        lost = 0
        while len(buffer) >= capacity:
            buffer.popleft()
            lost += 1
        return lost


class DropNewest(Generic[T]):
    """Overflow: a newest item that may be lost is lost and counted; the others push out one that may.

    When nothing in the buffer may be lost, the oldest goes: the bound holds whatever is published.
    """

    def __init__(self, droppable: Callable[[T], bool]) -> None:
        self._droppable = droppable

    def room_for(self, item: T, buffer: deque[T], capacity: int) -> int:
        """Make room if the item may come in; returns how many items were lost (maybe the item itself)."""
        if len(buffer) < capacity or self._droppable(item):
            return int(len(buffer) >= capacity)
        victim = next((i for i, held in enumerate(buffer) if self._droppable(held)), 0)
        del buffer[victim]
        return 1


Overflow = DropOldest[T] | DropNewest[T]


class Subscription(Generic[T]):
    """One watcher's place: an async iterator and an async context manager, for one task at a time."""

    def __init__(
        self,
        *,
        accepts: Callable[[T], bool],
        overflow: Overflow[T],
        capacity: int,
        leave: Callable[[], object],
    ) -> None:
        self._accepts = accepts
        self._overflow = overflow
        self._capacity = capacity
        self._leave = leave
        self._buffer: deque[T] = deque()
        self._changed = anyio.Event()
        self._finished = False
        self._missed = 0
        self.dropped = 0
        """Items this watcher lost, in all."""

    def put(self, item: T) -> None:
        """Take an item if it was asked for; never waits. Called by the hub."""
        if self._finished or not self._accepts(item):
            return
        lost = self._overflow.room_for(item, self._buffer, self._capacity)
        self.dropped += lost
        self._missed += lost
        if len(self._buffer) < self._capacity:
            self._buffer.append(item)
        self._changed.set()

    def finish(self) -> None:
        """No more items come; those held can still be read. Called by the hub."""
        self._finished = True
        self._changed.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        while True:
            gap = self._take_gap()
            if gap is not None:
                return gap
            if self._buffer:
                return self._buffer.popleft()
            if self._finished:
                raise StopAsyncIteration
            if self._changed.is_set():  # several tasks may wait for it
                self._changed = anyio.Event()
            await self._changed.wait()

    def _take_gap(self) -> T | None:
        missed, self._missed = self._missed, 0
        if missed and isinstance(self._overflow, DropOldest):
            return self._overflow.gap(missed, self._buffer[0])
        return None

    async def aclose(self) -> None:
        """Leave; idempotent. A pending iteration ends."""
        self._buffer.clear()
        self._missed = 0
        self.finish()
        self._leave()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __len__(self) -> int:
        """Items held."""
        return len(self._buffer)


def _anything(item: object) -> bool:  # noqa: ARG001 - the shape of a filter
    return True


class EventHub(Generic[T]):
    """Publishes to every watcher in one order. Use it from the event loop's thread alone."""

    def __init__(self, *, overflow: Overflow[T], capacity: int = 1024, history: int = 256) -> None:
        """`capacity`: items held for each watcher. `history`: newest items kept for resuming."""
        self._overflow = overflow
        self._capacity = capacity
        self._history: deque[tuple[int, T]] = deque(maxlen=history)
        # Weak, in order: a watcher who just goes away, without closing, leaves nothing behind.
        self._watchers: dict[int, weakref.ref[Subscription[T]]] = {}
        self._admitted = 0
        self._last_words: tuple[T, ...] | None = None
        self.sequence = 0
        """Number of the newest item; 0 = nothing published yet."""

    def publish(self, item: T) -> None:
        """Give the item to every watcher who asked for it. Never waits, never raises; nothing after `close`."""
        if self._last_words is not None:
            return
        self.sequence += 1
        self._history.append((self.sequence, item))
        for watcher in tuple(self._watchers.values()):
            subscription = watcher()
            if subscription is not None:
                subscription.put(item)

    def subscribe(self, accepts: Callable[[T], bool] | None = None, *, capacity: int | None = None) -> Subscription[T]:
        """A new watcher from this moment on; after `close` it gets the last words alone."""
        self._admitted += 1
        leave = partial(self._watchers.pop, self._admitted, None)
        subscription: Subscription[T] = Subscription(
            accepts=accepts or _anything, overflow=self._overflow, capacity=capacity or self._capacity, leave=leave
        )
        if self._last_words is None:
            self._watchers[self._admitted] = weakref.ref(subscription, lambda _: leave())
        else:
            for item in self._last_words:
                subscription.put(item)
            subscription.finish()
        return subscription

    def since(self, sequence: int) -> list[tuple[int, T]] | None:
        """What came after item number `sequence`, with numbers; None when some of it is no longer kept."""
        oldest = self._history[0][0] if self._history else self.sequence + 1
        if not oldest - 1 <= sequence <= self.sequence:
            return None
        return [(number, item) for number, item in self._history if number > sequence]

    def close(self, *last_words: T) -> None:
        """Publish the last words and release everybody; whoever comes later gets the last words alone. Idempotent."""
        if self._last_words is not None:
            return
        for item in last_words:
            self.publish(item)
        self._last_words = last_words
        for watcher in tuple(self._watchers.values()):
            subscription = watcher()
            if subscription is not None:
                subscription.finish()
        self._watchers.clear()

    def __len__(self) -> int:
        """Watchers now."""
        return len(self._watchers)
