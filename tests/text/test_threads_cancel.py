"""Cancellation and failure in the middle of a write: memory and store never differ."""

import asyncio
import random
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from discussion_helper.text.artifacts import Text
from discussion_helper.text.errors import SaveError
from discussion_helper.text.state import Turn
from discussion_helper.text.threads.base import Thread, ThreadInfo
from discussion_helper.text.threads.database import DatabaseShelf
from discussion_helper.text.threads.durable import DurableThreads
from discussion_helper.text.threads.folder import FolderShelf
from discussion_helper.text.threads.shelf import Shelf

pytestmark = pytest.mark.anyio


class Held:
    """A shelf whose writes wait for `go`, and fail with `failure`."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self.begun = anyio.Event()
        self.go = threading.Event()
        self.failure: Exception | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shelf, name)

    def write(self, info: ThreadInfo, start: int, turns: Sequence[bytes]) -> None:
        anyio.from_thread.run_sync(self.begun.set)
        assert self.go.wait(10)
        if self.failure is not None:
            raise self.failure
        self._shelf.write(info, start, turns)


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """Real threads take part: loops on real time."""
    return str(request.param)


@pytest.fixture(params=["json", "sqlite"])
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Any]:
    """Opens the same files again and again."""
    if request.param == "json":
        return lambda: FolderShelf(tmp_path)
    return lambda: DatabaseShelf(str(tmp_path / "threads.db"))


def said(text: str) -> Turn:
    return Turn("user", (Text(text),))


def texts_of(thread: Thread) -> list[str]:
    return [turn.text for turn in thread.state.turns]


async def stored(shelf: Callable[[], Any], thread_id: str) -> list[str]:
    async with DurableThreads(shelf()) as store:
        return texts_of(await store.get(thread_id))


async def test_a_write_that_has_begun_is_finished_though_cancelled(shelf: Callable[[], Any]) -> None:
    held: Any = Held(shelf())
    async with DurableThreads(held) as store:
        thread = await store.create()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(store.append, thread, said("1"))
            await held.begun.wait()
            tasks.cancel_scope.cancel()
            held.go.set()
        assert ["1"] == texts_of(thread)
    assert ["1"] == await stored(shelf, thread.id)


async def test_a_write_that_has_not_begun_is_not_begun_when_cancelled(shelf: Callable[[], Any]) -> None:
    held: Any = Held(shelf())
    async with DurableThreads(held) as store:
        thread, other = await store.create(), await store.create()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(store.append, thread, said("1"))
            await held.begun.wait()
            with anyio.CancelScope() as waiting_for_the_thread:
                waiting_for_the_thread.cancel()
                await store.append(thread, said("2"))
            with anyio.move_on_after(0.01) as waiting_for_the_writer:
                await store.append(other, said("3"))
            held.go.set()
        assert waiting_for_the_thread.cancelled_caught
        assert waiting_for_the_writer.cancelled_caught
        assert ["1"] == texts_of(thread)
        assert [] == texts_of(other)
    assert ["1"] == await stored(shelf, thread.id)
    assert [] == await stored(shelf, other.id)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_the_cancellation_of_asyncio_itself_does_not_tear_a_write_apart(shelf: Callable[[], Any]) -> None:
    held: Any = Held(shelf())
    async with DurableThreads(held) as store:
        thread = await store.create()
        task = asyncio.create_task(store.append(thread, said("1")))
        await held.begun.wait()
        for _ in range(3):
            task.cancel()
            await anyio.lowlevel.checkpoint()
        assert not task.done()
        held.go.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert ["1"] == texts_of(thread)
        await store.append(thread, said("2"))
    assert ["1", "2"] == await stored(shelf, thread.id)


async def test_turns_added_to_memory_during_a_write_come_behind_it(shelf: Callable[[], Any]) -> None:
    held: Any = Held(shelf())
    async with DurableThreads(held) as store:
        thread = await store.create()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(store.append, thread, said("1"))
            await held.begun.wait()
            thread.state.append(said("2"))
            thread.metadata["k"] = "v"
            held.go.set()
        assert ["1", "2"] == texts_of(thread)
        await store.append(thread, said("3"))
    async with DurableThreads(shelf()) as store:
        again = await store.get(thread.id)
        assert (["1", "2", "3"], {"k": "v"}) == (texts_of(again), again.metadata)


async def test_a_write_that_fails_changes_nothing_and_can_be_made_up_for(shelf: Callable[[], Any]) -> None:
    held: Any = Held(shelf())
    held.go.set()
    async with DurableThreads(held) as store:
        thread = await store.create()
        held.failure = SaveError("no space")
        updated = thread.updated_at
        with pytest.raises(SaveError, match="no space"):
            await store.append(thread, said("1"))
        assert (0, updated) == (len(thread.state), thread.updated_at)
        thread.state.append(said("2"))
        with pytest.raises(SaveError, match="no space"):
            await store.save(thread)
        held.failure = None
        await store.save(thread)
    assert ["2"] == await stored(shelf, thread.id)


async def test_closing_waits_for_the_write(shelf: Callable[[], Any]) -> None:
    held: Any = Held(shelf())
    store = await DurableThreads(held).__aenter__()
    thread = await store.create()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(store.append, thread, said("1"))
        await held.begun.wait()
        with anyio.CancelScope() as impatient:
            impatient.cancel()
            threading.Timer(0.02, held.go.set).start()
            await store.aclose()
        assert ["1"] == await stored(shelf, thread.id)
    assert ["1"] == texts_of(thread)


async def test_random_cancellations_leave_memory_and_store_equal(shelf: Callable[[], Any]) -> None:
    moments = random.Random(11)
    async with DurableThreads(shelf()) as store:
        thread = await store.create()

        async def speak(number: int) -> None:
            with anyio.move_on_after(moments.uniform(0.0, 0.05)):
                await store.append(thread, said(str(number)))

        async with anyio.create_task_group() as tasks:
            for number in range(60):
                tasks.start_soon(speak, number)
        await store.append(thread, said("last"))
    spoken = await stored(shelf, thread.id)
    assert texts_of(thread) == spoken
    assert len(set(spoken)) == len(spoken)
    assert "last" == spoken[-1]
