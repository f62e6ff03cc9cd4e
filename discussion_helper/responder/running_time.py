"""Running time: a limit that counts only the time in which this process could have gone on."""

from collections.abc import Awaitable, Callable

import anyio

from discussion_helper.event_loop import start_in

__all__ = ["ends_within"]

_STEP_S = 0.1
"""Counted at a time. A step that took longer was held up here, by other programs or by a library that was loading, and
counts no more: the limit is the other side's. After a step, what has arrived meanwhile has its turn."""


async def ends_within(running_s: float, call: Callable[[], Awaitable[None]]) -> bool:
    """Await `call`, and cancel it after `running_s` seconds in which the event loop ran; whether it came to its end.

    It must not raise.
    """
    ended = False
    async with anyio.create_task_group() as tasks:
        start_in(tasks, _cancel_after, running_s, tasks.cancel_scope)
        await call()
        ended = True
        tasks.cancel_scope.cancel()
    return ended


async def _cancel_after(running_s: float, scope: anyio.CancelScope) -> None:
    for _ in range(round(running_s / _STEP_S)):
        await anyio.sleep(_STEP_S)
    scope.cancel()
