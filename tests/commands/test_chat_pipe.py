"""A chat through a pipe: its text, and real processes on an endpoint of this machine."""

import io
import json
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from anyio.abc import Process

from discussion_helper.cli import INTERRUPTED, main
from discussion_helper.commands.chat_pipe import message_from
from discussion_helper.commands.chat_pipe_text import PipeText, json_line, plain
from discussion_helper.commands.chat_turns import LONGEST_MESSAGE
from discussion_helper.commands.stdout import BROKEN_PIPE
from discussion_helper.errors import SettingError
from discussion_helper.text.artifacts import (
    Artifact,
    Image,
    Reasoning,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCall,
    ToolResult,
    Usage,
)
from discussion_helper.text.outputs import ArtifactEvent, ClosedEvent, LifecycleEvent, OutputEvent, TurnCompleteEvent
from discussion_helper.text.state import Turn

if TYPE_CHECKING:
    from tests.responder.conftest import Exchange, FakeEndpoint

DONE = LifecycleEvent("done")


def came(*artifacts: Artifact) -> list[OutputEvent]:
    return [ArtifactEvent(artifact) for artifact in artifacts]


def turn(role: Any, *artifacts: Artifact) -> OutputEvent:
    return TurnCompleteEvent(Turn(role, artifacts))


def printed(*events: OutputEvent, details: bool = False) -> str:
    text = PipeText(details=details)
    return "".join(map(text.feed, events))


# -- the text


def test_the_text_is_what_was_said_and_a_line_feed() -> None:
    events = [turn("user", Text("Hi.")), *came(ReasoningDelta("Hm."), TextDelta("Good "), TextDelta("day."))]
    events += [*came(Reasoning("Hm."), Text("Good day.")), turn("assistant", Text("Good day.")), DONE]

    assert "Good day.\n" == printed(*events)
    assert "" == printed(DONE)
    assert "line\n" == printed(*came(TextDelta("line\n")), DONE)
    assert "whole\n" == printed(*came(Text("whole")), DONE)


def test_several_turns_are_paragraphs() -> None:
    first = [*came(TextDelta("I look.")), turn("assistant", Text("I look."), ToolCall("c", "look"))]
    events = [*first, turn("tool", ToolResult("c", "5")), *came(TextDelta("It is 5.")), turn("assistant"), DONE]

    assert "I look.\n\nIt is 5.\n" == printed(*events)


def test_details_are_fenced_blocks() -> None:
    first = [*came(ReasoningDelta("I must "), ReasoningDelta("look.")), *came(Reasoning("I must look."))]
    call = ToolCall("c", "look", '{"at": "```"}')
    events = [*first, turn("assistant", Reasoning("I must look."), call, Usage(1, 2, 3))]
    events += [turn("tool", ToolResult("c", "nothing", is_error=True)), *came(TextDelta("It is *5*."))]
    events += [turn("assistant", Text("It is *5*."), Image("http://a/b.png")), DONE]

    assert (
        "```reasoning\nI must look.\n```\n\n"
        '````tool_call look\n{"at": "```"}\n````\n\n'
        "```tool_error look\nnothing\n```\n\n"
        "It is *5*.\n\n"
        "```image\nhttp://a/b.png\n```\n"
    ) == printed(*events, details=True)


def test_what_a_terminal_would_obey_is_not_printed() -> None:
    for unseen in "\xad\u200b\u200f\u2028\u2029\u202e\u2066\ufeff\U000e0041":
        assert "a\ufffdb" == plain(f"a{unseen}b")
    for text in ("می\u200cخواهم", "👩\u200d💻", "a\xa0b\u3000c", "עברית"):
        assert text == plain(text)
    assert "a\tb\n\ufffd[2J\ufffd]0;x\ufffd\ufffd" == plain("a\tb\r\n\x1b[2J\x9d]0;x\x07\ud800")
    hostile = "\x1b[2J"
    events = [
        *came(ReasoningDelta(hostile), TextDelta(hostile)),
        turn("assistant", ToolCall(hostile, hostile, hostile)),
    ]
    assert "\x1b" not in printed(*events, DONE, details=True)


def test_json_lines_are_ascii_and_only_of_the_outside_world() -> None:
    assert '{"kind": "text_delta", "content": "\\u00e9\\u001b\\u009b"}\n' == json_line(came(TextDelta("é\x1b\x9b"))[0])
    assert "" == json_line(ClosedEvent())


# -- the message


@pytest.mark.parametrize("stdin", [None, io.BytesIO(), io.BytesIO(b" \r\n\t ")])
def test_no_message_is_told_in_a_line(stdin: Any) -> None:
    with pytest.raises(SettingError, match="no message") as refused:
        message_from(stdin)
    assert "\n" not in str(refused.value)


