"""One failing event fails alone: whatever its parts raise or hold on to, the stream lives and can be closed."""

import asyncio
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any

import anyio
import pytest
import trio

from discussion_helper.events import Subscription
from discussion_helper.text.artifacts import Text, TextDelta
from discussion_helper.text.errors import ProcessError, SaveError, SessionClosedError, TurnCancelledError
from discussion_helper.text.inputs import UserMessageEvent
from discussion_helper.text.manager import Manager
from discussion_helper.text.outputs import ErrorEvent, LifecycleEvent, OutputEvent
from discussion_helper.text.providers.scripted import ScriptedProvider
from discussion_helper.text.sinks import DRAIN_LIMIT_S
from discussion_helper.text.state import State
from discussion_helper.text.step import Step
from discussion_helper.text.stream import Stream
from discussion_helper.text.threads.base import Thread
from discussion_helper.text.threads.memory import MemoryThreads
from discussion_helper.text.worker import LET_GO_S, SAVE_LIMIT_S

pytestmark = pytest.mark.anyio

Make = Callable[..., Manager]


def said(content: str) -> UserMessageEvent:
    return UserMessageEvent(content)


def echo() -> ScriptedProvider:
    return ScriptedProvider([Text("x")])


class Mute(Exception):
    """It cannot say what it is."""

    def __str__(self) -> str:
        raise ValueError("I say nothing")


@pytest.mark.parametrize("watched", [False, True])
async def test_an_error_that_cannot_say_what_it_is_fails_its_event_alone(manager_of: Make, watched: bool) -> None:
    failing = [True]

    async def fails(step: Step, state: State, provider: object) -> None:
        if failing:
            failing.clear()
            raise Mute

    async with manager_of(echo(), processor=fails) as manager:
        stream = await manager.create()
        watchers: list[Subscription[Any]] = [stream.events("*"), stream.subscribe()] if watched else []
        with anyio.fail_after(1), pytest.raises(ProcessError, match="process event: Mute") as failed:
            await stream.process(said("hi"))
        await stream.process(said("again"))

        assert isinstance(failed.value.__cause__, Mute)
        assert all(len(watcher) for watcher in watchers)


