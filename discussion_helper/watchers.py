"""The watchers of a hub: who is there, and whom a publisher waits for."""

import sys
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

from discussion_helper.subscription import Subscription
from discussion_helper.waiters import Waiters

__all__ = ["Watcher", "Watchers"]

Watcher = weakref.ref[Subscription[Any]]


class Watchers:
    """In the order they came, and held weakly: one who just goes away, without closing, leaves nothing behind."""

    __slots__ = ("_entered", "_known", "present", "smallest", "waited_for")

    def __init__(self) -> None:
        self._known: dict[int, Watcher] = {}
        self._entered = 0
        self.waited_for: dict[int, Watcher] = {}
        """Those whose overflow is Block."""
        self.present: tuple[Watcher, ...] | None = None
        """All of them, to go through at every item; None after one came or left, until they are gathered."""
        self.smallest = sys.maxsize
        """Capacity of the one who holds the fewest, when they were last gathered."""

    def gather(self) -> tuple[Watcher, ...]:
        """Those who are present."""
        self.present = tuple(self._known.values())
        self.smallest = min((subscription.capacity for subscription in _alive(self.present)), default=sys.maxsize)
        return self.present

    def place(self) -> int:
        """The number of a new one, who is not there yet."""
        self._entered += 1
        return self._entered

    def enter(self, number: int, subscription: Subscription[Any]) -> None:
        """It is there from now on, until it leaves."""
        room = subscription.room

        def gone(_: object) -> None:
            self.leave(number)
            if room is not None:
                room.wake()

        self._known[number] = watcher = weakref.ref(subscription, gone)
        self.present = None
        if room is not None:
            self.waited_for[number] = watcher

    def leave(self, number: int) -> None:
        """Idempotent, also for one who was never there."""
        self._known.pop(number, None)
        self.waited_for.pop(number, None)
        self.present = None

    def held_up_by(self, item: Any) -> Waiters | None:
        """Where to wait for the room of one who has none for the item; never the watcher, whom that would keep alive.

        None when all of them have room.
        """
        for subscription in _alive(self.waited_for.values()):
            if subscription.holds_up(item):
                return subscription.room
        return None

    def release(self) -> None:
        """From here on nobody waits for one of them."""
        for subscription in _alive(self.waited_for.values()):
            if subscription.room is not None:
                subscription.room.wake()
        self.waited_for.clear()

    def finish(self) -> None:
        """No more items come; there are no watchers then."""
        for subscription in _alive(self._known.values()):
            subscription.finish()
        self._known.clear()
        self.present = None
        self.release()

    def __len__(self) -> int:
        return len(self._known)


def _alive(watchers: Iterable[Watcher]) -> Iterator[Subscription[Any]]:
    """One after another, so that at most one of them is kept alive meanwhile."""
    for watcher in tuple(watchers):
        subscription = watcher()
        if subscription is not None:
            yield subscription
