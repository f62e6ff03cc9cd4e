"""A filler: words that are said when a reply is slow to begin. Only where somebody asked for them."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable

import anyio

from discussion_helper.background import LET_GO_S, Background
from discussion_helper.event_loop import start_in
from discussion_helper.parts import Committed
from discussion_helper.responder.phrases import Phrase, text_of

__all__ = ["FILLER_AFTER_S", "with_filler"]

FILLER_AFTER_S = 1.0
"""A reply whose first clause is not there by then is slow: people answer within 1 s, or say that they will (Jefferson
1989)."""


async def with_filler(
    clauses: AsyncIterator[str],
    filler: Phrase,
    *,
    committed: Committed | None = None,
    after_s: float = FILLER_AFTER_S,
    filled: Callable[[], None] | None = None,
) -> AsyncGenerator[str, None]:
    """The clauses, and before the first one `filler` when that takes longer than `after_s`; "" = never.

    The time counts from `committed`, where that is given: before it nobody waits. `filled` is told when it is said.
    """

    async def first() -> str | None:
        return await anext(clauses, None)

    if filler:
        reading = Background(first, name="the first clause of a reply").start()
        try:
            if committed is not None:
                await _either(reading, committed)
            with anyio.move_on_after(after_s):
                await reading.finished()
            if reading.running and (text := text_of(filler)):
                if filled is not None:
                    filled()
                yield text
            begun = await reading.wait()
        finally:
            if reading.running:
                await reading.stop(within_s=LET_GO_S)
        if begun is None:
            return
        yield begun
    async for clause in clauses:
        yield clause


async def _either(reading: Background[str | None], committed: Committed) -> None:
    """Wait for one of the two."""
    async with anyio.create_task_group() as tasks:

        async def wait() -> None:
            await committed.wait()
            tasks.cancel_scope.cancel()

        start_in(tasks, wait)
        await reading.finished()
        tasks.cancel_scope.cancel()
