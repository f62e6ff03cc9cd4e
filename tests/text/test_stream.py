"""A stream: events in, events out, and every way in which one can end."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest

from discussion_helper.errors import DiscussionError, SettingError
from discussion_helper.events import Subscription
from discussion_helper.text.artifacts import Text, TextDelta, ToolCall, ToolResult
from discussion_helper.text.errors import (
    EventDroppedError,
    ProcessError,
    QueueFullError,
    SaveError,
    SessionClosedError,
    StoreBusyError,
    TurnCancelledError,
    TurnLimitError,
    UnsupportedEventError,
)
from discussion_helper.text.inputs import EventContext, InterruptEvent, UserMessageEvent
from discussion_helper.text.manager import Manager
from discussion_helper.text.outputs import (
    ArtifactEvent,
    ErrorEvent,
    LifecycleEvent,
    OutputEvent,
    PropertiesEvent,
    TurnCompleteEvent,
)
from discussion_helper.text.providers.scripted import FOREVER, Cue, ScriptedProvider
from discussion_helper.text.state import State, Turn
from discussion_helper.text.step import Step
from discussion_helper.text.stream import Stream
from discussion_helper.text.threads.base import Thread
from discussion_helper.text.threads.memory import MemoryThreads
from discussion_helper.types import Floor

pytestmark = pytest.mark.anyio

Make = Callable[..., Manager]
HELLO: tuple[Cue, ...] = (TextDelta("Hello"), TextDelta(" world"))


def said(content: str, provenance: str = "") -> UserMessageEvent:
    return UserMessageEvent(content, EventContext(provenance))


def echo() -> ScriptedProvider:
    return ScriptedProvider(HELLO)


def block() -> ScriptedProvider:
    """Never answers a message with "block" in it."""

    def answer(state: State) -> Iterable[Cue]:
        assert state.last is not None
        return [FOREVER] if "block" in state.last.text else HELLO

    return ScriptedProvider(answer)


def told(event: OutputEvent) -> str:
    """An event in a word or two."""
    match event:
        case TurnCompleteEvent(turn):
            return f"turn_complete {turn.role}"
        case LifecycleEvent(phase):
            return phase
    return event.kind


async def all_of(events: Subscription[OutputEvent]) -> list[OutputEvent]:
    return [event async for event in events]


async def words_of(events: Subscription[OutputEvent]) -> list[str]:
    return [told(event) async for event in events]


def texts_of(stream: Stream, role: str = "user") -> list[str]:
    return [turn.text for turn in stream.thread.state.turns if turn.role == role]


async def until_phase(events: Subscription[OutputEvent], phase: str) -> None:
    while told(await anext(events)) != phase:
        pass


@dataclass(slots=True)
class Caller:
    """Processes an event in a task of its own; how that ended."""

    stream: Stream
    event: Any
    limit_s: float = 1e6
    error: BaseException | None = None
    gave_up: bool = False
    over: anyio.Event = field(default_factory=anyio.Event)

    async def run(self) -> None:
        try:
            with anyio.move_on_after(self.limit_s) as scope:
                await self.stream.process(self.event)
            self.gave_up = scope.cancelled_caught
        except DiscussionError as error:
            self.error = error
        finally:
            self.over.set()


EXCHANGE = [
    "turn_complete user",
    "submitted",
    "streaming",
    "text_delta",
    "text_delta",
    "text",
    "turn_complete assistant",
    "done",
]


async def test_one_message_makes_exactly_these_events(manager_of: Make) -> None:
    async with manager_of(echo()) as manager:
        stream = await manager.create()
        events = stream.subscribe()
        await stream.process(said("hi"))
        await stream.aclose()

        assert EXCHANGE == await words_of(events)
        assert [("user", "hi"), ("assistant", "Hello world")] == [(t.role, t.text) for t in stream.thread.state.turns]
        stored = await manager.store.get(stream.id)
        assert stored.state.turns == stream.thread.state.turns


async def test_every_producer_keeps_its_order_and_one_worker_works(manager_of: Make) -> None:
    gate = anyio.Event()
    provider = ScriptedProvider([gate, *HELLO])
    async with manager_of(provider) as manager:
        stream = await manager.create()

        async def produce(name: int) -> None:
            for number in range(10):
                stream.submit(said(f"{name}-{number}"))
                await anyio.lowlevel.checkpoint()

        async with anyio.create_task_group() as tasks:
            for name in range(10):
                tasks.start_soon(produce, name)
        gate.set()
        await stream.process(said("flush"))

        texts = texts_of(stream)
        assert (101, "flush", 1) == (len(texts), texts[-1], provider.most)
        for name in range(10):
            assert [f"{name}-{n}" for n in range(10)] == [text for text in texts if text.startswith(f"{name}-")]


async def test_what_one_task_submits_without_waiting_is_processed_in_call_order(manager_of: Make) -> None:
    async with manager_of(echo()) as manager:
        stream = await manager.create()
        for number in range(100):
            stream.submit(said(str(number)))
        await stream.process(said("flush"))

        assert [*map(str, range(100)), "flush"] == texts_of(stream)


async def test_an_interrupt_cancels_the_turn_and_answers_everybody_it_drops(manager_of: Make) -> None:
    provider = block()
    async with manager_of(provider) as manager, anyio.create_task_group() as tasks:
        stream = await manager.create()
        events = stream.subscribe("lifecycle", "error")
        stream.submit(said("block"))
        await provider.asked()
        stream.submit(said("q1"))
        stream.submit(said("q2"))
        caller = Caller(stream, said("q3"))
        tasks.start_soon(caller.run)
        await anyio.wait_all_tasks_blocked()

        stream.submit(InterruptEvent(EventContext("x")))
        await caller.over.wait()
        await stream.process(said("again"))
        await stream.aclose()

        seen = await all_of(events)
        assert ["submitted", "cancelled", "done", "done", "submitted", "streaming", "done"] == [told(e) for e in seen]
        assert "x" == seen[3].context.provenance
        assert isinstance(caller.error, EventDroppedError)
        assert ["block", "again"] == texts_of(stream)


async def test_processing_an_interrupt_waits_until_all_is_quiet(manager_of: Make) -> None:
    provider = block()
    async with manager_of(provider) as manager:
        stream = await manager.create()
        stream.submit(said("block"))
        await provider.asked()
        await stream.process(InterruptEvent())

        assert (0, 0, Floor.LISTENING) == (provider.running, stream.pending, stream.floor)
        assert not await stream.interrupt()


async def test_cancel_ends_the_running_turn_alone(manager_of: Make) -> None:
    provider = block()
    async with manager_of(provider) as manager, anyio.create_task_group() as tasks:
        stream = await manager.create()
        callers = [Caller(stream, said("block 1")), Caller(stream, said("block 2"))]
        for caller in callers:
            tasks.start_soon(caller.run)
            await anyio.wait_all_tasks_blocked()
        for number, caller in enumerate(callers, 1):
            await provider.asked(number)
            stream.cancel()
            await caller.over.wait()
        events = stream.subscribe()
        stream.cancel()
        await stream.aclose()

        assert [TurnCancelledError, TurnCancelledError] == [type(caller.error) for caller in callers]
        assert [] == await all_of(events)
        assert ["block 1", "block 2"] == texts_of(stream)


async def test_a_caller_who_stops_waiting_leaves_the_turn_running(manager_of: Make) -> None:
    provider = block()
    async with manager_of(provider) as manager, anyio.create_task_group() as tasks:
        stream = await manager.create()
        events = stream.subscribe("lifecycle")
        caller = Caller(stream, said("block"), limit_s=0.01)
        tasks.start_soon(caller.run)
        await caller.over.wait()

        assert (True, 1) == (caller.gave_up, provider.running)
        stream.cancel()
        await until_phase(events, "cancelled")
        await stream.aclose()
        assert ["block"] == texts_of(stream)


async def test_a_caller_who_stops_waiting_leaves_its_event_in_the_queue(manager_of: Make) -> None:
    gate = anyio.Event()
    provider = ScriptedProvider([gate, *HELLO])
    async with manager_of(provider) as manager, anyio.create_task_group() as tasks:
        stream = await manager.create()
        stream.submit(said("first"))
        await provider.asked()
        caller = Caller(stream, said("second"), limit_s=0.01)
        tasks.start_soon(caller.run)
        await caller.over.wait()
        events = stream.subscribe()
        gate.set()
        await stream.process(said("third"))
        await stream.aclose()

        words = await words_of(events)
        assert EXCHANGE == words[words.index("done") + 1 :][: len(EXCHANGE)]
        assert ["first", "second", "third"] == texts_of(stream)


async def test_a_caller_may_have_its_event_withdrawn_with_its_wait(manager_of: Make) -> None:
    gate = anyio.Event()
    provider = ScriptedProvider([gate, *HELLO])
    async with manager_of(provider) as manager:
        stream = await manager.create()
        stream.submit(said("first"))
        await provider.asked()
        with anyio.move_on_after(0.01) as scope:
            await stream.process(said("second"), withdraw_on_cancel=True)
        gate.set()
        await stream.process(said("third"))

        assert scope.cancelled_caught
        assert ["first", "third"] == texts_of(stream)


async def test_closing_answers_everybody_and_watchers_see_the_end(manager_of: Make) -> None:
    provider = block()
    async with manager_of(provider) as manager, anyio.create_task_group() as tasks:
        stream = await manager.create()
        callers = [Caller(stream, said(f"block {number}")) for number in range(3)]
        for caller in callers:
            tasks.start_soon(caller.run)
            await anyio.wait_all_tasks_blocked()
        events = stream.subscribe()
        await stream.aclose()
        await stream.aclose()
        for caller in callers:
            await caller.over.wait()

        assert ["cancelled", "done"] == await words_of(events)
        assert [TurnCancelledError, SessionClosedError, SessionClosedError] == [type(c.error) for c in callers]
        assert stream.id in str(callers[1].error)
        assert (0, stream.id) == (provider.running, (await manager.store.get(stream.id)).id)


async def test_a_closed_stream_takes_nothing_and_gives_nothing(manager_of: Make) -> None:
    provider = echo()
    async with manager_of(provider) as manager:
        stream = await manager.create()
        await stream.aclose()

        with pytest.raises(SessionClosedError, match=stream.id):
            stream.submit(said("x"))
        with pytest.raises(SessionClosedError):
            await stream.process(said("x"))
        with pytest.raises(SessionClosedError):
            await stream.emit(LifecycleEvent("done"))
        with pytest.raises(SessionClosedError):
            stream.cancel()
        assert not await stream.interrupt()
        assert [] == await all_of(stream.subscribe())
        assert ["ended"] == [event.kind async for event in stream.events("*")]
        assert [] == provider.states


@dataclass(frozen=True, slots=True)
class Ping:
    kind: str = "ping"
    context: EventContext = field(default_factory=EventContext)


async def test_an_event_of_an_unknown_kind_fails_and_the_stream_lives(manager_of: Make) -> None:
    provider = echo()
    async with manager_of(provider) as manager:
        stream = await manager.create()
        events = stream.subscribe()
        with pytest.raises(ProcessError, match="process event: unsupported event kind: ping") as failed:
            await stream.process(Ping())
        stream.submit(Ping())
        await stream.process(InterruptEvent())
        await stream.aclose()

        assert isinstance(failed.value.__cause__, UnsupportedEventError)
        words = await words_of(events)
        assert ["error", "done", "done"] == words[:3] or ["error", "done", "error", "done", "done"] == words
        assert [] == provider.states


async def test_a_provider_that_fails_fails_its_turn_alone(manager_of: Make) -> None:
    broken = ValueError("no more words")
    provider = ScriptedProvider([TextDelta("par"), broken], HELLO)
    async with manager_of(provider) as manager:
        stream = await manager.create()
        events = stream.subscribe()
        with pytest.raises(ProcessError) as failed:
            await stream.process(said("hi"))
        assert ["user"] == [turn.role for turn in stream.thread.state.turns]
        await stream.process(said("again"))
        await stream.aclose()

        assert failed.value.__cause__ is broken
        failing = ["turn_complete user", "submitted", "streaming", "text_delta", "text", "error", "done"]
        assert [*failing, *EXCHANGE] == await words_of(events)


class _Unsaved(MemoryThreads):
    async def save(self, thread: Thread) -> None:
        raise OSError("the disk is full")


class _Unstored(MemoryThreads):
    """Fails to store the turns of one role."""

    def __init__(self, role: str, error: SaveError | StoreBusyError) -> None:
        super().__init__()
        self._role = role
        self._error = error

    async def append(self, thread: Thread, turn: Turn) -> None:
        if turn.role == self._role:
            raise self._error
        await super().append(thread, turn)


async def test_a_store_that_cannot_save_fails_the_event_after_the_answer_was_told(manager_of: Make) -> None:
    async with manager_of(echo(), store=_Unsaved()) as manager:
        stream = await manager.create()
        events = stream.subscribe()
        with pytest.raises(ProcessError, match="process event: save thread: the disk is full") as failed:
            await stream.process(said("hi"))
        await stream.aclose()

        assert isinstance(failed.value.__cause__, SaveError)
        assert [*EXCHANGE[:-1], "error", "done"] == await words_of(events)


async def test_a_user_turn_that_cannot_be_stored_is_not_answered(manager_of: Make) -> None:
    provider = echo()
    async with manager_of(provider, store=_Unstored("user", SaveError("the disk is full"))) as manager:
        stream = await manager.create()
        events = stream.subscribe()
        with pytest.raises(ProcessError) as failed:
            await stream.process(said("hi"))
        await stream.aclose()

        assert isinstance(failed.value.__cause__, SaveError)
        assert ["error", "done"] == await words_of(events)
        assert ([], 0) == (provider.states, len(stream.thread.state))


@pytest.mark.parametrize(
    "error", [SaveError("the disk is full"), StoreBusyError("another process wrote to the thread.")]
)
async def test_an_answer_that_cannot_be_stored_was_told_and_fails_the_event(
    manager_of: Make, error: SaveError | StoreBusyError
) -> None:
    async with manager_of(echo(), store=_Unstored("assistant", error)) as manager:
        stream = await manager.create()
        events = stream.subscribe()
        with pytest.raises(ProcessError) as failed:
            await stream.process(said("hi"))
        await stream.aclose()

        assert failed.value.__cause__ is error
        assert [*EXCHANGE[:-1], "error", "done"] == await words_of(events)
        assert ["Hello world"] == texts_of(stream, "assistant")


async def test_a_watcher_who_does_not_read_loses_the_newest_and_nobody_waits(manager_of: Make) -> None:
    async with manager_of(echo()) as manager:
        stream = await manager.create()
        idle, reader = stream.subscribe(), stream.subscribe(buffer=1000)
        for _ in range(150):
            await stream.emit(Ping())
        await stream.aclose()

        assert (150, 100, 50) == (len(await all_of(reader)), len(await all_of(idle)), idle.dropped)


async def test_a_watcher_who_must_not_miss_anything_is_waited_for(manager_of: Make) -> None:
    async with manager_of(echo()) as manager, anyio.create_task_group() as tasks:
        stream = await manager.create()
        watcher = stream.subscribe("ping", overflow="block")
        for _ in range(100):
            await stream.emit(Ping())
        emitted = anyio.Event()

        async def emit_one_more() -> None:
            await stream.emit(Ping())
            emitted.set()

        tasks.start_soon(emit_one_more)
        await anyio.wait_all_tasks_blocked()
        assert not emitted.is_set()
        await anext(watcher)
        await emitted.wait()
        assert 0 == watcher.dropped


async def test_closing_waits_for_no_watcher(manager_of: Make) -> None:
    provider = ScriptedProvider([TextDelta("word ")] * 300)
    async with manager_of(provider, overflow="block") as manager:
        stream = await manager.create()
        asleep = stream.subscribe()
        stream.submit(said("hi"))
        await anyio.wait_all_tasks_blocked()
        assert 100 == len(asleep)
        with anyio.fail_after(1):
            await stream.aclose()


async def test_what_tells_the_state_of_affairs_pushes_out_deltas(manager_of: Make) -> None:
    provider = ScriptedProvider([TextDelta("word ")] * 300)
    async with manager_of(provider) as manager:
        stream = await manager.create()
        asleep = stream.subscribe()
        await stream.process(said("hi"))
        await stream.aclose()

        words = await words_of(asleep)
        assert ["turn_complete user", "submitted", "streaming"] == words[:3]
        assert ["turn_complete assistant", "done"] == words[-2:]
        assert (100, 206) == (len(words), asleep.dropped)


class _Tool:
    """A handler that runs every tool call: its result is the arguments, in capitals."""

    async def handle_turn(self, step: Step, state: State, turn: Turn) -> None:
        for call in turn.artifacts:
            if isinstance(call, ToolCall):
                await step.submit(state, "tool", ToolResult(call.id, call.arguments.upper()))


async def test_a_tool_loop_keeps_its_provenance_to_the_end(manager_of: Make) -> None:
    provider = ScriptedProvider([ToolCall("1", "shout", "hey")], [TextDelta("ok")])
    system = Turn("system", (Text("Be brief."),))

    def prompted(state: State) -> State:
        return state.with_turns(before=[system])

    async with manager_of(provider, step=lambda _: Step(handlers=[_Tool()], transforms=[prompted])) as manager:
        stream = await manager.create()
        events = stream.subscribe()
        await stream.process(said("hi", "slack-1"))
        await stream.aclose()

        seen = await all_of(events)
        phases = [told(event) for event in seen if event.kind == "lifecycle"]
        assert ["submitted", "streaming", "submitted", "streaming", "done"] == phases
        assert {"slack-1"} == {event.context.provenance for event in seen}
        assert 1 == len({event.context.event_id for event in seen})
        assert ["user", "assistant", "tool", "assistant"] == [turn.role for turn in stream.thread.state.turns]
        roles = [[turn.role for turn in state.turns] for state in provider.states]
        assert [["system", "user"], ["system", "user", "assistant", "tool"]] == roles


async def test_a_model_that_goes_round_in_circles_is_stopped(manager_of: Make) -> None:
    provider = ScriptedProvider([ToolCall("1", "shout", "hey")])
    async with manager_of(provider, step=lambda _: Step(handlers=[_Tool()])) as manager:
        stream = await manager.create()
        with pytest.raises(ProcessError) as failed:
            await stream.process(said("hi"))

        assert isinstance(failed.value.__cause__, TurnLimitError)


async def test_a_stream_can_be_closed_from_inside_its_own_turn(manager_of: Make) -> None:
    streams: list[Stream] = []

    async def closes(step: Step, state: State, artifact: object) -> None:
        if isinstance(artifact, Text) and artifact.content == "Hello world":
            await streams[0].aclose()

    async with manager_of(echo(), step=lambda _: Step(handlers=[closes])) as manager:
        streams.append(await manager.create())
        with anyio.fail_after(1), pytest.raises(ProcessError):
            await streams[0].process(said("hi"))
        with anyio.fail_after(1):
            await streams[0].wait()
        assert streams[0].ended


async def test_a_processor_that_ignores_its_cancellation_is_left_behind(manager_of: Make) -> None:
    release = anyio.Event()
    late: list[BaseException] = []

    async def stubborn(step: Step, state: State, provider: object) -> None:
        with anyio.CancelScope(shield=True):
            await release.wait()
        for deed in (step.phase("streaming"), step.submit(state, "assistant", Text("too late"))):
            try:
                await deed
            except BaseException as error:
                late.append(error)

    async with manager_of(echo(), processor=stubborn) as manager:
        stream = await manager.create()
        events = stream.subscribe()
        stream.submit(said("hi"))
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(6):
            await stream.aclose()
        release.set()
        await anyio.wait_all_tasks_blocked()

        assert ["turn_complete user", "cancelled", "done"] == await words_of(events)
        assert [TurnCancelledError, TurnCancelledError] == [type(error) for error in late]
        assert ["user"] == [turn.role for turn in stream.thread.state.turns]


async def test_a_processor_that_returns_though_it_was_cancelled_has_done_its_work(manager_of: Make) -> None:
    async def finishes(step: Step, state: State, provider: object) -> None:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.5)

    async with manager_of(echo(), processor=finishes) as manager, anyio.create_task_group() as tasks:
        stream = await manager.create()
        events = stream.subscribe("lifecycle", "error")
        caller = Caller(stream, said("hi"))
        tasks.start_soon(caller.run)
        await anyio.wait_all_tasks_blocked()
        stream.cancel()
        await caller.over.wait()
        await stream.aclose()

        assert (None, ["done"]) == (caller.error, await words_of(events))


async def test_an_inbox_has_a_bound(manager_of: Make) -> None:
    provider = block()
    async with manager_of(provider, inbox=3) as manager:
        stream = await manager.create()
        stream.submit(said("block"))
        await provider.asked()
        for number in range(3):
            stream.submit(said(str(number)))
        with pytest.raises(QueueFullError, match="3 events wait"):
            stream.submit(said("one too many"))
        stream.submit(InterruptEvent())
        await stream.process(said("again"))

        assert ["block", "again"] == texts_of(stream)


async def test_an_observer_that_fails_is_logged_and_the_turn_goes_on(
    manager_of: Make, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(event: OutputEvent) -> None:
        raise RuntimeError("out of order")

    async with manager_of(echo(), step=lambda _: Step(on_emit=[broken])) as manager:
        stream = await manager.create()
        await stream.process(said("hi"))

        assert ["Hello world"] == texts_of(stream, "assistant")
        assert "out of order" in caplog.text


async def test_a_session_like_any_other(manager_of: Make) -> None:
    async with manager_of(ScriptedProvider([0.5, *HELLO])) as manager:
        stream = await manager.create()
        events, fine = stream.events(), stream.events("*")
        await stream.process(said("hi"))
        state = stream.state
        conversation = await stream.stop()

        assert manager.sessions.get(stream.id) is stream
        assert conversation == await stream.wait()
        assert [("user", "hi"), ("agent", "Hello world")] == [(u.speaker, u.text) for u in conversation.utterances]
        assert 0.5 == pytest.approx(conversation.timings[0].think_s)
        assert ("text", "listening", True) == (state["kind"], state["floor"], state["running"])
        coarse = [(e.kind, e.data.get("floor") or e.data.get("text", "")) async for e in events]
        exchange = [("utterance", "hi"), ("floor", "thinking"), ("floor", "speaking"), ("utterance", "Hello world")]
        assert [*exchange, ("floor", "listening"), ("ended", "")] == coarse
        deltas = [event.data["delta"] async for event in fine if event.kind == "partial"]
        assert ["Hello", " world"] == deltas


async def test_a_cancelled_turn_gives_the_floor_back_once_and_says_why(manager_of: Make) -> None:
    async with manager_of(ScriptedProvider([TextDelta("par"), FOREVER])) as manager:
        stream = await manager.create()
        events, deltas = stream.events(), stream.subscribe("text_delta")
        stream.submit(said("hi"))
        await anext(deltas)
        stream.submit(InterruptEvent())
        await stream.process(InterruptEvent())
        await stream.stop()
        floors = [(event.data["floor"], event.data.get("reason")) async for event in events if event.kind == "floor"]

    assert [("thinking", None), ("speaking", None), ("listening", "cancelled")] == floors


@pytest.mark.parametrize("call", ["events", "subscribe"])
async def test_what_no_watcher_can_be_is_refused(manager_of: Make, call: str) -> None:
    async with manager_of(echo()) as manager:
        stream = await manager.create()
        with pytest.raises(SettingError, match="kinds" if call == "events" else "overflow"):
            stream.events("flor") if call == "events" else stream.subscribe(overflow="explode")


async def test_a_failed_turn_shows_as_a_decision_to_who_follows_sessions(manager_of: Make) -> None:
    async with manager_of(ScriptedProvider([ValueError("no more words")])) as manager:
        stream = await manager.create()
        events = stream.events("decision")
        with pytest.raises(ProcessError):
            await stream.process(said("hi"))
        await stream.aclose()

        assert [{"what": "failed", "why": "no more words"}] == [event.data async for event in events]


async def test_errors_are_one_line(manager_of: Make) -> None:
    assert "a b" == ErrorEvent(ValueError("a\n  b")).message
    assert "ValueError" == ErrorEvent(ValueError()).message


async def test_the_first_delta_is_there_before_the_turn_goes_on_and_a_flood_can_be_cancelled(manager_of: Make) -> None:
    def flood(_: State) -> Iterable[Cue]:
        while True:
            yield TextDelta("word ")

    async with manager_of(ScriptedProvider(flood)) as manager:
        stream = await manager.create()
        deltas = stream.subscribe("text_delta")
        caller_over = anyio.Event()

        async def call() -> None:
            with pytest.raises(TurnCancelledError):
                await stream.process(said("hi"))
            caller_over.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await anext(deltas)
            stream.cancel()
            for _ in range(100):  # time stands still while something always runs
                await anyio.lowlevel.checkpoint()
            assert caller_over.is_set()


@dataclass(frozen=True, slots=True)
class Citation:
    """A kind of one's own."""

    page: int
    kind: str = "citation"