class Store(MemoryThreads):
    """Its save does as it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.raises: BaseException | None = None
        self.release: anyio.Event | None = None

    async def save(self, thread: Thread) -> None:
        if self.raises is not None:
            raise self.raises
        while self.release is not None and not self.release.is_set():
            try:
                await self.release.wait()
            except BaseException:
                with anyio.CancelScope(shield=True):
                    await self.release.wait()
        await super().save(thread)


@pytest.mark.parametrize("what", [KeyboardInterrupt, SystemExit, Mute, "cancelled"])
async def test_a_save_that_raises_what_is_no_exception_fails_its_event_alone(manager_of: Make, what: Any) -> None:
    store = Store()
    async with manager_of(echo(), store=store) as manager:
        stream = await manager.create()
        events = stream.subscribe("error", "lifecycle")
        store.raises = await an_old_cancellation() if what == "cancelled" else what()
        with anyio.fail_after(1), pytest.raises(ProcessError) as failed:
            await stream.process(said("hi"))
        assert isinstance(failed.value.__cause__, SaveError)
        store.raises = None
        await stream.process(said("again"))

        assert ["error", "done"] == [getattr(e, "phase", e.kind) for e in [await anext(events) for _ in range(4)]][-2:]


async def an_old_cancellation() -> BaseException:
    """Of a scope that is over."""
    kept = list[BaseException]()
    with anyio.CancelScope() as scope:
        scope.cancel()
        try:
            await anyio.sleep_forever()
        except BaseException as error:
            kept.append(error)
            raise
    return kept[0]


@pytest.mark.parametrize("closes", [False, True])
async def test_a_save_that_does_not_let_go_is_left_behind(
    manager_of: Make, caplog: pytest.LogCaptureFixture, closes: bool
) -> None:
    store, failures, over = Store(), list[BaseException](), anyio.Event()
    async with manager_of(echo(), store=store) as manager, anyio.create_task_group() as tasks:
        stream = await manager.create()
        store.release = release = anyio.Event()

        async def call() -> None:
            try:
                await stream.process(said("hi"))
            except ProcessError as error:
                failures.append(error)
                over.set()

        tasks.start_soon(call)
        await anyio.wait_all_tasks_blocked()
        began = anyio.current_time()
        if closes:
            await stream.aclose()
        else:
            await over.wait()
        took = anyio.current_time() - began
        await anyio.wait_all_tasks_blocked()
        store.release = None
        release.set()
        if not closes:
            await stream.process(said("again"))

    assert SAVE_LIMIT_S <= took <= SAVE_LIMIT_S + LET_GO_S + 0.2
    assert isinstance(failures[0].__cause__, SaveError)
    assert "left behind" in caplog.text


@pytest.mark.parametrize("phase", ["submitted", "done"])
@pytest.mark.parametrize("what", [SystemExit, KeyboardInterrupt])
async def test_an_observer_that_wants_to_end_the_program_fails_its_event_alone(
    manager_of: Make, phase: str, what: type[BaseException]
) -> None:
    armed = [True]

    def leaves(event: OutputEvent) -> None:
        if armed and isinstance(event, LifecycleEvent) and event.phase == phase:
            armed.clear()
            raise what

    async with manager_of(echo(), step=lambda _: Step(on_emit=[leaves])) as manager:
        stream = await manager.create()
        events = stream.subscribe("lifecycle")
        with anyio.fail_after(1), pytest.raises(ProcessError) as failed:
            await stream.process(said("hi"))
        phases = [event.phase for event in [await anext(events) for _ in range(len(events))]]  # type: ignore[attr-defined]
        await stream.process(said("again"))

    assert isinstance(failed.value.__cause__, what)
    assert 1 == phases.count(phase)
    assert "done" == phases[-1]


@pytest.mark.parametrize("what", [SystemExit, KeyboardInterrupt])
async def test_a_sink_that_wants_to_end_the_program_harms_nobody(
    manager_of: Make, caplog: pytest.LogCaptureFixture, what: type[BaseException]
) -> None:
    had = list[str]()

    def leaves(stream_id: str, event: OutputEvent) -> None:
        raise what

    async with manager_of(echo()) as manager:
        manager.register_sink(["turn_complete"], leaves)
        manager.register_sink(["lifecycle"], lambda _, event: had.append(event.kind))
        stream = await manager.create()
        await stream.process(said("hi"))
        await manager.drain_sinks()

    assert 3 == len(had)
    assert "a sink failed on turn_complete" in caplog.text


# -- old cancellations


@pytest.mark.parametrize("grouped", [False, True])
async def test_a_processor_that_raises_an_old_cancellation_again_fails_its_event_alone(
    manager_of: Make, grouped: bool
) -> None:
    old = await an_old_cancellation()
    raised = BaseExceptionGroup("several", [old]) if grouped else old

    async def raises(step: Step, state: State, provider: object) -> None:
        if state.last is not None and state.last.text == "hi":
            raise raised

    async with manager_of(echo(), processor=raises) as manager:
        stream = await manager.create()
        with anyio.fail_after(1), pytest.raises(ProcessError, match="cancelled from within") as failed:
            await stream.process(said("hi"))
        assert not isinstance(failed.value, TurnCancelledError)
        await stream.process(said("again"))
        assert stream.open


@pytest.mark.parametrize("swallows", [False, True])
def test_a_processor_that_cancels_its_own_task_fails_its_event_alone(swallows: bool) -> None:
    async def cancels_itself(step: Step, state: State, provider: object) -> None:
        task = asyncio.current_task()
        if task is not None and state.last is not None and state.last.text == "hi":
            task.cancel()
            with suppress(asyncio.CancelledError if swallows else ValueError):
                await asyncio.sleep(1)

    async def main() -> None:
        async with Manager(MemoryThreads(), echo(), lambda _: Step(), cancels_itself) as manager:
            stream = await manager.create()
            with nullcontext() if swallows else pytest.raises(TurnCancelledError):
                await stream.process(said("hi"))
            await stream.process(said("again"))
            assert stream.open

    asyncio.run(main())


# -- somebody else's thread


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("call", ["aclose", "stop", "wait", "close", "close all"])
async def test_closing_from_another_thread_is_refused_and_changes_nothing(
    manager_of: Make, call: str, used: bool
) -> None:
    refused = list[BaseException]()
    backend = "trio" if "trio" in sys.modules and trio.lowlevel.in_trio_run() else "asyncio"

    async with manager_of(echo()) as manager:
        stream = await manager.create()
        if used:
            await stream.process(said("hi"))
        calls: dict[str, Callable[[], Any]] = {
            "aclose": stream.aclose,
            "stop": stream.stop,
            "wait": stream.wait,
            "close": lambda: manager.close(stream.id),
            "close all": manager.aclose,
        }

        def elsewhere() -> None:
            async def ask() -> None:
                with anyio.move_on_after(0.2):
                    await calls[call]()

            try:
                anyio.run(ask, backend=backend)
            except RuntimeError as error:
                refused.append(error)

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        assert ["a stream runs on another event loop"] == [str(error).partition(";")[0] for error in refused]
        assert (True, False) == (stream.open, stream.ended)
        await stream.process(said("still here"))
        assert (await manager.create()).open


# -- sinks that hang


async def test_sinks_that_hang_are_cut_off_together(manager_of: Make) -> None:
    async def hangs(stream_id: str, event: OutputEvent) -> None:
        await anyio.sleep_forever()

    async with manager_of(echo()) as manager:
        manager.register_sink([], hangs)
        for _ in range(6):
            await (await manager.create()).process(said("hi"))
        began = anyio.current_time()
        await manager.aclose()

        assert anyio.current_time() - began <= DRAIN_LIMIT_S + 1


# -- why a turn gave the floor back


async def floors_of(manager: Manager, *contents: str) -> list[dict[str, Any]]:
    stream = await manager.create()
    events = stream.events()
    for content in contents:
        with suppress(ProcessError):
            await stream.process(said(content))
    await stream.aclose()
    return [event.data async for event in events if event.kind == "floor"]


async def test_an_error_that_a_processor_tells_and_gets_over_is_no_reason(manager_of: Make) -> None:
    async def tries(step: Step, state: State, provider: Any) -> None:
        await step.turn(state, provider)
        await step.emit(ErrorEvent(ValueError("later"), step.context))

    async with manager_of(ScriptedProvider([TextDelta("x")]), processor=tries) as manager:
        assert {"floor": "listening"} == (await floors_of(manager, "hi"))[-1]


async def test_an_error_that_the_application_tells_hides_no_reason(manager_of: Make) -> None:
    streams = list[Stream]()

    async def fails(step: Step, state: State, provider: object) -> None:
        await step.phase("submitted")
        raise ValueError("the turn's")

    class Reports(Store):
        async def save(self, thread: Thread) -> None:
            for stream in streams:
                await stream.emit(ErrorEvent(ValueError("the application's")))

    async with manager_of(echo(), processor=fails, store=Reports()) as manager:
        streams.append(await manager.create())
        told = streams[0].events()
        with pytest.raises(ProcessError):
            await streams[0].process(said("hi"))
        await streams[0].aclose()
        floors = [event.data async for event in told if event.kind == "floor"]

    assert {"floor": "listening", "reason": "failed", "error": "the turn's"} == floors[-1]


async def test_nothing_is_left_waiting_when_the_stream_ends_in_the_middle(manager_of: Make) -> None:
    store = Store()
    async with manager_of(echo(), store=store) as manager:
        stream = await manager.create()
        store.raises = SystemExit(3)
        items = [stream.enqueue(said(str(number))) for number in range(3)]
        await anyio.wait_all_tasks_blocked()
        await stream.aclose()

        assert [ProcessError] * 3 == [type(item.error) for item in items]
        with pytest.raises(SessionClosedError):
            stream.submit(said("more"))
