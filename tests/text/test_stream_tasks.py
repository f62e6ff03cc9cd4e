"""What a stream's tasks are: none while it is idle, none of its first user's, and none before its event loop."""

import asyncio
import gc
import weakref
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import anyio
import pytest
import trio

from discussion_helper.text.artifacts import Text
from discussion_helper.text.errors import TurnCancelledError
from discussion_helper.text.inputs import InterruptEvent, UserMessageEvent
from discussion_helper.text.manager import Manager
from discussion_helper.text.outputs import OutputEvent
from discussion_helper.text.providers.scripted import FOREVER, ScriptedProvider
from discussion_helper.text.react import react
from discussion_helper.text.state import State
from discussion_helper.text.step import Step
from discussion_helper.text.stream import Stream
from discussion_helper.text.threads.memory import MemoryThreads

Make = Callable[..., Manager]
WHO: ContextVar[str] = ContextVar("who", default="nobody")


def said(content: str) -> UserMessageEvent:
    return UserMessageEvent(content)


def echo() -> ScriptedProvider:
    return ScriptedProvider([Text("x")])


def tasks_now() -> int:
    return trio.lowlevel.current_statistics().tasks_living if _on_trio() else len(asyncio.all_tasks())


def _on_trio() -> bool:
    return trio.lowlevel.in_trio_run()


# -- an idle stream


@pytest.mark.anyio
@pytest.mark.parametrize("ended", ["well", "cancelled", "interrupted", "failed"])
async def test_an_idle_stream_has_no_task_and_goes_when_it_is_dropped(manager_of: Make, ended: str) -> None:
    # An error made for each answer: one for all would keep what it was raised through.
    cues: dict[str, Any] = {"well": [Text("x")], "failed": lambda _: [ValueError("boom")]}
    manager = manager_of(ScriptedProvider(cues.get(ended, [FOREVER])))
    before, dropped = tasks_now(), list[weakref.ref[Stream]]()
    for _ in range(20):
        stream = await manager.create()
        stream.submit(said("hi"))
        await anyio.wait_all_tasks_blocked()
        if ended == "cancelled":
            stream.cancel()
        elif ended == "interrupted":
            await stream.process(InterruptEvent())
        await anyio.wait_all_tasks_blocked()
        dropped.append(weakref.ref(stream))
        assert not stream.busy
    assert before == tasks_now()
    del stream, manager
    gc.collect()

    assert [None] * 20 == [each() for each in dropped]


@pytest.mark.anyio
async def test_events_that_come_while_the_last_one_ends_are_processed(manager_of: Make) -> None:
    streams, more = list[Stream](), ["b", "c", "d"]

    def follows(event: OutputEvent) -> None:
        if getattr(event, "phase", "") == "done" and more:
            streams[0].submit(said(more.pop(0)))

    async with manager_of(echo(), step=lambda _: Step(on_emit=[follows])) as manager:
        streams.append(await manager.create())
        await streams[0].process(said("a"))
        await anyio.wait_all_tasks_blocked()

        assert ["a", "b", "c", "d"] == [turn.text for turn in streams[0].thread.state.turns if turn.role == "user"]
        assert not streams[0].busy


@pytest.mark.anyio
async def test_an_event_that_is_taken_back_at_once_leaves_no_task(manager_of: Make) -> None:
    async with manager_of(echo()) as manager:
        stream, before = await manager.create(), tasks_now()
        with anyio.CancelScope() as scope:
            scope.cancel()
            await stream.process(said("never mind"), withdraw_on_cancel=True)
        await anyio.wait_all_tasks_blocked()
        assert before == tasks_now()
        await stream.process(said("hi"))

        assert "hi" == [turn.text for turn in stream.thread.state.turns if turn.role == "user"][-1]


@pytest.mark.anyio
async def test_a_turn_that_was_left_behind_ends_no_later_one(manager_of: Make) -> None:
    release, wait = anyio.Event(), anyio.Event()

    async def answers(step: Step, state: State, provider: object) -> None:
        if state.last is not None and state.last.text == "stubborn":
            with anyio.CancelScope(shield=True):
                await release.wait()
        else:
            await wait.wait()

    async with manager_of(echo(), processor=answers) as manager, anyio.create_task_group() as tasks:
        stream = await manager.create()
        first = stream.enqueue(said("stubborn"))
        await anyio.wait_all_tasks_blocked()
        stream.cancel()
        second = stream.enqueue(said("patient"))
        with pytest.raises(TurnCancelledError):
            await first.answer_of()
        release.set()
        await anyio.wait_all_tasks_blocked()
        assert (False, True) == (second.over, stream.busy)
        tasks.start_soon(second.answer_of)
        wait.set()

    assert second.over


