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

from discussion_helper.commands import serve_parts, talk
from discussion_helper.commands.interpreter import SWITCH_S, PromptInterpreter
from discussion_helper.session import Session
from discussion_helper.settings import Settings
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.web import Wish


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


def test_it_may_be_entered_again_and_by_several() -> None:
    before, interpreter = sys.getswitchinterval(), PromptInterpreter(switch_s=0.002)
    for _ in range(2):
        with interpreter:
            with interpreter:
                interpreter.settle()
            assert pytest.approx(0.002) == sys.getswitchinterval()
            assert (True, True) == collects()
        assert before == sys.getswitchinterval()
        assert (True, False) == collects()

    interpreter.settle()
    assert (True, False) == collects()


def opener_of(*parts: Loading) -> Any:
    """Opens talks, each of which has the next of these to load, if any."""
    left = list(parts)

    @asynccontextmanager
    async def opener(settings: Settings) -> AsyncIterator[Any]:
        voice: Any = SilentVoice()
        if left:
            voice.warmup = left.pop(0).warmup
        session = Session(ScriptedListener([], stays_open=True), EchoResponder(), voice)
        yield SimpleNamespace(session=session)
        await session.stop()

    return opener


@pytest.mark.anyio
async def test_a_talk_that_is_watched_settles_it_when_its_parts_are_loaded() -> None:
    part = Loading()
    async with PromptInterpreter().watching(opener_of(part))(Settings()) as talk:
        talk.session.start()
        await part.begun.wait()
        assert (False, False) == collects()
        part.done.set()
        await anyio.wait_all_tasks_blocked()
        assert (True, True) == collects()
    assert (True, False) == collects()


@pytest.mark.anyio
async def test_a_talk_without_anything_to_load_settles_it_at_once() -> None:
    async with PromptInterpreter().watching(opener_of())(Settings()) as talk:
        talk.session.start()
        await anyio.wait_all_tasks_blocked()
        assert (True, True) == collects()


@pytest.mark.anyio
async def test_a_talk_whose_parts_fail_or_that_is_left_first_leaves_nothing_of_it() -> None:
    part = Loading(ValueError("no such model"))
    watching = PromptInterpreter().watching(opener_of(part, Loading()))
    async with watching(Settings()) as talk:
        talk.session.start()
        part.done.set()
        with pytest.raises(ValueError, match="no such model"):
            await talk.session.wait()
    assert (True, False) == collects()
    async with watching(Settings()) as talk:
        talk.session.start()
    assert (True, False) == collects()


@pytest.mark.anyio
async def test_each_session_by_voice_that_is_served_has_it_so(monkeypatch: pytest.MonkeyPatch) -> None:
    part = Loading()
    before, opener = sys.getswitchinterval(), opener_of(part)
    monkeypatch.setattr(serve_parts, "open_talk", lambda settings, *, thread: opener(settings))
    parts = serve_parts.ServeParts(Settings())
    assert (True, False) == collects()

    async with parts.open_voice(Wish()) as session:
        assert pytest.approx(SWITCH_S) == sys.getswitchinterval()
        session.start()
        part.done.set()
        await session.ready()
        await anyio.wait_all_tasks_blocked()
        assert (True, True) == collects()
    assert (before, (True, False)) == (sys.getswitchinterval(), collects())


def test_the_command_talk_holds_its_talk_so_and_leaves_nothing_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before, inside = sys.getswitchinterval(), list[object]()

    def held(arguments: Namespace, opener: object) -> int:
        inside[:] = sys.getswitchinterval(), collects()
        return 3

    monkeypatch.setattr(talk, "hold_talk", held)

    assert talk.run(Namespace()) == 3
    assert [pytest.approx(SWITCH_S), (False, False)] == inside
    assert (before, (True, False)) == (sys.getswitchinterval(), collects())
