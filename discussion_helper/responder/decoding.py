"""One run of a blocking model, in a worker thread; its pieces are read on the event loop."""

from collections.abc import Callable
from functools import partial
from typing import Self

import anyio
from anyio import from_thread, to_thread
from anyio.lowlevel import EventLoopToken, current_token

from discussion_helper.audio.yielding import call_behind
from discussion_helper.background import Background
from discussion_helper.responder.llama import Piece, Take

__all__ = ["CLOSE_LIMIT_S", "PIECES_HELD", "Decoding"]

CLOSE_LIMIT_S = 0.2
"""How long closing waits for the thread. A model looks at the stop flag at every token."""
PIECES_HELD = 0
"""Pieces decoded and not read yet, beside the one that is handed over; the model then waits, and leaves the cores to
the voice."""


class Decoding:
    """Begins at once, on a running event loop; iterating gives the pieces.

    `work(take)` calls `take(piece)` for each piece and stops when that is True. A thread that does not stop in time
    keeps the limiter until it does, so there are never two at work.
    """

    def __init__(self, work: Callable[[Take], str], *, limiter: anyio.CapacityLimiter) -> None:
        self._work = work
        self._limiter = limiter
        self._stopped = False
        self._sending, self._pieces = anyio.create_memory_object_stream[Piece](PIECES_HELD)
        self._thread = Background(self._run, name="decoding").start()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Piece:
        try:
            return await self._pieces.receive()
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            raise StopAsyncIteration from None

    async def outcome(self) -> str:
        """Wait for the end; what `work` returned, "" when it was stopped. Raises what it raised.

        Pieces that were not read until then are not waited for by anybody, and are dropped.
        """
        async for _ in self:
            pass
        return "" if self._stopped else await self._thread.wait()

    async def aclose(self) -> None:
        """Stop the model and wait for its thread, CLOSE_LIMIT_S at most; shielded, idempotent."""
        self._stopped = True
        self._pieces.close()  # a thread that waits for room in it goes on, and sees that it is to stop
        await self._thread.stop(within_s=CLOSE_LIMIT_S)
        self._sending.close()

    async def _run(self) -> str:
        with self._sending:
            take = partial(self._take, current_token())
            work = partial(self._work, take)
            return await to_thread.run_sync(call_behind, work, limiter=self._limiter)

    def _take(self, loop: EventLoopToken, piece: Piece) -> bool:
        """Called by the thread."""
        if piece and not self._stopped:
            try:
                from_thread.run(self._sending.send, piece, token=loop)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError, RuntimeError):  # closed, or the loop ended
                return True
        return self._stopped
