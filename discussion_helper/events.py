"""The event hub: one total order, one bounded buffer for each watcher, and nobody ever waits for a watcher.

A deque and an Event per subscription, because that delivers about ten times as many events a second as
memory object streams do, and because `publish` then needs neither a task nor an await.
"""

import logging
import secrets
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import anyio.lowlevel

from discussion_helper.backlog import Backlog, Standing
from discussion_helper.event import COARSE_KINDS, FINE_KINDS, Event
from discussion_helper.following import Following
from discussion_helper.overflow import Block, DropNewest, DropOldest, Overflow
from discussion_helper.subscription import Subscription
from discussion_helper.watchers import Watchers
from discussion_helper.weight import weight_of

__all__ = [
    "COARSE_KINDS",
    "FINE_KINDS",
    "PACE",
    "Backlog",
    "Block",
    "DropNewest",
    "DropOldest",
    "Event",
    "EventHub",
    "Following",
    "Numbered",
    "Overflow",
    "Standing",
    "Subscription",
]

T = TypeVar("T")
U = TypeVar("U")
S = TypeVar("S", bound=Subscription[Any])

_log = logging.getLogger(__name__)

PACE = 50
"""Items after which a publisher in a loop lets the watchers' tasks run: half of a text stream's usual buffer.

Half of the smallest buffer, where that is less: a task that the first of so many items woke has read them before its
buffer is full, on trio too, whose random order may let the publisher run once more before it. An emit and
its delivery take 1.8 µs with it, 12.3 with a pause for each (asyncio; trio 3.5 and 14.6; one watcher who reads).
"""


@dataclass(frozen=True, slots=True)
class Numbered(Generic[U]):
    """An item with its number at the hub, for who may want to resume after it; 0 = it has none, as a gap."""

    number: int
    item: U


