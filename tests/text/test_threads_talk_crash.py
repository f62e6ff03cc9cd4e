"""A talk that is kept, and killed: its file can be read, and nothing that was told is missing from it."""

import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from discussion_helper.text.state import Turn
from discussion_helper.text.threads.sqlite import SqliteThreads

pytestmark = pytest.mark.anyio

PROGRAM = Path(__file__).with_name("talk_child.py")
THREAD = "the_thread"


@pytest.fixture
def anyio_backend() -> str:
    """Processes take part: a loop on real time."""
    return "asyncio"


async def stored(path: Path) -> list[Turn]:
    async with SqliteThreads(path) as store:
        return list((await store.get(THREAD)).state.turns)


def told_until_killed(path: Path, after_s: float) -> list[tuple[str, str]]:
    """Speaker and text of what the talk told; it is killed so long after the first."""
    command = [sys.executable, str(PROGRAM), str(path), THREAD]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        killer = threading.Timer(after_s, process.kill)
        killer.start()
        lines += process.stdout
        killer.join()
    return [(parts[0], parts[1]) for line in lines if line.endswith("\n") and (parts := line.rstrip("\n").split("\t"))]


async def check(path: Path, moments: random.Random, rounds: int) -> None:
    async with SqliteThreads(path) as store:
        await store.create(thread_id=THREAD)
    for _ in range(rounds):
        before = len(await stored(path))
        told = told_until_killed(path, moments.uniform(0.0, 0.2))
        turns = (await stored(path))[before:]
        said = [("user" if turn.role == "user" else "agent", turn.text) for turn in turns]

        # A user's turn is told and then stored, and nothing is answered before it is: one turn may be told alone.
        common = min(len(told), len(said))
        assert said[:common] == told[:common]
        assert len(told) <= len(said) + 1
        assert all(role == ("user", "agent")[number % 2] for number, (role, _) in enumerate(said))


@pytest.mark.timeout(120)
async def test_a_kept_talk_that_is_killed_can_be_read_and_misses_no_answered_turn(tmp_path: Path) -> None:
    await check(tmp_path / "talks.sqlite", random.Random(11), rounds=6)


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_the_same_at_a_hundred_moments(tmp_path: Path) -> None:
    await check(tmp_path / "talks.sqlite", random.Random(12), rounds=100)
