"""Closing the parts of a discussion: all at once, each once, none for longer than its limit."""

from collections.abc import Mapping

import anyio

from discussion_helper.background import Background
from discussion_helper.parts import Listener, Responder, Voice

__all__ = ["CLOSE_LIMIT_S", "Part", "close_parts"]

CLOSE_LIMIT_S = 0.4
"""How long one part may take; a stop takes a second at most, and this is the last of its three steps."""

Part = Listener | Responder | Voice


async def close_parts(parts: Mapping[str, Part]) -> list[str]:
    """Close all parts at the same time, a voice after silencing it; returns a line for each that failed or hung."""
    problems: list[str] = []
    async with anyio.create_task_group() as tasks:
        for name, part in parts.items():
            tasks.start_soon(_close_within_limit, name, part, problems)
    return problems


async def _close_within_limit(name: str, part: Part, problems: list[str]) -> None:
    # A task of its own, because a part that swallows its cancellation would hold a task group for ever.
    closing = Background(lambda: _close(part), name=f"closing the {name}").start()
    with anyio.move_on_after(CLOSE_LIMIT_S, shield=True):
        await closing.finished()
    if closing.running:
        closing.cancel()
        problems.append(f"the {name} did not close within {CLOSE_LIMIT_S:g} s")
    elif closing.error is not None:
        problems.append(f"the {name} failed to close: {closing.error}")


async def _close(part: Part) -> None:
    try:
        if isinstance(part, Voice):
            await part.stop()
    finally:
        await part.aclose()
