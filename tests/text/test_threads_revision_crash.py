"""A talk that is killed between a turn and what takes its place: its file can be read, and has the turn once."""

import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from discussion_helper.text.spoken import SpokenThread
from discussion_helper.text.threads.durable import DurableThreads
from discussion_helper.text.threads.json_files import JsonThreads
from discussion_helper.text.threads.sqlite import SqliteThreads
from discussion_helper.types import SpokenUtterance

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("kind", ["json", "sqlite"])]

PROGRAM = Path(__file__).with_name("revising_child.py")
THREAD = "the_thread"


@pytest.fixture
def anyio_backend() -> str:
    """Processes take part: a loop on real time."""
    return "asyncio"


def opened(kind: str, path: Path) -> DurableThreads:
    return JsonThreads(path) if kind == "json" else SqliteThreads(path)


async def stored(kind: str, path: Path) -> list[str]:
    """What the user said, as a talk that goes on reads it."""
    async with opened(kind, path) as store:
        messages = SpokenThread(store, await store.get(THREAD)).messages()
    return [message["content"] for message in messages if message["role"] == "user"]


async def created(kind: str, folder: Path) -> Path:
    path = folder / "store"
    async with opened(kind, path) as store:
        await store.create(thread_id=THREAD)
    return path


def killed(kind: str, path: Path, after_s: float, *how: str) -> list[tuple[str, int]]:
    """What a process told that was killed so long after its first word."""
    command = [sys.executable, str(PROGRAM), kind, str(path), THREAD, *how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        killer = threading.Timer(after_s, process.kill)  # SIGKILL, where there are signals
        killer.start()
        lines += process.stdout
        killer.join()
    whole = [line.split() for line in lines if line.endswith("\n")]
    return [(what, int(number)) for what, number in whole]


async def test_killed_between_the_two_it_is_as_it_was_said_first_and_can_go_on(kind: str, tmp_path: Path) -> None:
    path = await created(kind, tmp_path)

    assert [("said", 0)] == killed(kind, path, 0.0, "stop")
    assert ["turn 0"] == await stored(kind, path)

    async with opened(kind, path) as store:  # whoever goes on with the talk
        thread = SpokenThread(store, await store.get(THREAD))
        await thread.append(SpokenUtterance("user", "turn 0, all of it", revises="turn 0"))
    assert ["turn 0, all of it"] == await stored(kind, path)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("rounds", [2, pytest.param(20, marks=pytest.mark.slow)])
async def test_killed_at_any_moment_a_turn_is_as_before_or_as_revised_and_never_twice(
    kind: str, rounds: int, tmp_path: Path
) -> None:
    path, moments = await created(kind, tmp_path), random.Random(5)
    for _ in range(rounds):
        told = killed(kind, path, moments.uniform(0.0, 0.1))
        texts = await stored(kind, path)
        check(texts, told)
        async with opened(kind, path) as store:
            await store.delete(THREAD)
            await store.create(thread_id=THREAD)


def check(texts: list[str], told: list[tuple[str, int]]) -> None:
    """Each once, in order; all but the last one revised, and that one if it was told so."""
    numbers = [int(text.split(",")[0].removeprefix("turn ")) for text in texts]
    assert list(range(len(texts))) == numbers
    revised = [text.endswith(", all of it") for text in texts]
    assert all(revised[:-1])
    said, done = (1 + max((n for what, n in told if what == word), default=-1) for word in ("said", "revised"))
    assert len(texts) - said in (0, 1)  # the last one may have been stored and not told
    assert sum(revised) - done in (0, 1)
