"""The interpreter of a command that holds a talk: what is set, for how long, and when it may collect again."""

import gc
import sys
from argparse import Namespace
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from discussion_helper.commands import talk
from discussion_helper.commands.interpreter import SWITCH_S, PromptInterpreter
from discussion_helper.session import Session
from discussion_helper.settings import Settings
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice


@pytest.fixture(autouse=True)
def own_interpreter() -> Iterator[None]:
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)
    gc.enable()
    gc.unfreeze()


class Loading:
    """A part whose warm-up takes until it is told."""

    def __init__(self, error: Exception | None = None) -> None:
        self.begun, self.done = anyio.Event(), anyio.Event()
        self.error = error

    async def warmup(self) -> None:
        self.begun.set()
        await self.done.wait()
        if self.error is not None:
            raise self.error


def collects() -> tuple[bool, bool]:
    """Whether it collects, and whether it leaves anything alone."""
    return gc.isenabled(), gc.get_freeze_count() > 0


def test_threads_switch_sooner_while_it_is_entered_and_as_before_afterwards() -> None:
    before = sys.getswitchinterval()

    inside = 0.0

    def broken() -> None:
        nonlocal inside
        with PromptInterpreter(switch_s=0.002):
            inside = sys.getswitchinterval()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken()
    assert inside == pytest.approx(0.002)
    assert before == sys.getswitchinterval()


def test_nothing_is_collected_until_it_is_settled_and_what_was_there_then_never() -> None:
    with PromptInterpreter() as interpreter:
        assert (False, False) == collects()
        interpreter.settle()
        assert (True, True) == collects()
        frozen = gc.get_freeze_count()
        interpreter.settle()
        assert frozen == gc.get_freeze_count()

    assert (True, False) == collects()


def test_one_that_is_never_settled_collects_again_once_it_is_left() -> None:
    with PromptInterpreter():
        pass

    assert (True, False) == collects()


def test_who_wants_no_collections_at_all_gets_none() -> None:
    gc.disable()

    with PromptInterpreter() as interpreter:
        interpreter.settle()
        assert not gc.isenabled()

    assert not gc.isenabled()


@pytest.mark.anyio
async def test_it_settles_with_the_last_warm_up_also_if_one_fails() -> None:
    slow, broken = Loading(), Loading(ValueError("no such model"))
    with PromptInterpreter() as interpreter:
        interpreter.watch(slow, broken, object())
        broken.done.set()
        with pytest.raises(ValueError, match="no such model"):
            await broken.warmup()
        assert (False, False) == collects()
        slow.done.set()
        await slow.warmup()
        assert (True, True) == collects()


def test_without_anything_to_load_it_settles_at_once() -> None:
    with PromptInterpreter() as interpreter:
        interpreter.watch(object())
        assert (True, True) == collects()


@pytest.mark.anyio
async def test_a_talk_that_is_watched_settles_it_when_its_parts_are_loaded() -> None:
    part = Loading()
    voice: Any = SilentVoice()
    voice.warmup = part.warmup
    session = Session(ScriptedListener([], stays_open=True), EchoResponder(), voice)

    @asynccontextmanager
    async def opener(settings: Settings) -> AsyncIterator[Any]:
        yield SimpleNamespace(session=session)

    with PromptInterpreter() as interpreter:
        async with interpreter.watching(opener)(Settings()) as talk:
            talk.session.start()
            await part.begun.wait()
            assert (False, False) == collects()
            part.done.set()
            await anyio.wait_all_tasks_blocked()
            assert (True, True) == collects()
            await talk.session.stop()


def test_the_command_talk_holds_its_talk_so_and_leaves_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before, inside = sys.getswitchinterval(), list[object]()

    def held(arguments: Namespace, opener: object) -> int:
        inside[:] = sys.getswitchinterval(), collects()
        return 3

    monkeypatch.setattr(talk, "hold_talk", held)

    assert talk.run(Namespace()) == 3
    assert [pytest.approx(SWITCH_S), (False, False)] == inside
    assert (before, (True, False)) == (sys.getswitchinterval(), collects())
