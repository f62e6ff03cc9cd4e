"""Calls of a part under observation: how they end, whether they can be left, and what they hold up."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

from discussion_helper.background import Background
from discussion_helper.clock import now
from discussion_helper.errors import DiscussionError
from discussion_helper.testing.conformance.rule import Broken

__all__ = ["Call", "Outcome", "accepted", "gap_of", "in_thread", "left", "outcome_of", "result_of", "said"]

T = TypeVar("T")
Call = Callable[[], Awaitable[T]]
_TICK_S = 0.005


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended: with a result, or with an error."""

    result: Any
    error: BaseException | None
    took_s: float


async def outcome_of(call: Call[object], *, within_s: float) -> Outcome:
    """Of a call that is given `within_s` seconds. Raises Broken when it takes longer."""
    began = now()
    task = Background(call, name="a checked call").start()
    try:
        with anyio.move_on_after(within_s):
            await task.finished()
    finally:
        running = task.running
        if running:
            await task.stop(within_s=0.1)
    if running:
        raise Broken(f"it did not end within {within_s:g} s")
    return Outcome(task.result, task.error, now() - began)


async def result_of(call: Call[object], *, within_s: float) -> Any:
    """Its result. Raises Broken when it fails."""
    outcome = await outcome_of(call, within_s=within_s)
    if outcome.error is not None:
        raise Broken(f"it raised {said(outcome.error)}")
    return outcome.result


async def accepted(call: Call[object], what: str, *, within_s: float) -> Outcome:
    """A result, or an error of the package's tree. Raises Broken, naming `what`, for another error."""
    try:
        outcome = await outcome_of(call, within_s=within_s)
    except Broken as broken:
        raise Broken(f"{what}: {broken}") from None
    if outcome.error is not None and not isinstance(outcome.error, DiscussionError):
        raise Broken(f"{what}: it raised {said(outcome.error)}")
    return outcome


async def left(
    call: Call[object], when: str, *, within_s: float, after_s: float = 0.0, turns: int = 0, may_refuse: bool = False
) -> None:
    """Cancel a call `turns` rounds of the event loop and `after_s` seconds after its start.

    Raises Broken when it does not end within `within_s` seconds from then, or ends with an error; one of the package's
    tree is none where it `may_refuse`.
    """
    task = Background(call, name="a call to be left").start()
    for _ in range(turns):
        await anyio.lowlevel.checkpoint()
    if after_s:
        with anyio.move_on_after(after_s):
            await task.finished()
    if not await task.stop(within_s=within_s):
        raise Broken(f"cancelled {when}, it was still at it {within_s:g} s later")
    if task.error is not None and not (may_refuse and isinstance(task.error, DiscussionError)):
        raise Broken(f"cancelled {when}, it raised {said(task.error)}")


async def gap_of(call: Call[object], *, within_s: float) -> float:
    """The longest that the event loop stood still while the call went on; real seconds."""
    longest = [0.0]

    async def tick() -> None:
        while True:
            began = time.perf_counter()
            await anyio.sleep(_TICK_S)
            longest[0] = max(longest[0], time.perf_counter() - began - _TICK_S)

    ticking = Background(tick, name="the clock of a check").start()
    await anyio.lowlevel.checkpoint()
    try:
        await outcome_of(call, within_s=within_s)
        await anyio.sleep(_TICK_S)
    finally:
        await ticking.stop(within_s=0.1)
    return longest[0]


async def in_thread(work: Callable[[], T]) -> T:
    """What `work()` gives in another thread; a virtual clock stands still meanwhile."""
    try:
        held = getattr(asyncio.get_running_loop(), "held", nullcontext)
    except RuntimeError:
        held = nullcontext
    with held():
        return await anyio.to_thread.run_sync(work, limiter=anyio.CapacityLimiter(2), abandon_on_cancel=True)


def said(error: BaseException) -> str:
    """An error in a line."""
    return " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")[:200]
