"""Watchers who must not miss anything, those who read, and loops of emits: what each of them may count on."""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discussion_helper.errors import SettingError
from discussion_helper.events import PACE, Backlog, DropNewest, Numbered
from discussion_helper.text.artifacts import Text, TextDelta
from discussion_helper.text.errors import ProcessError, SessionClosedError, SessionError, TurnCancelledError
from discussion_helper.text.inputs import EventContext, InterruptEvent, UserMessageEvent
from discussion_helper.text.manager import Manager
from discussion_helper.text.outputs import ArtifactEvent, LifecycleEvent, OutputEvent, TurnCompleteEvent
from discussion_helper.text.providers.scripted import FOREVER, ScriptedProvider
from discussion_helper.text.state import State
from discussion_helper.text.step import Step
from discussion_helper.text.stream import Stream
from discussion_helper.text.threads.memory import MemoryThreads

pytestmark = pytest.mark.anyio

Make = Callable[..., Manager]


@dataclass(frozen=True)
class Ping:
    """An event of the application's."""

    kind: str = "ping"
    context: EventContext = field(default_factory=EventContext)


def said(content: str) -> UserMessageEvent:
    return UserMessageEvent(content)


def words() -> ScriptedProvider:
    return ScriptedProvider([TextDelta("word ")] * 300)


def told(event: OutputEvent) -> str:
    return event.phase if isinstance(event, LifecycleEvent) else event.kind


# -- what must not be lost


@pytest.mark.parametrize("way", ["cancel", "interrupt", "aclose"])
async def test_a_slow_reader_who_must_not_miss_anything_has_the_end_of_a_turn_that_was_stopped(
    manager_of: Make, way: str
) -> None:
    async with manager_of(words()) as manager, anyio.create_task_group() as tasks:
        stream = await manager.create()
        watcher, seen = stream.subscribe(buffer=2, overflow="block"), list[str]()

        async def read() -> None:
            async for event in watcher:
                seen.append(told(event))
                await anyio.sleep(0.005)

        tasks.start_soon(read)
        stream.submit(said("hi"))
        await anyio.sleep(0.1)
        if way == "cancel":
            stream.cancel()
        elif way == "interrupt":
            assert await stream.interrupt()
        await anyio.sleep(0.1)
        await stream.aclose()

    ends = ["cancelled", "done"] + (["done"] if way == "interrupt" else [])
    assert ends == [phase for phase in seen if phase in ("cancelled", "done")]
    assert 0 == watcher.dropped


async def test_a_turn_that_was_stored_is_told_though_the_wait_for_a_watcher_was_cancelled(manager_of: Make) -> None:
    async with manager_of(ScriptedProvider([Text("Hello")])) as manager:
        stream = await manager.create()
        watcher = stream.subscribe("turn_complete", "text", buffer=2, overflow="block")
        stream.submit(said("hi"))
        await anyio.wait_all_tasks_blocked()
        assert ["user", "assistant"] == [turn.role for turn in stream.thread.state.turns]
        stream.cancel()
        await anyio.wait_all_tasks_blocked()
        await stream.aclose()

        assert ["user", "assistant"] == [e.turn.role async for e in watcher if isinstance(e, TurnCompleteEvent)]


async def test_an_emit_that_waits_while_the_stream_closes_says_so(manager_of: Make) -> None:
    outcome = list[str]()
    async with manager_of(words()) as manager:
        stream = await manager.create()
        watcher = stream.subscribe(buffer=1, overflow="block")
        await stream.emit(Ping())

        async def emit() -> None:
            with pytest.raises(SessionClosedError):
                await stream.emit(Ping())
            outcome.append("refused")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(emit)
            await anyio.wait_all_tasks_blocked()
            await stream.aclose()

        assert (["refused"], 1) == (outcome, len(watcher))


# -- the end of an event waits for nobody once somebody wants it over


@pytest.mark.parametrize("way", ["cancel", "interrupt", "process an interrupt", "aclose"])
async def test_the_end_of_an_event_that_waits_for_a_watcher_can_be_cut_short(manager_of: Make, way: str) -> None:
    async with manager_of(ScriptedProvider([Text("x")])) as manager, anyio.create_task_group() as tasks:
        stream = await manager.create()
        asleep = stream.subscribe("lifecycle", buffer=2, overflow="block")
        tasks.start_soon(stream.process, said("hi"))
        await anyio.wait_all_tasks_blocked()
        assert stream.busy
        with anyio.fail_after(1):
            if way == "cancel":
                stream.cancel()
            elif way == "interrupt":
                assert await stream.interrupt()
            elif way == "aclose":
                await stream.aclose()
            else:
                await stream.process(InterruptEvent())
            await anyio.wait_all_tasks_blocked()

        assert not stream.busy
        assert ("done", 0) == (told([await anext(asleep) for _ in range(3)][-1]), asleep.dropped)