def test_a_message_is_a_text_of_some_length() -> None:
    assert "one\n日本" == message_from(io.BytesIO("\ufeff\r\none\r\n日本\n".encode()))
    assert LONGEST_MESSAGE == len(message_from(io.BytesIO(("日" * LONGEST_MESSAGE).encode())))
    for letter in ("x", "日", "😀"):
        with pytest.raises(SettingError, match="longer than 1000000"):
            message_from(io.BytesIO((letter * (LONGEST_MESSAGE + 1)).encode()))
    with pytest.raises(SettingError, match="not a text"):
        message_from(io.BytesIO(b"\xff\xfe"))


# -- processes


@pytest.fixture
async def endpoint(fake_endpoint: Any) -> AsyncIterator["FakeEndpoint"]:
    async with fake_endpoint() as endpoint:
        yield endpoint


Command = Callable[..., list[str]]


@pytest.fixture
def command(endpoint: "FakeEndpoint", tmp_path: Path) -> Command:
    """`chat --pipe` with threads of this test's own."""
    options = ["--pipe", "--llm", f"m@{endpoint.base_url}", "--store", str(tmp_path / "threads.sqlite")]
    return lambda *more: [sys.executable, "-m", "discussion_helper", "chat", *options, *more]


async def ran(command: list[str], message: str = "Hello?") -> "subprocess.CompletedProcess[bytes]":
    return await anyio.run_process(command, input=message.encode(), check=False)


async def begun(command: list[str], stdout: int = subprocess.PIPE) -> Process:
    """Started, with its message."""
    process = await anyio.open_process(command, stdout=stdout)
    assert process.stdin is not None
    await process.stdin.send(b"Hello?")
    await process.stdin.aclose()
    return process


async def first_output(process: Process) -> bytes:
    assert process.stdout is not None
    return await process.stdout.receive()


def messages(exchange: "Exchange") -> list[tuple[str, str]]:
    return [(message["role"], message["content"]) for message in exchange.body["messages"]]


SYSTEM = ("system", "You are a helpful AI assistant.")


@pytest.mark.anyio
async def test_a_message_is_answered_and_the_thread_goes_on(endpoint: "FakeEndpoint", command: Command) -> None:
    endpoint.answer = lambda exchange: exchange.stream("Good ", "day.")
    done = await ran(command("--system", "Be brief."), "One\ntwo\n")
    assert (0, b"Good day.\n") == (done.returncode, done.stdout)
    said = [("system", "Be brief."), ("user", "One\ntwo")]
    assert said == messages(endpoint.exchanges[0])

    done = await ran(command("--last", "--json"), "And?")
    assert [*said, ("assistant", "Good day."), ("user", "And?")] == messages(endpoint.exchanges[1])
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert ["properties", "turn_complete", "lifecycle", "lifecycle", "text_delta"] == [e["kind"] for e in events[:5]]
    assert "done" == events[-1]["phase"]

    assert b"" == done.stderr
    await ran(command("--thread", events[0]["properties"]["thread_id"]), "Go on.")
    assert 6 == len(messages(endpoint.exchanges[2]))
    await ran(command(), "New.")
    assert [SYSTEM, ("user", "New.")] == messages(endpoint.exchanges[3])


@pytest.mark.anyio
async def test_how_to_go_on_is_told_beside_the_answer(endpoint: "FakeEndpoint", command: Command) -> None:
    endpoint.answer = lambda exchange: exchange.stream("Good day.")
    done = await ran(command())
    told = done.stderr.decode()
    assert told.startswith("Go on with: discussion-helper chat --pipe --thread=")
    again = [sys.executable, "-m", "discussion_helper", *shlex.split(told.partition("discussion-helper")[2])]
    done = await ran(again, "And?")

    assert [SYSTEM, ("user", "Hello?"), ("assistant", "Good day."), ("user", "And?")] == messages(endpoint.exchanges[1])
    assert told == done.stderr.decode()
    assert b"" == (await ran(command("--quiet"))).stderr


@pytest.mark.anyio
async def test_an_empty_answer_is_told(endpoint: "FakeEndpoint", command: Command) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(finish="stop")
        await exchange.end()

    endpoint.answer = answer
    done = await ran(command("--quiet"))
    assert (0, b"", b"The answer is empty.\n") == (done.returncode, done.stdout, done.stderr)


@pytest.mark.anyio
async def test_details_hold_what_was_thought(endpoint: "FakeEndpoint", command: Command) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(reasoning_content="Hm.")
        await exchange.delta(content="Yes.")
        await exchange.delta(finish="stop")
        await exchange.end()

    endpoint.answer = answer
    assert b"```reasoning\nHm.\n```\n\nYes.\n" == (await ran(command("--details"))).stdout


