"""What a person holds with this machine, from its beginning to the wish to end it."""

from collections.abc import Awaitable, Callable

import anyio

from discussion_helper.background import unwrapped
from discussion_helper.commands.ending import HANGUP, Ending, LastResort
from discussion_helper.commands.screen import complain

__all__ = ["held"]


async def held(work: Callable[[Callable[[int], None]], Awaitable[None]], last_resort: LastResort) -> int:
    """Do `work`, which gets what ends it with an exit code, as signals do; the code. Raises what it failed with."""
    ending = Ending(last_resort)
    try:
        async with anyio.create_task_group() as tasks:
            await tasks.start(ending.watch_signals)
            with ending.scope:
                await work(ending.begin)
            tasks.cancel_scope.cancel()
    except Exception as error:
        failure = unwrapped(error)
        if ending.code is None:
            raise failure from None
        if ending.code != HANGUP:  # then nobody is there, and that is the failure
            complain(f"discussion-helper: {failure}")
    return ending.code or 0
