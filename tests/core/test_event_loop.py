"""Where something belongs, and the clock that is read there."""

import asyncio
import sys
import threading
from collections.abc import Callable

import anyio
import pytest
import trio

from discussion_helper.clock import SessionClock
from discussion_helper.event_loop import LoopAffinity
from discussion_helper.testing import VirtualTimeLoop


@pytest.fixture(params=["trio is known", "trio is not known"])
def known(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What runs on asyncio alone has not imported trio, and is asked in another way."""
    if request.param == "trio is not known":
        monkeypatch.delitem(sys.modules, "trio")


async def made() -> LoopAffinity:
    return LoopAffinity()


def refused(home: LoopAffinity) -> bool:
    try:
        home.check("it")
    except RuntimeError as error:
        return "it runs on another event loop" in str(error)
    return False


def elsewhere(call: Callable[[], object]) -> list[object]:
    """What it gives in another thread."""
    given: list[object] = []
    thread = threading.Thread(target=lambda: given.append(call()))
    thread.start()
    thread.join()
    return given


@pytest.mark.usefixtures("known")
def test_its_own_loop_is_home_also_inside_a_callback() -> None:
    async def main() -> list[bool]:
        home, loop = LoopAffinity(), asyncio.get_running_loop()
        answered = loop.create_future()
        loop.call_soon(lambda: answered.set_result(refused(home)))
        return [await answered, refused(home)]

    assert [False, False] == asyncio.run(main())


@pytest.mark.usefixtures("known")
def test_another_thread_is_refused_with_and_without_a_loop_of_its_own() -> None:
    async def main() -> list[object]:
        home = LoopAffinity()
        return [*elsewhere(lambda: refused(home)), *elsewhere(lambda: asyncio.run(asks(home)))]

    async def asks(home: LoopAffinity) -> bool:
        return refused(home)

    assert [True, True] == asyncio.run(main())


@pytest.mark.usefixtures("known")
def test_the_next_loop_of_the_same_thread_is_refused_and_so_is_none() -> None:
    home = asyncio.run(made())

    async def asks() -> bool:
        return refused(home)

    assert refused(home)
    assert asyncio.run(asks())


def test_trio_is_told_from_asyncio_and_from_another_run_of_its_own() -> None:
    of_asyncio, of_trio = asyncio.run(made()), anyio.run(made, backend="trio")

    async def asks() -> list[bool]:
        own = LoopAffinity()
        return [refused(of_asyncio), refused(of_trio), refused(own)]

    assert [True, True, False] == anyio.run(asks, backend="trio")


def test_trio_run_inside_a_callback_of_asyncio_is_not_its_home() -> None:
    async def main() -> bool:
        home = LoopAffinity()

        async def asks() -> bool:
            return refused(home)

        return trio.run(asks)

    assert asyncio.run(main())


@pytest.mark.parametrize("loop", [asyncio.SelectorEventLoop, VirtualTimeLoop])
def test_a_sessions_clock_is_the_loops(loop: Callable[[], asyncio.AbstractEventLoop]) -> None:
    async def main() -> tuple[float, float, float]:
        clock = SessionClock()
        began = asyncio.get_running_loop().time()
        clock.start()
        await asyncio.sleep(0.01)
        before = asyncio.get_running_loop().time() - began
        told = clock.now()
        return clock.of(began), before, told

    with asyncio.Runner(loop_factory=loop) as runner:
        at_start, before, told = runner.run(main())

    assert 0.0 == at_start
    assert before == pytest.approx(told, abs=0.05)
    assert told >= 0.01 - 1e-3
