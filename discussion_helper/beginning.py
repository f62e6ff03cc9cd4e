"""The beginning of a reply: it is waited for, and what keeps it from coming is told."""

import anyio

from discussion_helper.background import unwrapped
from discussion_helper.errors import NothingToSay
from discussion_helper.event_loop import start_in
from discussion_helper.generation import Generation
from discussion_helper.not_understood import SLOW_S, NotUnderstood
from discussion_helper.taking_back import TakingBack
from discussion_helper.types import Utterance

__all__ = ["begins"]


async def begins(generation: Generation, turn: Utterance, *, by: TakingBack, tells: NotUnderstood) -> bool | None:
    """Wait for something to say about the turn; False when there is nothing, None when the user goes on with it.

    Who went on while the turn was read does not hear the beginning of an answer to half of what was said. That it takes
    long is told. Raises what the responder or the listener failed with.
    """
    if await by.goes_on(turn):
        return None
    if generation.ahead:
        return True
    began = None

    async def tell_slow() -> None:
        await anyio.sleep(SLOW_S)
        tells.tell_slow()

    try:
        async with anyio.create_task_group() as tasks:
            start_in(tasks, tell_slow)
            began = await by.ready(generation, turn)
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        if isinstance(failure := unwrapped(group), NothingToSay):
            return False
        raise failure from None
    return began
