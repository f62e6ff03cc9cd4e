"""Tools that are plain functions: they run in threads, a bounded number of them, and hold nobody up."""

import threading
from collections.abc import Awaitable
from contextvars import ContextVar
from typing import Any

import anyio
import pytest

from discussion_helper.text.artifacts import ToolCall, ToolResult
from discussion_helper.text.state import State
from discussion_helper.text.step import Step
from discussion_helper.text.tools import Tool, Tools, tool

pytestmark = pytest.mark.anyio
WHO: ContextVar[str] = ContextVar("who", default="")


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def results_of(tools: Tools, *names: str) -> list[Any]:
    state = State()
    calls = [ToolCall(str(number), name, "{}") for number, name in enumerate(names)]
    await Step(handlers=[tools]).submit(state, "assistant", *calls)
    return [artifact for turn in state.turns[1:] for artifact in turn.artifacts]


async def test_a_plain_function_runs_in_a_thread_with_the_callers_context() -> None:
    def where() -> list[Any]:
        return [threading.get_ident() == threading.main_thread().ident, WHO.get()]

    WHO.set("me")
    assert await results_of(Tools(where), "where") == [ToolResult("0", '[false,"me"]', [False, "me"])]


async def test_what_a_plain_function_leaves_to_be_awaited_is_awaited() -> None:
    def later() -> Awaitable[str]:
        async def give() -> str:
            await anyio.lowlevel.checkpoint()
            return "here"

        return give()

    assert await results_of(Tools(later), "later") == [ToolResult("0", "here")]


async def test_so_many_threads_and_no_more() -> None:
    lock, running, most = threading.Lock(), 0, 0
    two = threading.Barrier(2)

    @tool(parallel=True)
    def work() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        two.wait(10)
        with lock:
            running -= 1

    results = await results_of(Tools(work, threads=2), *["work"] * 6)
    assert [result.is_error for result in results] == [False] * 6
    assert most == 2


async def test_a_thread_past_its_time_keeps_its_place_until_it_ends() -> None:
    let_go = threading.Event()

    def stuck() -> None:
        let_go.wait(20)

    def quick() -> str:
        return "here"

    tools = Tools(Tool.of(stuck, timeout_s=0.1), Tool.of(quick, timeout_s=0.1), threads=1)
    late, waited = await results_of(tools, "stuck", "quick")
    assert late.content == "The tool stuck was stopped: it took longer than 0.1 s."
    assert waited.content == "The tool quick was stopped: it took longer than 0.1 s."
    let_go.set()
    with anyio.fail_after(10):
        while (await results_of(tools, "quick"))[0].is_error:
            pass


async def test_a_cancelled_turn_does_not_wait_for_a_thread() -> None:
    let_go, running = threading.Event(), threading.Event()

    def stuck() -> None:
        running.set()
        let_go.wait(20)

    began = 0.0
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(results_of, Tools(stuck), "stuck")
        await anyio.to_thread.run_sync(running.wait, 10)
        began = anyio.current_time()
        tasks.cancel_scope.cancel()
    took = anyio.current_time() - began
    let_go.set()
    assert took < 0.5
