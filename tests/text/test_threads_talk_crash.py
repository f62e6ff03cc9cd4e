"""A talk that is kept, and killed: its file can be read, and nothing that was told is missing from it."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from discussion_helper.text.state import Turn
from discussion_helper.text.threads.sqlite import SqliteThreads

pytestmark = pytest.mark.anyio

PROGRAM = Path(__file__).with_name("talk_child.py")
THREAD = "the_thread"
Killed = Callable[..., list[str]]


@pytest.fixture
def anyio_backend() -> str:
    """Processes take part: a loop on real time."""
    return "asyncio"


async def stored(path: Path) -> list[Turn]:
    async with SqliteThreads(path) as store:
        return list((await store.get(THREAD)).state.turns)


async def check(path: Path, moments: random.Random, rounds: int, killed: Killed) -> None:
    async with SqliteThreads(path) as store:
        await store.create(thread_id=THREAD)
    for _ in range(rounds):
        before = len(await stored(path))
        lines = killed(moments.uniform(0.0, 0.2), PROGRAM, str(path), THREAD)
        told = [(speaker, text) for speaker, text, *_ in (line.split("\t") for line in lines)]
        turns = (await stored(path))[before:]
        said = [("user" if turn.role == "user" else "agent", turn.text) for turn in turns]

        # A user's turn is told and then stored, and nothing is answered before it is: one turn may be told alone.
        common = min(len(told), len(said))
        assert said[:common] == told[:common]
        assert len(told) <= len(said) + 1
        assert all(role == ("user", "agent")[number % 2] for number, (role, _) in enumerate(said))


@pytest.mark.timeout(120)
async def test_a_kept_talk_that_is_killed_can_be_read_and_misses_no_answered_turn(
    tmp_path: Path, killed: Killed
) -> None:
    await check(tmp_path / "talks.sqlite", random.Random(11), 6, killed)


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_the_same_at_a_hundred_moments(tmp_path: Path, killed: Killed) -> None:
    await check(tmp_path / "talks.sqlite", random.Random(12), 100, killed)
