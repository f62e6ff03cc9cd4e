"""The clauses of a text that streams in, as early as they can be spoken: also while the stream pauses."""

from collections.abc import AsyncGenerator, Awaitable, Callable

import anyio

from discussion_helper.background import LET_GO_S, Background
from discussion_helper.responder.base import Clauses

__all__ = ["clauses_from"]


async def clauses_from(piece: Callable[[], Awaitable[str | None]], clauses: Clauses) -> AsyncGenerator[str, None]:
    """Call `piece` until it gives None, or the clauses are full; what is left in `clauses` is for the caller to flush.

    Where a sentence may be complete and nothing comes for `clauses.pause_s`, it is given. Raises what `piece` raises.
    """
    while not clauses.full:
        if not clauses.waiting:
            text = await piece()
        else:
            reading = Background(piece, name="the next piece of a reply").start()  # a pause must not cancel it
            try:
                with anyio.move_on_after(clauses.pause_s):
                    await reading.finished()
                for clause in clauses.paused() if reading.running else ():
                    yield clause
                text = await reading.wait()
            finally:
                if reading.running:
                    await reading.stop(within_s=LET_GO_S)
        if text is None:
            return
        for clause in clauses.feed(text):
            yield clause
