"""Asynchronous iterators: one of what is there already, and closing what is left half-way."""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio

__all__ = ["closing", "each"]

T = TypeVar("T")


@asynccontextmanager
async def closing(items: AsyncIterator[T], *, within_s: float) -> AsyncIterator[AsyncIterator[T]]:
    """Close an iterator on leaving, where it can be closed: a generator left half-way would be closed by nobody.

    Shielded, for `within_s` seconds at most.
    """
    try:
        yield items
    finally:
        close = getattr(items, "aclose", None)
        if close is not None:
            with anyio.move_on_after(within_s, shield=True):
                await close()


async def each(items: Iterable[T]) -> AsyncIterator[T]:
    """One after the other."""
    for item in items:
        yield item