async def test_the_error_of_an_event_that_waits_for_a_watcher_can_be_cut_short(manager_of: Make) -> None:
    errors = list[BaseException]()

    async def call(stream: Stream) -> None:
        try:
            await stream.process(said("hi"))
        except ProcessError as error:
            errors.append(error)

    async with manager_of(ScriptedProvider([ValueError("boom")])) as manager, anyio.create_task_group() as tasks:
        stream = await manager.create()
        asleep = stream.subscribe("lifecycle", "error", buffer=1, overflow="block")
        tasks.start_soon(call, stream)
        await anyio.wait_all_tasks_blocked()
        stream.cancel()
        await anyio.wait_all_tasks_blocked()

        assert ["process event: boom"] == [str(error) for error in errors]
        assert ["submitted", "error", "done"] == [told(await anext(asleep)) for _ in range(3)]


# -- a loop of emits


@pytest.mark.parametrize("buffer", [1, 2, 3, 100])
async def test_who_reads_has_everything_of_a_loop_of_emits(manager_of: Make, buffer: int) -> None:
    got = list[OutputEvent]()
    async with manager_of(words()) as manager, anyio.create_task_group() as tasks:
        stream = await manager.create()
        asleep, reader = stream.subscribe(buffer=100), stream.subscribe(buffer=buffer)

        async def read() -> None:
            got.extend([event async for event in reader])

        tasks.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        for _ in range(150):
            await stream.emit(Ping())
        await stream.aclose()

    assert (150, 0) == (len(got), reader.dropped)
    assert (100, 50) == (len(asleep), asleep.dropped)


async def test_a_small_buffer_that_is_gone_slows_nobody_down(manager_of: Make) -> None:
    async with manager_of(words()) as manager:
        stream = await manager.create()
        await stream.subscribe(buffer=1).aclose()
        await stream.emit(Ping())
        await stream.emit(Ping())
        await stream.hub.pause()

        assert PACE == stream.hub.pause_at - stream.hub.sequence


async def test_a_loop_of_emits_hears_that_its_scope_is_over(manager_of: Make) -> None:
    count = 0
    async with manager_of(words()) as manager:
        stream = await manager.create()
        with anyio.CancelScope() as scope:
            scope.cancel()
            for count in range(1, 10_000):  # noqa: B007 - it says how far it came
                await stream.emit(Ping())

    assert scope.cancelled_caught
    assert count <= PACE + 1


async def test_a_processor_that_emits_in_a_loop_hears_that_it_is_cancelled(manager_of: Make) -> None:
    emitted = list[int]()

    async def talks(step: Step, state: State, provider: object) -> None:
        for number in range(100_000):
            await step.emit(Ping())
            emitted.append(number)

    async with manager_of(words(), processor=talks) as manager, anyio.create_task_group() as tasks:
        stream = await manager.create()
        watcher = stream.subscribe("ping")

        async def cancel_at_the_first() -> None:
            await anext(watcher)
            stream.cancel()

        tasks.start_soon(cancel_at_the_first)
        with pytest.raises(TurnCancelledError):
            await stream.process(said("hi"))

    assert len(emitted) <= 3 * PACE


async def test_an_emit_that_is_cancelled_gave_nothing(manager_of: Make) -> None:
    given, emitted = 0, 0
    async with manager_of(words()) as manager:
        stream = await manager.create()
        watcher = stream.subscribe(buffer=1000)
        with anyio.CancelScope() as scope:
            scope.cancel()
            while True:
                await stream.emit(Ping())
                emitted += 1
        given = len(watcher)

    assert given == emitted


# -- what cannot be given


async def test_what_is_no_event_is_not_emitted_and_harms_no_watcher(manager_of: Make) -> None:
    class Bare:
        kind = "ping"
        context = None

    wrong: list[Any] = [Bare(), "text", None, Ping, Ping(kind=5), LifecycleEvent("done", None), ArtifactEvent(None)]  # type: ignore[arg-type]
    refused = list[str]()

    async def emits(step: Step, state: State, provider: object) -> None:
        for event in wrong:
            with pytest.raises(SettingError) as error:
                await step.emit(event)
            refused.append(str(error.value))

    async with manager_of(words(), processor=emits) as manager:
        stream = await manager.create()
        watcher = stream.subscribe()
        for event in wrong:
            with pytest.raises(SettingError, match="event: "):
                await stream.emit(event)
        assert 0 == len(watcher)
        await stream.process(said("hi"))

    assert len(wrong) == len(refused)


