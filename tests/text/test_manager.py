"""The manager: one stream for each thread, sinks, the end of all."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

import anyio
import pytest

from discussion_helper.registry import Sessions
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.text.artifacts import TextDelta
from discussion_helper.text.errors import (
    SaveError,
    SessionError,
    SessionNotFoundError,
    ThreadNotFoundError,
)
from discussion_helper.text.inputs import UserMessageEvent
from discussion_helper.text.manager import Manager
from discussion_helper.text.outputs import OutputEvent
from discussion_helper.text.providers.scripted import FOREVER, ScriptedProvider
from discussion_helper.text.step import Step
from discussion_helper.text.stream import Stream
from discussion_helper.text.threads.base import Thread, checked_id, new_id
from discussion_helper.text.threads.memory import MemoryThreads

pytestmark = pytest.mark.anyio

Make = Callable[..., Manager]


def echo() -> ScriptedProvider:
    return ScriptedProvider([TextDelta("Hello"), TextDelta(" world")])


class Heard:
    """A sink."""

    def __init__(self) -> None:
        self.events: list[tuple[str, OutputEvent]] = []

    async def __call__(self, stream_id: str, event: OutputEvent) -> None:
        await anyio.lowlevel.checkpoint()
        self.events.append((stream_id, event))


async def test_sinks_get_what_they_asked_for_of_every_stream(
    manager_of: Make, caplog: pytest.LogCaptureFixture
) -> None:
    first, second, deltas, seen = Heard(), Heard(), Heard(), list[str]()

    def fails(stream_id: str, event: OutputEvent) -> None:
        seen.append(event.kind)
        raise RuntimeError("a broken sink")

    async with manager_of(echo()) as manager:
        remove = manager.register_sink([], first)
        stream = await manager.create()
        manager.register_sink([], second)
        manager.register_sink([], fails)
        manager.register_sink(["text_delta"], deltas)
        await stream.process(UserMessageEvent("hi"))
        await manager.drain_sinks()

        assert (8, 8, 2, 8) == (len(first.events), len(second.events), len(deltas.events), len(seen))
        assert {stream.id} == {stream_id for stream_id, _ in first.events}
        assert "a broken sink" in caplog.text
        remove()
        remove()
        await stream.process(UserMessageEvent("hi"))
        await manager.drain_sinks()
        assert (8, 16, 4) == (len(first.events), len(second.events), len(deltas.events))


async def test_what_a_stream_gives_at_its_end_reaches_the_sinks(manager_of: Make) -> None:
    sink = Heard()
    provider = ScriptedProvider([FOREVER])
    async with manager_of(provider) as manager:
        manager.register_sink(["lifecycle"], sink)
        stream = await manager.create()
        stream.submit(UserMessageEvent("hi"))
        await provider.asked()

    assert ["submitted", "cancelled", "done"] == [getattr(event, "phase", "") for _, event in sink.events]


async def test_many_attach_to_one_thread_and_get_one_stream(manager_of: Make) -> None:
    made: list[Thread] = []
    store = MemoryThreads()

    async def slowly(thread: Thread) -> Step:
        made.append(thread)
        await anyio.sleep(1)
        return Step()

    thread = await store.create()
    async with manager_of(echo(), store=store, step=slowly) as manager:
        attached: list[Stream] = []

        async def attach() -> None:
            attached.append(await manager.attach(thread.id))

        async with anyio.create_task_group() as tasks:
            for _ in range(50):
                tasks.start_soon(attach)

        assert (50, 1, [thread]) == (len(attached), len({id(stream) for stream in attached}), made)
        assert attached[:1] == manager.list()
        assert manager.get(thread.id) is attached[0]

        await attached[0].process(UserMessageEvent("hi"))
        await manager.close(thread.id)
        assert [] == manager.list()
        with pytest.raises(SessionNotFoundError):
            manager.get(thread.id)
        with pytest.raises(SessionNotFoundError):
            await manager.close(thread.id)
        again = await manager.attach(thread.id)
        assert again is not attached[0]
        assert ["hi", "Hello world"] == [turn.text for turn in again.thread.state.turns]
        with pytest.raises(ThreadNotFoundError):
            await manager.attach("nope")


async def test_attaching_while_the_old_stream_closes_waits_until_it_is_over(manager_of: Make) -> None:
    release, running = anyio.Event(), 0
    most = 0

    async def winds_down(step: Step, state: object, provider: object) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        with anyio.CancelScope(shield=True):
            await release.wait()
        running -= 1

    async with manager_of(echo(), processor=winds_down) as manager, anyio.create_task_group() as tasks:
        old = await manager.create()
        old.submit(UserMessageEvent("hi"))
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(manager.close, old.id)
        await anyio.wait_all_tasks_blocked()
        attached: list[Stream] = []

        async def attach() -> None:
            attached.append(await manager.attach(old.id))
            await attached[0].process(UserMessageEvent("again"))

        tasks.start_soon(attach)
        await anyio.wait_all_tasks_blocked()
        assert [] == attached
        release.set()

    assert (1, True) == (most, attached[0] is not old)


async def test_a_stream_closed_by_itself_is_forgotten_and_can_be_attached_again(manager_of: Make) -> None:
    async with manager_of(echo()) as manager:
        stream = await manager.create()
        await stream.aclose()

        assert [] == manager.list()
        assert manager.sessions.get(stream.id) is stream, "ended sessions stay readable"
        again = await manager.attach(stream.id)
        assert again is manager.sessions.get(stream.id)


@pytest.mark.parametrize("step", [lambda _: Step().claimed(), None])
async def test_a_step_that_cannot_be_made_leaves_no_thread_behind(manager_of: Make, step: Any) -> None:
    def broken(_: Thread) -> Step:
        raise ValueError("no step today")

    async with manager_of(echo(), step=step or broken) as manager:
        with pytest.raises((SessionError, RuntimeError), match=r"no step today|belongs to another stream"):
            await manager.create()

        assert [] == await manager.store.list()
        assert [] == manager.list()


async def test_voice_and_text_are_held_in_one_registry(manager_of: Make) -> None:
    sessions: Sessions[Any] = Sessions()
    async with manager_of(echo(), sessions=sessions) as manager, sessions:
        voice = sessions.add(
            Session(ScriptedListener(["hello"], stays_open=True), EchoResponder(), SilentVoice())
        ).start()
        text = await manager.create()
        text.submit(UserMessageEvent("hi"))
        kinds = [(sessions.get(key).state["kind"], sessions.get(key).started) for key in sessions.ids()]  # type: ignore[union-attr]

        assert [("voice", True), ("text", True)] == kinds
        assert {voice.id, text.id} == set(sessions.ids())
        assert not await text.interrupt() or text.pending == 1


async def test_leaving_the_manager_closes_every_stream(manager_of: Make) -> None:
    provider = ScriptedProvider([FOREVER])
    async with manager_of(provider) as manager:
        streams = [await manager.create() for _ in range(20)]
        for stream in streams:
            stream.submit(UserMessageEvent("hi"))
        await provider.asked(20)

    assert all(stream.ended for stream in streams)
    assert (0, []) == (provider.running, manager.list())


class _Full(MemoryThreads):
    async def create(self, *, thread_id: str | None = None, metadata: dict[str, str] | None = None) -> Thread:
        raise SaveError("the disk is full")


async def test_a_thread_that_cannot_be_stored_opens_no_stream(manager_of: Make) -> None:
    async with manager_of(echo(), store=_Full()) as manager:
        with pytest.raises(SaveError):
            await manager.create()

        assert [] == manager.list()


def test_an_id_is_never_taken_for_an_option() -> None:
    made = {new_id() for _ in range(2000)}

    assert 2000 == len(made)
    assert not [thread_id for thread_id in made if thread_id.startswith("-") or checked_id(thread_id) != thread_id]


async def test_a_sink_that_cancels_itself_ends_no_other(manager_of: Make, caplog: pytest.LogCaptureFixture) -> None:
    heard = Heard()

    async def cancels(stream_id: str, event: OutputEvent) -> None:
        raise asyncio.CancelledError

    async with manager_of(echo()) as manager:
        manager.register_sink([], cancels)
        manager.register_sink([], heard)
        stream = await manager.create()
        await stream.process(UserMessageEvent("hi"))
        await manager.drain_sinks()

        assert 8 == len(heard.events)
        assert "a sink failed" in caplog.text


async def test_a_sink_may_drain_and_close_what_it_is_part_of(manager_of: Make) -> None:
    async with manager_of(echo()) as manager:

        async def closes(stream_id: str, event: OutputEvent) -> None:
            await manager.drain_sinks()
            await manager.aclose()

        manager.register_sink(["turn_complete"], closes)
        stream = await manager.create()
        with anyio.fail_after(1):
            with contextlib.suppress(SessionError):
                await stream.process(UserMessageEvent("hi"))
            await manager.aclose()


async def test_a_closed_manager_opens_nothing(manager_of: Make) -> None:
    async with manager_of(echo()) as manager:
        stream = await manager.create()
    with pytest.raises(SessionError, match="closed"):
        await manager.create()
    with pytest.raises(SessionError, match="closed"):
        await manager.attach(stream.id)
    assert [stream.id] == [info.id for info in await manager.store.list()]


async def test_a_factory_that_gives_no_step_is_named(manager_of: Make) -> None:
    async with manager_of(echo(), step=lambda _: None) as manager:
        with pytest.raises(SessionError, match="create step: the factory gave None"):
            await manager.create()
