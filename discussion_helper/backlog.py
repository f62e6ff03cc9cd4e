"""What waits for one watcher: within a number and a weight, and without what a newer item has made void."""

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Backlog", "Standing"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Standing:
    """How an item stands to those that wait before it."""

    key: str = ""
    """What it is void by, together with others of that key; "" = nothing makes it void."""
    voids: str = ""
    """Key of those that nobody needs who gets this one; "" = none."""


class Backlog(Generic[T]):
    """The items are in the order in which they came, and none is in another one's place.

    It holds at most `items`, and bytes as `weight` says, or one item alone, however heavy that is.
    """

    def __init__(self, *, items: int, weight: int, standing: Callable[[T], Standing] | None = None) -> None:
        """Without `standing` nothing makes anything void."""
        self.items = items
        self.weight = 0
        """Bytes that wait."""
        self._heaviest = weight
        self._standing = standing
        self._waiting: OrderedDict[int, tuple[T, int, str]] = OrderedDict()  # by the place in which each came
        self._places: dict[str, deque[int]] = {}  # of those that have a key
        self._came = 0

    def add(self, item: T, weight: int) -> bool:
        """One more item; False when there is no room for it, and it does not wait."""
        standing = None if self._standing is None else self._standing(item)
        if standing is not None and standing.voids:
            self._forget(standing.voids)
        full = len(self._waiting) >= self.items or self.weight + weight > self._heaviest
        if full and self._waiting:
            return False
        key = "" if standing is None else standing.key
        self._came += 1
        self._waiting[self._came] = item, weight, key
        self.weight += weight
        if key:
            self._places.setdefault(key, deque()).append(self._came)
        return True

    def _forget(self, key: str) -> None:
        for place in self._places.pop(key, ()):
            self.weight -= self._waiting.pop(place)[1]

    def take(self) -> T:
        """The oldest item, which waits no more. Raises KeyError when there is none."""
        _, (item, weight, key) = self._waiting.popitem(last=False)
        self.weight -= weight
        if key:
            self._places[key].popleft()  # what came first of all came first of its key
        return item

    def clear(self) -> int:
        """Let all of them go; how many there were."""
        count = len(self._waiting)
        self._waiting.clear()
        self._places.clear()
        self.weight = 0
        return count

    def __len__(self) -> int:
        """Items that wait."""
        return len(self._waiting)
