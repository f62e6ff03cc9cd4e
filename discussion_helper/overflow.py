"""What a full subscription does with one more item."""

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Block", "DropNewest", "DropOldest", "Overflow"]

T = TypeVar("T")


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


class Block(Generic[T]):
    """Overflow: whoever publishes waits with `EventHub.room_for`; what is published without waiting is lost."""

    def room_for(self, item: T, buffer: deque[T], capacity: int) -> int:  # noqa: ARG002 - any item may be lost
        """Make no room; returns how many items were lost (1 = the item itself)."""
        return int(len(buffer) >= capacity)


Overflow = DropOldest[T] | DropNewest[T] | Block[T]