async def test_a_phase_that_is_not_ours_changes_no_floor(manager_of: Make) -> None:
    async def thinks(step: Step, state: State, provider: object) -> None:
        await step.phase("submitted")
        await step.phase("thinking hard")  # type: ignore[arg-type]

    async with manager_of(words(), processor=thinks) as manager:
        stream = await manager.create()
        events = stream.events("*")
        await stream.emit(LifecycleEvent("paused"))  # type: ignore[arg-type]
        await stream.process(said("hi"))
        await stream.aclose()

        kinds = [(event.kind, event.data.get("floor")) async for event in events]
    floors = [("floor", "thinking"), ("floor", "listening")]
    assert [("utterance", None), *floors, ("ended", None)] == kinds


async def test_a_watcher_that_cannot_judge_an_event_goes_without_it_and_says_so_once(
    manager_of: Make, caplog: pytest.LogCaptureFixture
) -> None:
    def picky(event: OutputEvent) -> str | None:
        if event.kind == "ping":
            raise KeyError("floor")
        return told(event)

    async with manager_of(ScriptedProvider([Text("x")])) as manager:
        stream = await manager.create()
        first = stream.hub.sequence
        one = stream.hub.subscribe_as(picky, overflow=DropNewest(lambda _: True))
        other = stream.subscribe("ping", overflow="block")
        with caplog.at_level(logging.ERROR):
            for _ in range(3):
                await stream.emit(Ping())
            await stream.process(said("hi"))
        assert 1 == len(caplog.records)
        backlog: Backlog[Numbered[str]] = Backlog(items=100, weight=10_000)
        resumed = stream.hub.follow(picky, backlog=backlog, gap=str, after=first)
        assert 2 == len(caplog.records)
        assert [await anext(one) for _ in range(2)] == ["turn_complete", "submitted"]
        assert resumed is not None
        assert "turn_complete" == (await anext(resumed)).item
        assert 3 == len(other)


# -- whatever happens

deeds = st.lists(
    st.tuples(
        st.sampled_from(["submit", "process", "cancel", "interrupt", "emit", "read", "read"]),
        st.sampled_from([0.0, 0.01, 0.2]),
    ),
    max_size=20,
)


async def treat(todo: list[tuple[str, float]], buffer: int, asleep_too: bool) -> tuple[Any, ...]:
    provider = ScriptedProvider([TextDelta("a"), TextDelta("b"), 0.01, Text("c")], [ValueError("boom")], [FOREVER])
    async with Manager(MemoryThreads(), provider, lambda _: Step()) as manager:
        stream = await manager.create()
        reader, seen = stream.subscribe(buffer=buffer, overflow="block"), list[OutputEvent]()
        faithful = stream.subscribe(buffer=100_000)
        asleep = stream.subscribe(buffer=buffer, overflow="block") if asleep_too else None
        items = []
        async with anyio.create_task_group() as tasks:

            async def read() -> None:
                async for event in reader:
                    seen.append(event)
                    await anyio.sleep(0.003)

            async def emit() -> None:
                with suppress(SessionError):
                    await stream.emit(Ping())

            tasks.start_soon(read)
            for number, (deed, wait_s) in enumerate(todo):
                await anyio.sleep(wait_s)
                if deed in ("submit", "process"):
                    items.append(stream.enqueue(UserMessageEvent("x", EventContext(event_id=f"m{number}"))))
                elif deed == "cancel":
                    stream.cancel()
                elif deed == "interrupt":
                    items.append(stream.enqueue(InterruptEvent(EventContext(event_id=f"i{number}"))))
                elif deed == "emit":
                    tasks.start_soon(emit)
                elif asleep is not None and len(asleep):
                    await anext(asleep)
            with anyio.fail_after(20):
                await stream.aclose()
        events = [event async for event in faithful]
    return items, events, seen


@settings(max_examples=100)
@given(todo=deeds, buffer=st.integers(1, 4), asleep_too=st.booleans())
def test_whatever_is_done_everybody_is_answered_and_who_reads_misses_no_end(
    run_virtually: Callable[..., Any], todo: list[tuple[str, float]], buffer: int, asleep_too: bool
) -> None:
    items, events, seen = run_virtually(treat, todo, buffer, asleep_too)

    assert all(item.over for item in items)
    kept = [told(event) for event in events if event.kind in ("lifecycle", "error", "turn_complete")]
    assert kept == [told(event) for event in seen if event.kind in ("lifecycle", "error", "turn_complete")]
    ends = [e.context.event_id for e in events if isinstance(e, LifecycleEvent) and e.phase == "done"]
    assert len(ends) == len(set(ends))
