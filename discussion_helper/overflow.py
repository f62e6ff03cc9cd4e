"""What a full subscription does with one more item."""

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["RESERVE", "Block", "DropNewest", "DropOldest", "Overflow"]

RESERVE = 16
"""Items over a Block's capacity that must not be lost: what is told without waiting of the ends of some five events."""

T = TypeVar("T")


class DropOldest(Generic[T]):
    """Overflow: the oldest item goes, and one gap item comes before the next: `gap(missed, next)`."""

    def __init__(self, gap: Callable[[int, T], T]) -> None:
        self.gap = gap

    def hold(self, item: T, buffer: deque[T], capacity: int) -> int:
        """Put the item into a full buffer; returns how many items were lost (here: from the front)."""
        lost = 0
        while len(buffer) >= capacity:
            buffer.popleft()
            lost += 1
        buffer.append(item)
        return lost


class DropNewest(Generic[T]):
    """Overflow: a newest item that may be lost is lost and counted; the others push out one that may.

    When nothing in the buffer may be lost, the oldest goes: the bound holds whatever is published.
    """

    def __init__(self, droppable: Callable[[T], bool]) -> None:
        self._droppable = droppable

    def hold(self, item: T, buffer: deque[T], capacity: int) -> int:  # noqa: ARG002 - it is full, one item goes
        """Put the item into a full buffer if it may come in; returns how many were lost (maybe the item itself)."""
        if self._droppable(item):
            return 1
        victim = next((i for i, held in enumerate(buffer) if self._droppable(held)), 0)
        del buffer[victim]
        buffer.append(item)
        return 1


class Block(Generic[T]):
    """Overflow: whoever publishes waits with `EventHub.room_for`.

    What is published without waiting, as after a cancellation, is lost if it may be. What must not be lost goes into
    a small reserve beyond the capacity: who reads gets all of it. Once that is full too, it is as with DropNewest.
    """

    def __init__(self, droppable: Callable[[T], bool] | None = None, *, reserve: int = RESERVE) -> None:
        """`droppable`: whether an item may be lost (without it, any may). `reserve`: items held for the others."""
        self._droppable = droppable
        self._reserve = reserve
        self._otherwise = DropNewest(droppable or _always)

    def hold(self, item: T, buffer: deque[T], capacity: int) -> int:
        """Put the item into a full buffer if it must not be lost; returns how many were lost (maybe the item)."""
        if self._droppable is None or self._droppable(item):
            return 1
        if len(buffer) < capacity + self._reserve:
            buffer.append(item)
            return 0
        return self._otherwise.hold(item, buffer, capacity)


def _always(item: object) -> bool:  # noqa: ARG001 - whatever it is
    return True


Overflow = DropOldest[T] | DropNewest[T] | Block[T]