class EventHub(Generic[T]):
    """Publishes to every watcher in one order. Use it from the event loop's thread alone."""

    def __init__(self, *, overflow: Overflow[T], capacity: int = 1024, history: int = 256) -> None:
        """`capacity`: items held for each watcher. `history`: newest items kept for resuming."""
        self._overflow = overflow
        self._capacity = capacity
        self._history: deque[T] = deque(maxlen=history)
        self._watchers = Watchers()
        self.waited_for = self._watchers.waited_for
        """Those whose overflow is Block; while there are none, `room_for` need not be awaited."""
        self._last_words: tuple[T, ...] | None = None
        self._weighed = self._weight = 0
        self._at_close: list[Callable[[], object]] = []
        self.epoch = secrets.token_hex(4)
        """Whose numbers these are: another hub, as of a stream attached again, counts anew."""
        self.sequence = 0
        """Number of the newest item; 0 = nothing published yet."""
        self.pause_at = PACE
        """From this number on, who publishes in a loop owes the others a `pause`."""

    def publish(self, item: T) -> None:
        """Give the item to every watcher who asked for it. Never waits, never raises; nothing after `close`."""
        if self._last_words is not None:
            return
        self.sequence += 1
        self._history.append(item)
        watchers = self._watchers.present
        if watchers is None:
            watchers = self._watchers.gather()
        for watcher in watchers:
            subscription = watcher()
            if subscription is not None:
                try:
                    subscription.put(item)
                except Exception:
                    subscription.skip(item)

    async def pause(self) -> None:
        """Let the watchers' tasks run, so that those who read keep up with a loop that never waits; a checkpoint."""
        await anyio.lowlevel.checkpoint()
        smallest = self._watchers.smallest
        if smallest == 1:  # the task that was woken may be the next one to run, or the one after
            await anyio.lowlevel.checkpoint()
        self.pause_at = self.sequence + min(PACE, max(1, smallest // 2))

    async def room_for(self, item: T) -> bool:
        """Wait until no watcher whose overflow is Block is too full for the item; whether that took a wait.

        What is published at once then, without another await, is lost by none of them.
        """
        waited = False
        while (room := self._watchers.held_up_by(item)) is not None:
            waited = True
            await room.wait()
        return waited

    def release(self) -> None:
        """From here on nobody waits for a watcher: the end is near."""
        self._watchers.release()

    def subscribe(
        self,
        accepts: Callable[[T], bool] | None = None,
        *,
        capacity: int | None = None,
        overflow: Overflow[T] | None = None,
    ) -> Subscription[T]:
        """A new watcher from this moment on; after `close` it gets the last words alone."""

        def select(item: T) -> T | None:
            return item if accepts is None or accepts(item) else None

        return self.subscribe_as(select, capacity=capacity, overflow=overflow or self._overflow)

    def subscribe_as(
        self, select: Callable[[T], U | None], *, overflow: Overflow[U], capacity: int | None = None
    ) -> Subscription[U]:
        """The same for who wants the items in another form: what `select` makes of them, where it is not None."""
        place = self._watchers.place()
        leave = partial(self._watchers.leave, place)
        held = capacity or self._capacity
        subscription = Subscription(select=select, overflow=overflow, capacity=held, leave=leave)
        for _, taken in _taken(select, enumerate(self._last_words or ())):
            subscription.take(taken)
        return self._enter(place, subscription)

    def follow(
        self,
        select: Callable[[T], U | None],
        *,
        backlog: Backlog[Numbered[U]],
        gap: Callable[[int], U],
        after: int | None = None,
    ) -> Following[Numbered[U]] | None:
        """What `select` makes of the items, with their numbers, for who may come back; from now on, or after a number.

        It begins with what came after item number `after`, in one step: nothing is missed then, and nothing comes
        twice. None when some of that is no longer kept, or when it is more than the `backlog`, an empty one, may hold.
        `gap` makes what stands for so many items that were lost, whose number is 0; it is the last one.
        """
        missed = list(enumerate(self._last_words or (), self.behind + 1)) if after is None else self.since(after)
        if missed is None:
            return None
        for number, taken in _taken(select, missed):
            if not backlog.add(Numbered(number, taken), weight_of(taken)):
                return None

        def numbered(item: T) -> Numbered[U] | None:
            taken = select(item)
            return None if taken is None else Numbered(self.sequence, taken)

        place = self._watchers.place()
        return self._enter(
            place,
            Following(
                select=numbered,
                weigh=self._weigh,
                backlog=backlog,
                gap=lambda missed: Numbered(0, gap(missed)),
                leave=partial(self._watchers.leave, place),
            ),
        )

    def _weigh(self, item: T) -> int:
        """Of the newest item; once for all who ask."""
        if self._weighed != self.sequence:
            self._weighed, self._weight = self.sequence, weight_of(item)
        return self._weight

    @property
    def behind(self) -> int:
        """Number of the newest item that a watcher who comes now does not get."""
        return self.sequence - len(self._last_words or ())

    def _enter(self, place: int, watcher: S) -> S:
        """It gets what is published from now on."""
        if self._last_words is None:
            self._watchers.enter(place, watcher)
            self.pause_at = min(self.pause_at, self.sequence + max(1, watcher.capacity // 2))
        else:
            watcher.finish()
        return watcher

    def since(self, sequence: int) -> list[tuple[int, T]] | None:
        """What came after item number `sequence`, with numbers; None when some of it is no longer kept."""
        gone = self.sequence - len(self._history)
        if not gone <= sequence <= self.sequence:
            return None
        kept = enumerate(self._history, gone + 1)
        return [(number, item) for number, item in kept if number > sequence]

    def close(self, *last_words: T) -> None:
        """Publish the last words and release everybody; whoever comes later gets the last words alone. Idempotent."""
        if self._last_words is not None:
            return
        for item in last_words:
            self.publish(item)
        self._last_words = last_words
        self._watchers.finish()
        for tell in self._at_close:
            tell()
        self._at_close.clear()

    def at_close(self, tell: Callable[[], object]) -> None:
        """Have `tell` called when the last words were published; never when they were before this."""
        if self._last_words is None:
            self._at_close.append(tell)

    def __len__(self) -> int:
        """Watchers now."""
        return len(self._watchers)


def _taken(select: Callable[[T], U | None], items: Iterable[tuple[int, T]]) -> Iterator[tuple[int, U]]:
    """What a watcher gets of these; those that `select` raises on are left out, and told once, as in `publish`."""
    misjudged = False
    for number, item in items:
        try:
            taken = select(item)
        except Exception:
            if not misjudged:
                _log.exception("a watcher cannot be given an event (%s), nor others like it", type(item).__name__)
            misjudged = True
            continue
        if taken is not None:
            yield number, taken
