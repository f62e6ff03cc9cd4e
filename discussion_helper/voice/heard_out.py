"""The moment from which nothing more comes of what was heard so far."""

from collections.abc import Awaitable, Callable

import anyio

from discussion_helper.audio.handover import LoopHandover
from discussion_helper.audio.inbox import Call, Inbox

__all__ = ["heard_out"]


async def heard_out(inbox: Inbox, rested: Callable[[], Awaitable[object]]) -> None:
    """Return once the audio thread is through with all that is in the inbox now, and then `rested` has returned.

    What it makes of it was told on the event loop by then. For that loop's thread; it never returns where nobody takes
    anything out of the inbox any more.
    """
    handover, through = LoopHandover(), anyio.Event()
    try:
        inbox.put(Call(lambda: handover.call(through.set)))
        await through.wait()
    finally:
        handover.close()
    await rested()
