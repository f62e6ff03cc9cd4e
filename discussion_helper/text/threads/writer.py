"""The writer: runs a store's blocking calls on a worker thread, one after another, each to its end."""

from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

import anyio
from anyio.to_thread import run_sync

from discussion_helper.background import Background

__all__ = ["Writer"]

T = TypeVar("T")


class Writer:
    """For one event loop.

    Cancelled before its turn, a call does not begin. Once it has begun it runs to its end, and whoever asked for it
    waits for that: there is no "perhaps it was written".
    """

    def __init__(self) -> None:
        self._turn = anyio.Lock()
        self._limiter = anyio.CapacityLimiter(1)

    async def run(self, call: Callable[[], T], *, then: Callable[[T], object] | None = None) -> T:
        """What `call` returns; raises what it raises. `then(result)` is called on the event loop before anybody else
        gets to see that it is over, also when the caller was cancelled meanwhile.
        """
        async with self._turn:
            work = _Work(call, self._limiter)
            cancelled = await work.done()
            if work.results and then is not None:
                then(work.results[0])
        if cancelled is not None:
            raise cancelled
        return work.result()


class _Work(Generic[T]):
    """One call; a task of its own, because asyncio's own cancellation ignores shields."""

    def __init__(self, call: Callable[[], T], limiter: anyio.CapacityLimiter) -> None:
        self.results: list[T] = []
        self._working = Background(partial(self._run, call, limiter), name="a store's writer", shield=True).start()

    async def _run(self, call: Callable[[], T], limiter: anyio.CapacityLimiter) -> None:
        self.results.append(await run_sync(call, limiter=limiter))

    async def done(self) -> BaseException | None:
        """Wait for the end, whatever comes; returns the cancellation that came meanwhile."""
        cancelled = None
        while self._working.running:
            try:
                with anyio.CancelScope(shield=True):
                    await self._working.finished()
            except anyio.get_cancelled_exc_class() as error:
                cancelled = error
        return cancelled

    def result(self) -> T:
        """What it returned; raises what it failed with."""
        if self._working.error is not None:
            raise self._working.error
        if not self.results:
            raise RuntimeError("the event loop ended while a store was writing")
        return self.results[0]