async def test_an_artifact_of_another_kind_is_shown_and_not_kept(manager_of: Make) -> None:
    async with manager_of(ScriptedProvider([TextDelta("see "), Citation(7), TextDelta("there")])) as manager:
        stream = await manager.create()
        events = stream.subscribe("citation")
        await stream.process(said("hi"))
        await stream.process(said("again"))
        await stream.aclose()

        assert ["citation", "citation"] == await words_of(events)
        assert ["see there", "see there"] == texts_of(stream, "assistant")


@pytest.mark.parametrize("wrong", ["a text", Text(5), ToolCall(None, "x")])  # type: ignore[arg-type]
async def test_what_is_no_artifact_fails_its_turn_and_no_other(manager_of: Make, wrong: Any) -> None:
    async with manager_of(ScriptedProvider([wrong, 0.0], HELLO)) as manager:
        stream = await manager.create()
        with pytest.raises(ProcessError) as failed:
            await stream.process(said("hi"))
        await stream.process(said("again"))

        assert isinstance(failed.value.__cause__, SettingError)
        assert ["Hello world"] == texts_of(stream, "assistant")[-1:]
        assert "utterances" in stream.state


@pytest.mark.parametrize("name", ["buffer", "inbox"])
@pytest.mark.parametrize("value", [-1, 0, True, 1.5, "many"])
async def test_a_bound_is_a_number_from_one(manager_of: Make, name: str, value: Any) -> None:
    async with manager_of(echo(), **{name: value}) as manager:
        with pytest.raises(SettingError, match=name):
            await manager.create()
    async with manager_of(echo()) as manager:
        stream = await manager.create()
        with pytest.raises(SettingError, match="buffer"):
            stream.subscribe(buffer=value)
        await stream.process(said("hi"))


