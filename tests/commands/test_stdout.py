"""Standard output of every command, in processes of their own: nobody reads it, it is closed, or the disk is full."""

import argparse
import importlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import anyio
import pytest

from discussion_helper.command_line import COMMANDS
from discussion_helper.commands.stdout import BROKEN_PIPE
from discussion_helper.text.artifacts import Text
from discussion_helper.text.state import Turn
from discussion_helper.text.threads.sqlite import SqliteThreads

if TYPE_CHECKING:
    from tests.responder.conftest import FakeEndpoint

if sys.platform == "win32":
    pytest.skip("a shell's >&- and /dev/full are of other systems", allow_module_level=True)

pytestmark = pytest.mark.anyio

HOSTILE = "a\x1b[2J\x7f\u2028b\udcff"
"""The last one is what Python makes of a byte that is no text."""
REAL = [sys.executable, "-m", "discussion_helper"]
TALK, BENCH = ([sys.executable, str(Path(__file__).with_name(f"{name}_program.py"))] for name in ("talk", "bench"))
NAMED = ["--store", "{store}"]
CLIPS = ["--clips", str(Path(__file__).parents[2] / "audio")]
HELLO = (
    b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", '
    b'"capabilities": {}, "clientInfo": {"name": "a test", "version": "1"}}}\n'
)
"""To which a server of the Model Context Protocol has something to say."""


@dataclass(frozen=True)
class Case:
    """A command that has something to print: `{...}` in its words stands for what is prepared for the test."""

    words: list[str]
    program: list[str] = field(default_factory=lambda: REAL)
    code: int = 0
    """What it ends with where all goes well."""

    def __str__(self) -> str:
        action = "-".join(word for word in self.words[1:2] if word.isalpha())
        return "-".join(filter(None, [self.words[0], action, "json" if "--json" in self.words else ""]))


PRINTING = [
    Case(["talk", "ending", "--json"], TALK),
    Case(["chat", "--pipe", "--quiet", "--llm", "m@{endpoint}", *NAMED]),
    Case(["chat", "--pipe", "--quiet", "--llm", "m@{endpoint}", *NAMED, "--json"]),
    Case(["threads", "list", *NAMED]),
    Case(["threads", "list", *NAMED, "--json"]),
    Case(["threads", "show", "--last", *NAMED, "--json"]),
    Case(["threads", "delete", "a-thread", *NAMED, "--json"]),
    Case(["rehearse", HOSTILE, "--sentences", "0"]),
    Case(["rehearse", HOSTILE, "--sentences", "0", "--json"]),
    Case(["serve", "--port", "0", *NAMED]),
    Case(["mcp"]),
    Case(["replay", "{talk}"]),
    Case(["replay", "{talk}", "--json"]),
    Case(["devices"]),
    Case(["devices", "--json"]),
    Case(["models", "list"]),
    Case(["doctor", "--no-sound", "--no-speed"], code=1),
    Case(["doctor", "--no-sound", "--no-speed", "--json"], code=1),
    Case(["bench", "--output", "{folder}", *CLIPS], BENCH),
    Case(["bench", "--output", "{folder}", *CLIPS, "--json"], BENCH),
]
JSON = [case for case in PRINTING if "--json" in case.words]
ONE_EACH = list({case.words[0]: case for case in PRINTING}.values())
"""The last case of each command: what standard output fails with makes no other difference."""


def parsers_with_json(command: str) -> Iterator[str]:
    """The words that lead to each parser of a command that takes --json."""
    whole = argparse.ArgumentParser()
    importlib.import_module(f"discussion_helper.commands.{command}").add_parser(whole.add_subparsers())
    todo = [("", whole)]
    while todo:
        words, parser = todo.pop()
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                todo += [(f"{words} {name}".strip(), each) for name, each in action.choices.items()]
            elif "--json" in action.option_strings:
                yield words


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_that_there_is_is_tried_here(command: str) -> None:
    assert command in {case.words[0] for case in PRINTING}
    missing = [
        words
        for words in parsers_with_json(command)
        if not any(case.words[: len(words.split())] == words.split() for case in JSON)
    ]
    assert [] == missing


@pytest.fixture
async def endpoint(fake_endpoint: Any) -> AsyncIterator["FakeEndpoint"]:
    async with fake_endpoint() as endpoint:
        endpoint.answer = lambda exchange: exchange.stream(HOSTILE[:-1])
        yield endpoint


