"""The clock that jumps: what goes on beside it, and threads for which it is held."""

import asyncio
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
import pytest

from discussion_helper.testing import VirtualTimeLoop, virtual_clock
from discussion_helper.testing.virtual_clock import START_S

pytestmark = pytest.mark.anyio


def loop() -> VirtualTimeLoop:
    here = asyncio.get_running_loop()
    assert isinstance(here, VirtualTimeLoop)
    return here


def now() -> float:
    """Since the loop was made."""
    return anyio.current_time() - START_S


@dataclass
class Ticking:
    """Steps every `every_s` seconds, `count` times."""

    every_s: float
    count: int
    then: Callable[[], object] = lambda: None
    due_s: float = START_S
    steps: list[float] = field(default_factory=list)

    def step(self) -> None:
        self.steps.append(now())
        self.due_s = self.due_s + self.every_s if len(self.steps) < self.count else math.inf
        if self.due_s == math.inf:
            self.then()


async def test_a_world_steps_at_its_times_while_the_loop_sleeps() -> None:
    world = Ticking(0.25, 5)
    with loop().beside(world):
        await anyio.sleep(0.6)
        assert [0.0, 0.25, 0.5] == world.steps
        await anyio.sleep(10.0)

    assert [0.0, 0.25, 0.5, 0.75, 1.0] == world.steps
    assert 10.6 == pytest.approx(now())


async def test_a_world_wakes_the_loop_at_the_moment_of_its_step() -> None:
    done = anyio.Event()
    here = loop()
    with here.beside(Ticking(0.1, 3, then=lambda: here.call_soon_threadsafe(done.set))):
        await done.wait()

    assert 0.2 == pytest.approx(now())


async def test_two_worlds_take_turns_by_their_times() -> None:
    order: list[str] = []

    class Named(Ticking):
        name = ""

        def step(self) -> None:
            order.append(self.name)
            super().step()

    slow, fast = Named(0.3, 2), Named(0.1, 4)
    slow.name, fast.name = "slow", "fast"
    with loop().beside(slow), loop().beside(fast):
        await anyio.sleep(1.0)

    assert ["slow", "fast", "fast", "fast", "slow", "fast"] == order


async def test_time_stands_still_for_a_thread_while_it_is_held() -> None:
    def make() -> str:
        time.sleep(0.05)
        return "made"

    world = Ticking(0.1, 1_000_000)
    with loop().beside(world):
        with loop().held():
            began = time.monotonic()
            result = await anyio.to_thread.run_sync(make)
            assert time.monotonic() - began >= 0.05
        assert (0.0, [], "made") == (now(), world.steps, result)
        await anyio.sleep(0.05)

    assert [0.0] == world.steps


def test_waiting_for_what_never_comes_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="no timer will bring"):
        anyio.run(anyio.Event().wait, backend_options={"loop_factory": VirtualTimeLoop})


def test_waiting_for_time_while_the_clock_is_held_is_an_error_that_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    async def wait() -> None:
        with loop().held():
            await anyio.sleep(0.2)

    monkeypatch.setattr(virtual_clock, "HELD_S", 0.01)
    with pytest.raises(RuntimeError, match="what waits for time, as simulated parts do, needs no clock that is held"):
        anyio.run(wait, backend_options={"loop_factory": VirtualTimeLoop})
