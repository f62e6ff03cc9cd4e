"""Closing the parts of a discussion: all at once, each once, none for longer than its limit."""

from collections.abc import Awaitable, Callable, Mapping

import anyio

from discussion_helper.background import LET_GO_S, Background
from discussion_helper.event_loop import start_in
from discussion_helper.failures import told
from discussion_helper.parts import Listener, Responder, Voice

__all__ = ["CLOSE_LIMIT_S", "SILENCE_LIMIT_S", "Part", "close_parts"]

CLOSE_LIMIT_S = 0.4
"""How long one part may take; a stop takes a second at most, and this is the last of its steps."""
SILENCE_LIMIT_S = 0.1
"""How much of that a voice may take to stop, which had been stopped before, until it is closed all the same."""

Part = Listener | Responder | Voice


async def close_parts(parts: Mapping[str, Part]) -> list[str]:
    """Close all parts at the same time, a voice after silencing it; returns a line for each that failed or hung.

    A part that takes two places is closed once.
    """
    names: dict[int, list[str]] = {}
    for name, part in parts.items():
        names.setdefault(id(part), []).append(name)
    problems: list[str] = []
    async with anyio.create_task_group() as tasks:
        for together in names.values():
            start_in(tasks, _close, together, parts[together[0]], problems)
    return problems


async def _close(places: list[str], part: Part, problems: list[str]) -> None:
    who, limit = f"the {' and '.join(places)}", anyio.current_time() + CLOSE_LIMIT_S
    if "voice" in places and isinstance(part, Voice):
        await _end(part.stop, who, "stop", SILENCE_LIMIT_S, problems)
    await _end(part.aclose, who, "close", limit - anyio.current_time(), problems)


async def _end(call: Callable[[], Awaitable[None]], who: str, what: str, within_s: float, problems: list[str]) -> None:
    # A task of its own, because a part that swallows its cancellation would hold a task group for ever.
    ending = Background(call, name=f"{who}'s {what}", shield=True).start()
    if not await ending.ends(within_s=within_s):
        await ending.stop(within_s=LET_GO_S)
        problems.append(f"{who} did not {what} within {within_s:.2g} s")
    elif ending.error is not None:
        problems.append(f"{who} failed to {what}: {told(ending.error)}")
