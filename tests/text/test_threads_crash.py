"""Processes that are killed while they store turns, and two processes on one store."""

import random
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from discussion_helper.text.artifacts import Text
from discussion_helper.text.errors import SaveError, StoreBusyError
from discussion_helper.text.state import Turn
from discussion_helper.text.threads.durable import DurableThreads
from discussion_helper.text.threads.json_files import JsonThreads
from discussion_helper.text.threads.sqlite import SqliteThreads

pytestmark = pytest.mark.anyio

PROGRAM = Path(__file__).with_name("threads_child.py")
ROUNDS = 6
THREAD = "the_thread"
Opened = Callable[[str, Path], DurableThreads]
Stored = Callable[..., Awaitable[list[str]]]


@pytest.fixture
def anyio_backend() -> str:
    """Processes and real threads take part: a loop on real time."""
    return "asyncio"


@pytest.fixture
def stored(opened: Opened) -> Stored:
    """The texts of a thread."""

    async def read(kind: str, path: Path) -> list[str]:
        async with opened(kind, path) as store:
            return [turn.text for turn in (await store.get(THREAD)).state.turns]

    return read


@contextmanager
def child(kind: str, path: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, str(PROGRAM), kind, str(path), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def lines_of(process: subprocess.Popen[str]) -> Iterator[str]:
    assert process.stdout is not None
    return (line.strip() for line in process.stdout)


@pytest.mark.parametrize("kind", ["json", "sqlite"])
async def test_what_was_acknowledged_survives_a_kill(
    kind: str, tmp_path: Path, opened: Opened, stored: Stored, killed: Callable[..., list[str]]
) -> None:
    path = tmp_path / "store"
    async with opened(kind, path) as store:
        await store.create(thread_id=THREAD)
    moments = random.Random(7)
    for _ in range(ROUNDS):
        before = len(await stored(kind, path))
        numbers = [int(line) for line in killed(moments.uniform(0.0, 0.15), PROGRAM, kind, str(path), THREAD)]
        assert list(range(before, before + len(numbers))) == numbers
        texts = await stored(kind, path)
        assert [str(number) for number in range(len(texts))] == texts  # each once, in order, no hole
        assert len(texts) - before - len(numbers) in (0, 1)  # the last one may have been stored and not told
    if kind == "json":
        assert {".lock", f"{THREAD}.json"} >= {file.name for file in path.iterdir()}


async def test_a_folder_is_one_process_alone_until_it_dies(tmp_path: Path, stored: Stored) -> None:
    async with JsonThreads(tmp_path) as store:
        await store.create(thread_id=THREAD)
        with pytest.raises(StoreBusyError, match="another store has this folder"):
            await JsonThreads(tmp_path).__aenter__()
    with child("json", tmp_path, THREAD) as process:
        next(lines_of(process))
        with pytest.raises(StoreBusyError, match="Close it"):
            await JsonThreads(tmp_path).__aenter__()
        process.kill()
        process.wait()
        assert "0" == (await stored("json", tmp_path))[0]


async def test_turns_of_another_process_are_noticed_and_kept(tmp_path: Path, stored: Stored) -> None:
    path = tmp_path / "threads.db"
    async with SqliteThreads(path) as store:
        thread = await store.create(thread_id=THREAD)
        await store.append(thread, Turn("user", (Text("0"),)))
        with child("sqlite", path, THREAD, "2") as process:
            assert ["1", "2", "closing"] == list(lines_of(process))
        for _ in range(2):
            with pytest.raises((StoreBusyError, SaveError), match="another process") as caught:
                await store.append(thread, Turn("user", (Text("lost?"),)))
            assert "open it again" in caught.value.fix.lower()
            assert ["0"] == [turn.text for turn in thread.state.turns]
        thread = await store.get(THREAD)
        assert ["0", "1", "2"] == [turn.text for turn in thread.state.turns]
        await store.append(thread, Turn("user", (Text("3"),)))
    assert ["0", "1", "2", "3"] == await stored("sqlite", path)


async def test_two_processes_write_to_one_database(tmp_path: Path) -> None:
    path, ids = tmp_path / "threads.db", ["thread_one", "thread_two"]
    async with SqliteThreads(path) as store:
        for thread_id in ids:
            await store.create(thread_id=thread_id)
        with child("sqlite", path, ids[0], "60") as one, child("sqlite", path, ids[1], "60") as two:
            assert 61 == len(list(lines_of(one))) == len(list(lines_of(two)))
        for thread_id in ids:
            turns = (await store.get(thread_id)).state.turns
            assert [str(number) for number in range(60)] == [turn.text for turn in turns]
