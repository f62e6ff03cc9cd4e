"""The chat as a whole: its owner on fakes, and a program in a terminal."""

import os
import re
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from prompt_toolkit.data_structures import Size
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from discussion_helper.commands.chat_owner import ChatOwner
from discussion_helper.commands.chat_request import ChatRequest, going_on
from discussion_helper.errors import EndpointUnreachable, SettingError
from discussion_helper.settings import Settings
from discussion_helper.text.artifacts import Text, TextDelta
from discussion_helper.text.manager import Manager
from discussion_helper.text.providers.scripted import FOREVER, ScriptedProvider
from discussion_helper.text.state import Turn
from discussion_helper.text.step import Step
from discussion_helper.text.stream import Stream
from discussion_helper.text.threads.memory import MemoryThreads
from discussion_helper.text_app import Texts

if TYPE_CHECKING:
    from tests.responder.conftest import Exchange

LIMIT_S = 4.0
"""The limit is 2 s; the machine of a test may be busy."""


class LastResort:
    def __init__(self) -> None:
        self.armed: list[int] = []

    def arm(self, code: int) -> None:
        self.armed.append(code)

    def disarm(self) -> None:
        pass


class Screen(DummyOutput):
    """What is drawn, as it is drawn, and a moment at which something must have been."""

    def __init__(self) -> None:
        self.text = ""
        self.changed = anyio.Event()

    def get_size(self) -> Size:
        return Size(rows=24, columns=80)

    def write(self, data: str) -> None:
        self.text += data

    def flush(self) -> None:
        changed, self.changed = self.changed, anyio.Event()
        changed.set()

    async def until(self, text: str) -> None:
        while text not in self.text:
            await self.changed.wait()


class Chat:
    """A chat on fakes: `hold` holds it, with what `keyboard` gives."""

    def __init__(
        self, provider: ScriptedProvider, *turns: Turn, warmup: Exception | None = None, tip: str = ""
    ) -> None:
        self.provider = provider
        self.screen = Screen()
        self.last_resort = LastResort()
        self.store = MemoryThreads()
        self.stream: Stream | None = None
        self._turns = turns
        self._warmup = warmup
        self._tip = tip

    @asynccontextmanager
    async def open(self, request: ChatRequest) -> AsyncIterator[tuple[Texts, Stream]]:
        async with Manager(self.store, self.provider, lambda _: Step()) as manager:
            self.stream = await manager.create()
            for turn in self._turns:
                await self.store.append(self.stream.thread, turn)
            yield Texts(manager, self.store, "a script", self._warm), self.stream

    async def _warm(self) -> None:
        if self._warmup is not None:
            raise self._warmup

    async def _suggest(self, settings: Settings) -> str:
        return self._tip

    async def hold(self, keyboard: Any) -> int:
        owner = ChatOwner(
            lambda: nullcontext(self.screen),
            InMemoryHistory,
            self.last_resort,
            opener=self.open,
            suggest=self._suggest,
            keyboard=keyboard,
        )
        return await owner.hold(ChatRequest(Settings()))


async def held(chat: Chat, *steps: tuple[str, str]) -> int:
    """The exit code, after typing the second of each step when the first has been drawn."""
    codes: list[int] = []
    with create_pipe_input() as keyboard:

        async def hold() -> None:
            codes.append(await chat.hold(keyboard))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hold)
            for text, keys in steps:
                await chat.screen.until(text)
                keyboard.send_text(keys)
    return codes[0]


@pytest.mark.anyio
async def test_a_chat_from_its_first_word_to_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    chat = Chat(ScriptedProvider([TextDelta("Good day.")]))
    code = await held(chat, ("a script", "Hello?\r"), ("Good day.", "\x11"))

    assert (0, [0]) == (code, chat.last_resort.armed)
    assert chat.stream is not None
    assert ["Hello?", "Good day."] == [turn.text for turn in chat.stream.thread.state.turns]
    assert f"Go on with: discussion-helper chat --thread={chat.stream.id}\n" == capsys.readouterr().err


def test_how_to_go_on_names_what_was_given_and_no_more() -> None:
    usual = "Go on with: discussion-helper chat --thread=-id"
    assert usual == going_on(ChatRequest(Settings(system="It is kept.")), "-id")
    given = ChatRequest(Settings(llm="a b@http://127.0.0.1:9/v1"), Path("a file"))
    assert f"{usual} --llm='a b@http://127.0.0.1:9/v1' --store='a file'" == going_on(given, "-id")