@pytest.mark.anyio
async def test_an_error_is_a_line_on_stderr_and_what_came_is_there(endpoint: "FakeEndpoint", command: Command) -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(content="We")

    endpoint.answer = answer
    done = await ran(command())
    assert (1, b"We\n") == (done.returncode, done.stdout)
    assert 1 == len(done.stderr.splitlines())
    assert done.stderr.startswith(b"discussion-helper: ")

    endpoint.answer = lambda exchange: exchange.refuse(401, "bad key")
    done = await ran(command("--json"))
    kinds = [json.loads(line)["kind"] for line in done.stdout.splitlines()]
    assert (1, ["properties", "turn_complete", "lifecycle", "error", "lifecycle"]) == (done.returncode, kinds)
    assert b"OPENAI_API_KEY" in done.stderr


@pytest.mark.anyio
async def test_a_closed_stdout_ends_it(endpoint: "FakeEndpoint", command: Command) -> None:
    closed = anyio.Event()

    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(content="Well, ")
        await closed.wait()
        while not exchange.gone.is_set():
            await exchange.delta(content="and so on, ")
            await anyio.lowlevel.checkpoint()

    endpoint.answer = answer
    reading, writing = os.pipe()
    async with await begun(command(), stdout=writing) as process:
        os.close(writing)
        assert b"Well, " == await anyio.to_thread.run_sync(os.read, reading, 100)
        os.close(reading)
        closed.set()
        assert BROKEN_PIPE == await process.wait()
        assert process.stderr is not None
        assert [] == [chunk async for chunk in process.stderr]


def unfinished(endpoint: "FakeEndpoint") -> None:
    async def answer(exchange: "Exchange") -> None:
        await exchange.begin()
        await exchange.delta(content="Well, ")
        await exchange.gone.wait()

    endpoint.answer = answer


@pytest.mark.anyio
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C cannot be sent to one process")
async def test_ctrl_c_ends_it(endpoint: "FakeEndpoint", command: Command) -> None:
    unfinished(endpoint)
    async with await begun(command()) as process:
        await first_output(process)
        process.send_signal(signal.SIGINT)
        with anyio.fail_after(4):  # the limit is 2 s; the machine of a test may be busy
            assert INTERRUPTED == await process.wait()
    endpoint.answer = lambda exchange: exchange.stream("Yes.")
    await ran(command("--last"), "Again.")
    assert [SYSTEM, ("user", "Again.")] == merged(messages(endpoint.exchanges[-1]))


def merged(said: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Turns of one speaker in a row as one, however the provider sends them."""
    whole: list[tuple[str, str]] = []
    for role, text in said:
        if whole and whole[-1][0] == role:
            text = f"{whole.pop()[1]}\n{text}"
        whole.append((role, text))
    return whole


@pytest.mark.anyio
async def test_what_the_user_said_survives_the_death_of_the_process(endpoint: "FakeEndpoint", command: Command) -> None:
    unfinished(endpoint)
    async with await begun(command()) as process:
        await first_output(process)
        process.kill()
        await process.wait()

    endpoint.answer = lambda exchange: exchange.stream("Yes.")
    done = await ran(command("--last"), "Again.")
    assert b"Yes.\n" == done.stdout
    assert [SYSTEM, ("user", "Again.")] == merged(messages(endpoint.exchanges[-1]))


# -- wrong usage


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["chat"], "no terminal to draw on. Use --pipe"),
        (["chat", "--json"], "--json goes with --pipe"),
        (["chat", "--details"], "--details goes with --pipe"),
        (["chat", "--pipe", "--llm", "nonsense"], "--llm names neither"),
        (["chat", "--pipe", "--store", ""], "--store: the name is empty, or that of this folder. Name a file"),
        (["chat", "--pipe", "--store", os.sep], "is a folder. Name a file"),
        (
            ["chat", "--pipe", "--store", "no-such-folder/t.sqlite"],
            "no folder no-such-folder. Make it",
        ),
        (["chat", "--pipe", "--last"], "t.sqlite is not there. Name"),
        (["chat", "--pipe", "--last", "--store", ":memory:"], "--last: there is no thread yet. Leave it out"),
        (
            ["chat", "--pipe", "--thread", "../nowhere", "--store", ":memory:"],
            "--thread: there is no thread '../nowhere'",
        ),
    ],
)
def test_what_is_wrong_is_one_line(
    argv: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"Hello?")))
    store = [] if "--store" in argv else ["--store", str(tmp_path / "t.sqlite")]
    llm = [] if "--llm" in argv else ["--llm", "m@http://127.0.0.1:9"]

    assert 1 == main([*argv, *store, *llm])
    told = capsys.readouterr().err
    assert says in told
    assert 1 == told.count("\n")


def test_a_terminal_that_cannot_be_drawn_on_is_none(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    for name in ("stdin", "stdout"):
        monkeypatch.setattr(getattr(sys, name), "isatty", lambda: True)

    assert 1 == main(["chat"])
    assert "Use --pipe" in capsys.readouterr().err


def test_a_missing_model_is_named_with_its_fix(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("DISCUSSION_HELPER_MODELS", str(tmp_path))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"Hello?")))

    assert 1 == main(["chat", "--pipe", "--store", os.devnull])
    assert "discussion-helper models pull SmolLM2-135M" in capsys.readouterr().err