async def test_waiting_for_itself_is_refused_inside_a_turn(manager_of: Make) -> None:
    streams: list[Stream] = []
    errors: list[str] = []

    async def asks_itself(step: Step, state: State, provider: object) -> None:
        for waiting in (streams[0].process(said("me")), streams[0].wait()):
            with pytest.raises(RuntimeError) as refused:
                await waiting
            errors.append(str(refused.value))

    async with manager_of(echo(), processor=asks_itself) as manager:
        streams.append(await manager.create())
        with anyio.fail_after(1):
            await streams[0].process(said("hi"))

    assert ["process()", "wait()"] == [error.partition(" ")[0] for error in errors]


async def test_another_thread_is_told_to_come_back(manager_of: Make) -> None:
    refused: list[BaseException] = []

    def elsewhere(stream: Stream) -> None:
        for call in (lambda: stream.submit(said("hi")), stream.subscribe, stream.cancel):
            try:
                call()
            except RuntimeError as error:
                refused.append(error)

    async with manager_of(echo()) as manager:
        stream = await manager.create()
        thread = threading.Thread(target=elsewhere, args=(stream,))
        thread.start()
        thread.join()
        await stream.process(said("hi"))

        assert 3 == len(refused)
        assert ["hi"] == texts_of(stream)


async def test_a_watcher_who_must_not_miss_anything_holds_no_cancelled_turn_up(manager_of: Make) -> None:
    async with manager_of(ScriptedProvider([TextDelta("word ")] * 300), overflow="block") as manager:
        stream = await manager.create()
        asleep = stream.subscribe()
        async with anyio.create_task_group() as tasks:
            caller = Caller(stream, said("hi"))
            tasks.start_soon(caller.run)
            await anyio.wait_all_tasks_blocked()
            with anyio.fail_after(1):
                stream.cancel()
                await caller.over.wait()

        assert isinstance(caller.error, TurnCancelledError)
        await stream.aclose()
        assert 0 == asleep.dropped
        assert ["text_delta", "cancelled", "done"] == (await words_of(asleep))[-3:]