@pytest.mark.anyio
async def test_earlier_turns_are_there_at_once() -> None:
    chat = Chat(ScriptedProvider(), Turn("user", (Text("Long ago."),)), Turn("assistant", (Text("Yesterday."),)))

    assert 0 == await held(chat, ("Long ago.", ""), ("Yesterday.", "\x11"))


@pytest.mark.anyio
async def test_leaving_cancels_the_answer_and_keeps_the_message() -> None:
    chat = Chat(ScriptedProvider([TextDelta("Well"), FOREVER]))
    began = anyio.current_time()

    assert 130 == await held(chat, ("ready", "Hello?\r"), ("Well", "\x03"))
    assert anyio.current_time() - began < LIMIT_S
    assert chat.stream is not None
    assert (True, 0) == (chat.stream.ended, chat.provider.running)
    assert ["Hello?"] == [turn.text for turn in (await chat.store.get(chat.stream.id)).state.turns]


@pytest.mark.anyio
async def test_what_is_in_the_way_and_what_could_be_better_is_told_at_the_start() -> None:
    chat = Chat(ScriptedProvider(), warmup=EndpointUnreachable("Nobody is there.", fix="Start it."), tip="Use that.")

    assert 0 == await held(chat, ("! Nobody is there. Start it.", ""), ("Use that.", "\x11"))


@pytest.mark.anyio
async def test_a_chat_that_cannot_begin_fails() -> None:
    class Closed(Chat):
        @asynccontextmanager
        async def open(self, request: ChatRequest) -> AsyncIterator[tuple[Texts, Stream]]:
            raise SettingError("llm: no.", fix="Use another.")
            yield

    with pytest.raises(SettingError, match="llm: no"):
        await Closed(ScriptedProvider()).hold(None)


# -- in a terminal


if sys.platform != "win32":
    import pty
    import termios

    class Terminal:
        """A program in a terminal of its own."""

        def __init__(self, *arguments: str, **environment: str) -> None:
            self.read = ""
            self._screen, line = pty.openpty()
            termios.tcsetwinsize(self._screen, (24, 80))
            self.process = subprocess.Popen(
                [sys.executable, "-m", "discussion_helper", "chat", *arguments],
                env=os.environ | environment | {"TERM": "xterm"},
                start_new_session=True,
                **dict.fromkeys(("stdin", "stdout", "stderr"), line),  # type: ignore[call-overload]
            )
            os.close(line)

        def type(self, keys: str) -> None:
            os.write(self._screen, keys.encode())

        async def until(self, text: str) -> None:
            while text not in self.read:
                assert await self._more(), self.read

        async def code(self) -> int:
            """Wait for its end, however much it still draws."""
            while await self._more():
                pass
            os.close(self._screen)
            return await anyio.to_thread.run_sync(self.process.wait)

        async def _more(self) -> bool:
            try:
                await anyio.wait_readable(self._screen)
                chunk = os.read(self._screen, 65536)
            except OSError:  # it has left, as Linux tells it
                return False
            self.read += chunk.decode(errors="replace")
            return bool(chunk)


@pytest.mark.anyio
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
async def test_the_last_thread_shows_what_was_said_before_the_process_died(fake_endpoint: Any, tmp_path: Path) -> None:
    checked = [anyio.Event(), anyio.Event()]

    async def answer(exchange: "Exchange") -> None:
        if exchange.path.endswith("/models"):  # each program looks whether anybody is there
            await exchange.respond(200, b'{"object": "list", "data": []}')
            next(event for event in checked if not event.is_set()).set()
            return
        await exchange.begin()
        await exchange.delta(content="Well, zebra")
        await exchange.gone.wait()

    async with fake_endpoint() as server:
        server.answer = answer
        options = ["--llm", f"m@{server.base_url}", "--store", str(tmp_path / "threads.sqlite")]
        folders = {"XDG_DATA_HOME": str(tmp_path), "HOME": str(tmp_path)}
        first = Terminal(*options, **folders)
        await first.until("ready")
        await checked[0].wait()
        first.type("Remember the okapi.\r")
        await first.until("zebra")
        first.process.kill()
        assert -9 == await first.code()

        second = Terminal(*options, "--last", **folders)
        await second.until("okapi")
        await second.until("not answered")
        await checked[1].wait()
        second.type("And?\r")
        await second.until("zebra")
        second.type("\x11")
        began = time.monotonic()
        assert 0 == await second.code()
        assert time.monotonic() - began < LIMIT_S
        assert re.search(r"Go on with: .* --thread=\S+ --llm=\S+ --store=\S+threads.sqlite", second.read)
