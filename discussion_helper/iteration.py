"""Asynchronous iterators: one of what is there already, and closing what is left half-way."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio

__all__ = ["closing", "each"]

T = TypeVar("T")

_log = logging.getLogger(__name__)


@asynccontextmanager
async def closing(items: AsyncIterator[T], *, within_s: float) -> AsyncIterator[AsyncIterator[T]]:
    """Close an iterator on leaving, where it can be closed: a generator left half-way would be closed by nobody.

    Shielded, for `within_s` seconds at most. An iterator that fails to close, or takes longer, is logged and nothing
    more: what it gave is as good as before, and what went wrong before is what is told.
    """
    try:
        yield items
    finally:
        close = getattr(items, "aclose", None)
        if close is not None:
            await _closed(close, type(items).__qualname__, within_s)


async def _closed(close: Callable[[], Awaitable[object]], name: str, within_s: float) -> None:
    try:
        with anyio.move_on_after(within_s, shield=True) as scope:
            await close()
        if scope.cancelled_caught:
            _log.warning("closing %s took longer than %g s; it is left as it is", name, within_s)
    except Exception as error:
        _log.warning("closing %s failed (%s)", name, type(error).__name__)
        _log.debug("closing %s failed", name, exc_info=error)


async def each(items: Iterable[T]) -> AsyncIterator[T]:
    """One after the other."""
    for item in items:
        yield item