class Run:
    """Runs a case with what it needs."""

    def __init__(self, endpoint: "FakeEndpoint", folder: Path, talk: Path) -> None:
        self._folder = folder
        self._prepared = {
            "{endpoint}": endpoint.base_url,
            "{folder}": str(folder),
            "{store}": str(folder / "threads.sqlite"),
            "{talk}": str(talk),
        }

    def words(self, case: Case) -> list[str]:
        given = case.words[1:] if case.program in (TALK, BENCH) else case.words
        for name, value in self._prepared.items():
            given = [word.replace(name, value) for word in given]
        return [*case.program, *given]

    async def __call__(self, words: list[str], stdout: int = subprocess.PIPE) -> "subprocess.CompletedProcess[bytes]":
        await self._fill()
        config, models = (os.fsencode(self._folder / f"{HOSTILE}.toml"), os.fsencode(self._folder / "models"))
        environment = {**os.environb, b"DISCUSSION_HELPER_CONFIG": config, b"DISCUSSION_HELPER_MODELS": models}
        message = b"Hello?" if "--pipe" in words else HELLO if "mcp" in words else b""

        def ended() -> "subprocess.CompletedProcess[bytes]":
            return subprocess.run(words, input=message, stdout=stdout, stderr=subprocess.PIPE, env=environment)

        return await anyio.to_thread.run_sync(ended)

    async def _fill(self) -> None:
        (self._folder / f"{HOSTILE}.toml").touch()
        async with SqliteThreads(self._prepared["{store}"]) as threads:
            thread = await threads.create(thread_id="a-thread")
            await threads.append(thread, Turn("user", (Text(HOSTILE[:-1]),)))


@pytest.fixture
def run(endpoint: "FakeEndpoint", tmp_path: Path, short_talk: Path) -> Run:
    hostile = tmp_path / HOSTILE
    hostile.symlink_to(short_talk, target_is_directory=True)
    return Run(endpoint, tmp_path, hostile)


@contextmanager
def unread() -> Iterator[int]:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        yield writing
    finally:
        os.close(writing)


def told(done: "subprocess.CompletedProcess[bytes]") -> list[bytes]:
    return [line for line in done.stderr.splitlines() if b"could not be written" in line or b"Traceback" in line]


@pytest.mark.parametrize("case", PRINTING, ids=str)
async def test_where_nobody_reads_it_ends_without_a_word(case: Case, run: Run) -> None:
    with unread() as writing:
        done = await run(run.words(case), writing)

    assert (BROKEN_PIPE, []) == (done.returncode, told(done))


@pytest.mark.parametrize("case", ONE_EACH, ids=str)
async def test_where_it_is_closed_that_is_one_line(case: Case, run: Run) -> None:
    done = await run(["sh", "-c", 'exec "$@" >&-', "sh", *run.words(case)])

    line = b"discussion-helper: The output could not be written: Bad file descriptor."
    assert (1, [line]) == (done.returncode, told(done))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("case", ONE_EACH, ids=str)
async def test_where_there_is_no_room_that_is_one_line(case: Case, run: Run) -> None:
    async with await anyio.open_file("/dev/full", "wb") as full:
        done = await run(run.words(case), full.wrapped.fileno())

    line = b"discussion-helper: The output could not be written: No space left on device."
    assert (1, [line]) == (done.returncode, told(done))


def refuse(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is no JSON")


@pytest.mark.parametrize("case", JSON, ids=str)
async def test_its_json_is_of_letters_alone_and_strict(case: Case, run: Run) -> None:
    done = await run(run.words(case))

    assert case.code == done.returncode, done.stderr.decode()
    lines = done.stdout.decode("ascii").split("\n")
    assert "" == lines.pop()
    assert all(line.isprintable() for line in lines)
    documents = lines if lines[0].endswith("}") else ["\n".join(lines)]
    assert all(json.loads(document, parse_constant=refuse) for document in documents)


@pytest.mark.parametrize("words", [["models", "pull"], ["talk"]])
def test_what_prints_nothing_there_does_not_ask_for_it(words: list[str]) -> None:
    whole = argparse.ArgumentParser()
    importlib.import_module(f"discussion_helper.commands.{words[0]}").add_parser(whole.add_subparsers())

    assert not whole.parse_args(words).prints


async def test_an_error_is_not_printed_on_stdout_where_stderr_is_closed(run: Run) -> None:
    done = await run(["sh", "-c", 'exec "$@" 2>&-', "sh", *REAL, "replay", "nowhere"])

    assert (1, b"") == (done.returncode, done.stdout)
