"""Making the parts ready for their session."""

from collections.abc import Iterable
from functools import partial

import anyio

from discussion_helper.background import isolated
from discussion_helper.event_loop import start_in
from discussion_helper.parts import Attachable, Listener, Reporter, Responder, Voice, WarmsUp

__all__ = ["WARMUP_LIMIT_S", "attach_parts", "warm_up"]

WARMUP_LIMIT_S = 60.0
"""Loading three models takes 2-6 s from a warm disk, ten times that from a cold one."""


def attach_parts(parts: Iterable[Listener | Responder | Voice], reporter: Reporter) -> None:
    """Give them the session's clock and a way to report, where they want it."""
    for part in parts:
        if isinstance(part, Attachable):
            part.attach(reporter)


async def warm_up(parts: Iterable[Listener | Responder | Voice]) -> None:
    """Load what they have to load, all at once, within WARMUP_LIMIT_S. Raises what one of them fails with."""
    with anyio.move_on_after(WARMUP_LIMIT_S):
        async with anyio.create_task_group() as tasks:
            for part in parts:
                if isinstance(part, WarmsUp):
                    start_in(tasks, partial(isolated, part.warmup, name="a part's warm-up"))
