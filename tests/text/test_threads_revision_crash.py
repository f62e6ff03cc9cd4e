"""A talk that is killed between a turn and what takes its place: its file can be read, and has the turn once."""

import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from discussion_helper.text.spoken import SpokenThread
from discussion_helper.text.threads.durable import DurableThreads
from discussion_helper.types import SpokenUtterance

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("kind", ["json", "sqlite"])]

PROGRAM = Path(__file__).with_name("revising_child.py")
THREAD = "the_thread"
Opened = Callable[[str, Path], DurableThreads]
Stored = Callable[[str, Path], Awaitable[list[str]]]


@pytest.fixture
def anyio_backend() -> str:
    """Processes take part: a loop on real time."""
    return "asyncio"


@pytest.fixture
def stored(opened: Opened) -> Stored:
    """What the user said, as a talk that goes on reads it."""

    async def read(kind: str, path: Path) -> list[str]:
        async with opened(kind, path) as store:
            messages = SpokenThread(store, await store.get(THREAD)).messages()
        return [message["content"] for message in messages if message["role"] == "user"]

    return read


@pytest.fixture
async def path(opened: Opened, kind: str, tmp_path: Path) -> Path:
    """Of a store with the thread."""
    path = tmp_path / "store"
    async with opened(kind, path) as store:
        await store.create(thread_id=THREAD)
    return path


async def test_killed_between_the_two_it_is_as_it_was_said_first_and_can_go_on(
    kind: str, path: Path, opened: Opened, stored: Stored, killed: Callable[..., list[str]]
) -> None:
    assert ["said 0"] == killed(0.0, PROGRAM, kind, str(path), THREAD, "stop")
    assert ["turn 0"] == await stored(kind, path)

    async with opened(kind, path) as store:  # whoever goes on with the talk
        thread = SpokenThread(store, await store.get(THREAD))
        await thread.append(SpokenUtterance("user", "turn 0, all of it", revises="turn 0"))
    assert ["turn 0, all of it"] == await stored(kind, path)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("rounds", [2, pytest.param(20, marks=pytest.mark.slow)])
async def test_killed_at_any_moment_a_turn_is_as_before_or_as_revised_and_never_twice(
    kind: str, rounds: int, path: Path, opened: Opened, stored: Stored, killed: Callable[..., list[str]]
) -> None:
    moments = random.Random(5)
    for _ in range(rounds):
        told = killed(moments.uniform(0.0, 0.1), PROGRAM, kind, str(path), THREAD)
        check(await stored(kind, path), [line.split() for line in told])
        async with opened(kind, path) as store:
            await store.delete(THREAD)
            await store.create(thread_id=THREAD)


def check(texts: list[str], told: list[list[str]]) -> None:
    """Each once, in order; all but the last one revised, and that one if it was told so."""
    numbers = [int(text.split(",")[0].removeprefix("turn ")) for text in texts]
    assert list(range(len(texts))) == numbers
    revised = [text.endswith(", all of it") for text in texts]
    assert all(revised[:-1])
    said, done = (1 + max((int(n) for what, n in told if what == word), default=-1) for word in ("said", "revised"))
    assert len(texts) - said in (0, 1)  # the last one may have been stored and not told
    assert sum(revised) - done in (0, 1)
