"""An asyncio loop that ends while tasks have yet to begin: nothing is left that nobody awaited."""

import asyncio
import gc
import warnings
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from discussion_helper.event_loop import start_in
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice, VirtualTimeLoop


class AheadVoice(SilentVoice):
    """Gets sentences ready while it speaks."""

    async def prepare(self, sentence: str) -> None:
        await anyio.lowlevel.checkpoint()


def left_by(*mains: Callable[[], Coroutine[Any, Any, object]]) -> list[str]:
    """What Python warns of when each has ended, with its loop, and what was left is gone."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for main in mains:
            with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
                runner.run(main())
        gc.collect()  # once: beside a whole suite it takes a third of a second
    return [str(warning.message) for warning in told]


def test_a_session_can_be_left_at_every_step() -> None:
    floors: set[str] = set()

    async def talk(steps: int) -> None:
        listener = ScriptedListener(["One.", "Two."], stays_open=True)
        session = Session(listener, EchoResponder(2), AheadVoice(0.01)).start()
        for _ in range(steps):
            await asyncio.sleep(0)
            floors.add(session.floor.value)

    assert [] == left_by(*(partial(talk, steps) for steps in range(120)))
    assert {"idle", "listening", "thinking", "speaking"} == floors


def test_a_task_that_never_began_is_not_made() -> None:
    made: list[str] = []

    async def child(name: str) -> None:
        made.append(name)
        await anyio.sleep_forever()

    async def parent() -> None:
        async with anyio.create_task_group() as tasks:
            start_in(tasks, child, "first")
            await asyncio.sleep(0)
            start_in(tasks, child, "second")
            for task in asyncio.all_tasks():
                task.cancel()

    async def main() -> None:
        with pytest.raises(asyncio.CancelledError):
            await asyncio.create_task(parent())

    assert [] == left_by(main)
    assert ["first"] == made


@pytest.mark.anyio
async def test_what_is_started_is_a_child_like_any_other() -> None:
    done: list[tuple[str, str | None]] = []

    async def child(name: str) -> None:
        await anyio.lowlevel.checkpoint()
        done.append((name, anyio.get_current_task().name))

    async def fails() -> None:
        raise ValueError("it fails")

    async with anyio.create_task_group() as tasks:
        start_in(tasks, child, "one")
        start_in(tasks, child, "two")
    assert ["one", "two"] == sorted(name for name, _ in done)
    assert all(name is not None and name.endswith("child") for _, name in done)
    with pytest.raises(ExceptionGroup) as caught:
        async with anyio.create_task_group() as tasks:
            start_in(tasks, fails)
    assert caught.group_contains(ValueError, match="it fails")
