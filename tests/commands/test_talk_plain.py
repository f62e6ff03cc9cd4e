"""A talk as lines, and typed turns from a pipe or a file."""

import io
import os
from pathlib import Path
from typing import Any

import anyio
import pytest

from discussion_helper.commands.talk_plain import LONGEST_LINE, PlainFace, event_line, typed_lines
from discussion_helper.commands.talk_wishes import WISHES_HELD, Say, Wishes
from discussion_helper.events import Event
from discussion_helper.types import TurnTiming

pytestmark = pytest.mark.anyio


def line_of(kind: str, **data: Any) -> str:
    return event_line(Event(kind, 1.25, data))


@pytest.mark.parametrize(
    ("line", "kind", "data"),
    [
        ("   1.250  you: Hello.", "utterance", {"speaker": "user", "text": "Hello.", "interrupted": False}),
        (
            "   1.250  agent: Good day [not heard: to you.]",
            "utterance",
            {"speaker": "agent", "text": "Good day", "interrupted": True, "said": "Good day to you."},
        ),
        (
            "   1.250  agent: Good day. [interrupted]",
            "utterance",
            {"speaker": "agent", "text": "Good day.", "interrupted": True},
        ),
        (
            "   1.250  endpoint 200  recognise 150  think 100  speak 50  = 500 ms",
            "timing",
            TurnTiming(0.2, 0.15, 0.1, 0.05).as_dict(),
        ),
        (
            "   1.250  The microphone is silent. Unmute it.",
            "device",
            {"which": "microphone", "state": "silent", "fix": "Unmute it."},
        ),
        ("   1.250  device: which=microphone  state=open", "device", {"which": "microphone", "state": "open"}),
        ("   1.250  floor: thinking", "floor", {"floor": "thinking"}),
        ("   1.250  ended: reason=finished", "ended", {"reason": "finished"}),
        ("   1.250  ended: reason=stopped  error=Hung.", "ended", {"reason": "stopped", "error": "Hung."}),
        ("   1.250  ended: reason=failed", "ended", {"reason": "failed", "error": "It is told last."}),
        ("   1.250  agent ... Good day.", "partial", {"speaker": "agent", "text": "Good day."}),
        ("   1.250  you ... Good", "partial", {"text": "Good"}),
        ("", "level", {"dbfs": -30.0}),
    ],
)
def test_an_event_is_one_line(line: str, kind: str, data: dict[str, Any]) -> None:
    assert line == line_of(kind, **data)


async def test_lines_hold_nothing_that_a_terminal_obeys() -> None:
    stream = io.StringIO()
    face = PlainFace(Wishes(), stream=stream)

    face.take(Event("utterance", 0.0, {"speaker": "user", "text": "a\x1b[2J\nb", "interrupted": False}))
    face.take(Event("level", 0.0, {"dbfs": -3.0}))
    face.tell("told")

    assert "   0.000  you: a�[2J b\ntold\n" == stream.getvalue()
    assert [] == face.farewell()


def partial(text: str, speaker: str = "user") -> Event:
    return Event("partial", 0.0, {"speaker": speaker, "text": text})


def utterance(text: str, speaker: str = "user") -> Event:
    return Event("utterance", 0.0, {"speaker": speaker, "text": text, "interrupted": False})


LEVEL, FLOOR = Event("level", 0.0, {"dbfs": -3.0}), Event("floor", 0.0, {"floor": "thinking"})


@pytest.mark.parametrize(
    ("events", "lines"),
    [
        ([partial("Go on."), LEVEL, utterance("Go on.")], ["you: Go on."]),
        ([partial("Go"), partial("Go on."), utterance("Go on.")], ["you ... Go", "you: Go on."]),
        ([partial("Go"), utterance("Go on.")], ["you ... Go", "you: Go on."]),
        ([partial("Go"), FLOOR, utterance("Go")], ["you ... Go", "floor: thinking", "you: Go"]),
        ([partial("Go"), utterance("Go", "agent")], ["you ... Go", "agent: Go"]),
        ([partial("Hi.", "agent")], ["agent ... Hi."]),
    ],
)
async def test_a_partial_text_is_not_written_beside_the_turn_that_repeats_it(
    events: list[Event], lines: list[str]
) -> None:
    stream = io.StringIO()
    face = PlainFace(Wishes(), stream=stream)
    for event in events:
        face.take(event)

    assert lines == [line.split("  ")[-1] for line in stream.getvalue().splitlines()]


async def test_a_partial_text_comes_before_what_is_told_after_it() -> None:
    stream = io.StringIO()
    face = PlainFace(Wishes(), stream=stream)
    face.take(partial("Go"))
    face.tell("told")

    assert ["   0.000  you ... Go", "told"] == stream.getvalue().splitlines()


async def test_a_stream_that_is_gone_does_not_end_the_talk() -> None:
    stream = io.StringIO()
    stream.close()

    PlainFace(Wishes(), stream=stream).tell("told")


async def test_the_lines_of_a_pipe_are_typed_turns_as_they_come() -> None:
    reading, writing = os.pipe()
    wishes = Wishes()
    face = PlainFace(wishes, stream=io.StringIO(), typed=reading)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(face.run)
        os.write(writing, b"Hello.\n\nWhat is ")
        assert Say("Hello.", waits=True) == await wishes.next()
        os.write(writing, "that: ÄÖ?\nand".encode())
        assert Say("What is that: ÄÖ?", waits=True) == await wishes.next()
        os.close(writing)
        assert Say("and", waits=True) == await wishes.next()
    os.close(reading)


async def test_more_lines_than_there_is_room_for_wait() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"turn\n" * 100)
    os.close(writing)
    wishes, count = Wishes(), 0

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(PlainFace(wishes, typed=reading).run)
        while count < 100:
            assert Say("turn", waits=True) == await wishes.next()
            count += 1
    os.close(reading)


async def test_lines_that_were_read_and_not_said_are_left_behind() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"one\n" * WISHES_HELD + b"two\nthree\n\nfour\n")
    face = PlainFace(wishes := Wishes(), typed=reading)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(face.run)
        while face.farewell() != ["Not said: two (and 2 lines more)"]:
            await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    assert ["one"] * WISHES_HELD == [wish.text for wish in wishes.rest() if isinstance(wish, Say)]
    for end in (reading, writing):
        os.close(end)


@pytest.mark.parametrize(("content", "lines"), [(b"one\ntwo", ["one", "two"]), (b"", []), (b"\xff\n", ["�"])])
async def test_the_lines_of_a_file(tmp_path: Path, content: bytes, lines: list[str]) -> None:
    (tmp_path / "turns.txt").write_bytes(content)

    with (tmp_path / "turns.txt").open("rb") as file:
        assert lines == [line async for some in typed_lines(file.fileno()) for line in some]


async def test_a_line_without_an_end_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "turns.txt").write_bytes(b"x" * 3 * LONGEST_LINE + b"\nlast\n" + b"y")

    with (tmp_path / "turns.txt").open("rb") as file:
        lines = [line async for some in typed_lines(file.fileno()) for line in some]
    assert all(len(line) <= LONGEST_LINE for line in lines)
    assert 3 * LONGEST_LINE + 5 == sum(map(len, lines))


async def test_nothing_comes_from_the_null_device() -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    assert [] == [line async for line in typed_lines(nothing)]
    os.close(nothing)
