"""A thread that is deleted while a stream has it open: the stream ends, as nothing in it could be kept."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from discussion_helper.text import (
    JsonThreads,
    Manager,
    MemoryThreads,
    ProcessError,
    SaveError,
    SessionClosedError,
    SessionNotFoundError,
    SqliteThreads,
    Step,
    TextDelta,
    UserMessageEvent,
)
from discussion_helper.text.providers import ScriptedProvider

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Real threads take part: loops on real time."""
    return str(request.param)


@asynccontextmanager
async def stores(kind: str, path: Path) -> AsyncIterator[tuple[Any, Any]]:
    """Two that see the same threads; the second may be the first."""
    if kind == "memory":
        memory = MemoryThreads()
        yield memory, memory
    elif kind == "json":
        async with JsonThreads(path / "threads") as store:
            yield store, store
    else:
        async with SqliteThreads(path / "t.sqlite") as one, SqliteThreads(path / "t.sqlite") as other:
            yield one, other


@pytest.mark.parametrize("kind", ["sqlite", "json", "memory"])
async def test_its_stream_ends_with_the_next_message(kind: str, tmp_path: Path) -> None:
    async with stores(kind, tmp_path) as (store, other):
        provider = ScriptedProvider([TextDelta("Yes.")])
        async with Manager(store, provider, lambda _: Step()) as manager:
            stream = await manager.create()
            await stream.process(UserMessageEvent("hi"))
            assert await other.delete(stream.id)
            events, phases = stream.events("ended"), stream.subscribe("error", "lifecycle")
            with pytest.raises(ProcessError, match="was deleted") as failed:
                await stream.process(UserMessageEvent("And?"))
            await stream.wait()

            assert isinstance(failed.value.__cause__, SaveError)
            assert ["error", "lifecycle"] == [event.kind async for event in phases]
            assert ["ended"] == [event.kind async for event in events]
            assert 1 == len(provider.states)
            with pytest.raises(SessionClosedError):
                stream.submit(UserMessageEvent("Again?"))
            with pytest.raises(SessionNotFoundError):
                manager.get(stream.id)


async def test_what_waits_behind_it_is_answered(tmp_path: Path) -> None:
    gate = anyio.Event()
    async with stores("sqlite", tmp_path) as (store, other):
        provider = ScriptedProvider([gate, TextDelta("Yes.")])
        async with Manager(store, provider, lambda _: Step()) as manager:
            stream = await manager.create()
            first, second = stream.enqueue(UserMessageEvent("one")), stream.enqueue(UserMessageEvent("two"))
            await provider.asked()
            await other.delete(stream.id)
            gate.set()
            with pytest.raises(ProcessError, match="was deleted"):
                await first.answer_of()
            with pytest.raises(SessionClosedError):
                await second.answer_of()
            assert not stream.busy