def test_a_stream_ends_with_its_event_loop() -> None:
    streams = list[Stream]()

    async def main() -> None:
        manager = Manager(MemoryThreads(), ScriptedProvider([FOREVER]), lambda _: Step())
        streams.append(await manager.create())
        streams[0].submit(said("hi"))
        await anyio.wait_all_tasks_blocked()

    for backend in ("asyncio", "trio"):
        anyio.run(main, backend=backend)
        assert streams.pop().ended


# -- whose work it is


@pytest.mark.anyio
async def test_a_stream_that_was_first_used_in_a_turn_of_another_may_ask_that_one_later(manager_of: Make) -> None:
    streams = dict[str, Stream]()

    async def first(step: Step, state: State, provider: object) -> None:
        if len(state) == 1:
            streams["second"].submit(said("from the first one's turn"))

    async def second(step: Step, state: State, provider: object) -> None:
        if state.last is not None and state.last.text == "ask":
            await streams["first"].process(said("from the second"))

    async with manager_of(echo(), processor=first) as one, manager_of(echo(), processor=second) as two:
        streams["first"], streams["second"] = await one.create(), await two.create()
        await streams["first"].process(said("go"))
        with anyio.fail_after(1):
            await streams["second"].process(said("ask"))

        assert ["go", "from the second"] == [turn.text for turn in streams["first"].thread.state.turns]


@pytest.mark.anyio
async def test_a_task_that_was_begun_in_a_turn_may_wait_for_the_stream_once_that_is_over(manager_of: Make) -> None:
    go, streams = anyio.Event(), list[Stream]()
    async with anyio.create_task_group() as tasks:

        async def later() -> None:
            await go.wait()
            await streams[0].process(said("later"))
            await streams[0].aclose()
            await streams[0].wait()

        async def begins(step: Step, state: State, provider: object) -> None:
            if len(state) == 1:
                tasks.start_soon(later)

        async with manager_of(echo(), processor=begins) as manager:
            streams.append(await manager.create())
            await streams[0].process(said("go"))
            go.set()
            with anyio.fail_after(1):
                await streams[0].wait()

    assert ["go", "later"] == [turn.text for turn in streams[0].thread.state.turns]


@pytest.mark.anyio
async def test_a_sink_of_a_stream_that_was_opened_in_a_turn_may_ask_the_other_one(manager_of: Make) -> None:
    streams, asked = list[Stream](), list[str]()

    async def opens(step: Step, state: State, provider: object) -> None:
        if len(streams) == 1:
            streams.append(await managers[0].create())

    async def asks(stream_id: str, event: OutputEvent) -> None:
        if len(streams) == 2 and stream_id == streams[1].id and not asked:
            asked.append("once")
            await streams[0].process(said("from a sink"))
            asked.append("answered")

    async with manager_of(echo(), processor=opens) as manager:
        managers = [manager]
        manager.register_sink(["lifecycle"], asks)
        streams.append(await manager.create())
        await streams[0].process(said("go"))
        await streams[1].process(said("hi"))
        await manager.drain_sinks()

    assert ["once", "answered"] == asked


@pytest.mark.anyio
async def test_who_submits_first_has_no_part_in_what_comes_later(manager_of: Make) -> None:
    seen = list[str]()

    async def tells(step: Step, state: State, provider: object) -> None:
        seen.append(WHO.get())

    async with manager_of(echo(), processor=tells) as manager:
        stream = await manager.create()
        for name in ("first", "second"):
            WHO.set(name)
            await stream.process(said("hi"))

    assert ["nobody", "nobody"] == seen


# -- before the event loop


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
@pytest.mark.parametrize("built", ["off a loop", "on another one"])
def test_a_stream_can_be_made_before_the_event_loop_that_it_is_used_on(backend: str, built: str) -> None:
    store = MemoryThreads()

    async def make() -> Stream:
        return Stream(await store.create(), Step(), echo(), react, store)

    async def thread() -> Any:
        return await store.create()

    stream = asyncio.run(make()) if built != "off a loop" else Stream(anyio.run(thread), Step(), echo(), react, store)
    early = stream.subscribe(buffer=2, overflow="block")

    async def use() -> list[str]:
        async with anyio.create_task_group() as tasks:
            kinds = list[str]()

            async def read() -> None:
                kinds.extend([event.kind async for event in early])

            tasks.start_soon(read)
            await stream.process(said("hi"))
            await stream.aclose()
            await stream.wait()
        return kinds

    assert "turn_complete" in anyio.run(use, backend=backend)


def test_a_stream_that_has_no_event_loop_says_so_and_keeps_nothing() -> None:
    store = MemoryThreads()

    async def thread() -> Any:
        return await store.create()

    stream = Stream(anyio.run(thread), Step(), echo(), react, store)
    with pytest.raises(RuntimeError, match="running event loop"):
        stream.submit(said("hi"))

    assert 0 == stream.pending