class _Ends(BaseException):
    """What no Exception is."""


@pytest.mark.parametrize("when", ["turn_complete", "lifecycle"])
async def test_an_observer_that_raises_what_is_no_exception_harms_nobody(manager_of: Make, when: str) -> None:
    def broken(event: OutputEvent) -> None:
        if event.kind == when:
            raise _Ends

    async with manager_of(echo(), step=lambda _: Step(on_emit=[broken])) as manager:
        stream = await manager.create()
        await stream.process(said("hi"))
        await stream.process(said("again"))

        assert ["hi", "again"] == texts_of(stream)


@pytest.mark.parametrize("event", ["a text", None, 5, UserMessageEvent("hi", None)])  # type: ignore[arg-type]
async def test_what_is_no_event_is_refused_at_once(manager_of: Make, event: Any) -> None:
    async with manager_of(echo()) as manager:
        stream = await manager.create()
        with pytest.raises(SettingError, match="event"):
            stream.submit(event)
        with pytest.raises(SettingError, match="content"):
            UserMessageEvent(5)  # type: ignore[arg-type]
        await stream.process(said("hi"))


async def test_cancelling_between_two_events_cancels_neither(manager_of: Make) -> None:
    async with manager_of(echo()) as manager:
        stream = await manager.create()
        for content in ("one", "two"):
            await stream.process(said(content))
            stream.cancel()
            await anyio.wait_all_tasks_blocked()
            stream.cancel()

        assert ["one", "Hello world", "two", "Hello world"] == [turn.text for turn in stream.thread.state.turns]
        assert not stream.busy


async def test_whatever_is_emitted_comes_with_the_streams_time_and_the_callers_own_stays_as_it_is(
    manager_of: Make,
) -> None:
    context = EventContext("somebody")
    given: list[Any] = [
        TurnCompleteEvent(Turn("user", (Text("hi"),)), context),
        ArtifactEvent(TextDelta("x"), context),
        LifecycleEvent("done", context),
        ErrorEvent(OSError("broken"), context),
        PropertiesEvent({"model": "none"}, context),
    ]
    async with manager_of(echo()) as manager:
        stream = await manager.create()
        output = stream.subscribe()
        await anyio.sleep(2.0)
        for event in given:
            await stream.emit(event)
        had = [await anext(output) for _ in given]

    assert [type(event)(getattr(event, event.__match_args__[0]), context, 2.0) for event in given] == had
    assert {0.0} == {event.at_s for event in given}


async def test_an_answer_can_be_asked_for_after_the_end(manager_of: Make) -> None:
    async with manager_of(echo()) as manager:
        stream = await manager.create()
        item = stream.enqueue(said("hi"))
        await stream.process(InterruptEvent())

        await item.answered.wait()
        with pytest.raises(EventDroppedError):
            await item.answer_of()
