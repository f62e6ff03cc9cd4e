"""A talk as a process of its own: its end in every state, in a terminal and without one, and the key of a terminal."""

import itertools
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition, Event, Thread
from typing import Any

import pytest

if sys.platform == "win32":
    pytest.skip("there are no pseudo-terminals", allow_module_level=True)

import pty
import termios

from discussion_helper.commands.talk_wishes import WISHES_HELD
from discussion_helper.turns import TURNS_HELD

PROGRAM = Path(__file__).with_name("talk_program.py")
STATES = ["opening", "warming", "listening", "thinking", "speaking"]
START_S = 30.0
END_S = 4.0
"""The limit is 2 s; the machine of a test may be busy."""


class Terminal:
    """A terminal that nobody looks at; `line` is the end that a program gets."""

    def __init__(self) -> None:
        self.shown, self._more = b"", Condition()
        self._screen, self.line = pty.openpty()
        self._closing, self._close = os.pipe()
        termios.tcsetwinsize(self._screen, (24, 80))
        self._thread = Thread(target=self._drain, daemon=True)
        self._thread.start()

    def _drain(self) -> None:
        while self._closing not in select.select([self._screen, self._closing], [], [])[0]:
            with self._more:
                self.shown += os.read(self._screen, 65536)
                self._more.notify()

    def modes(self) -> list[Any]:
        return termios.tcgetattr(self.line)

    def type(self, keys: bytes) -> None:
        os.write(self._screen, keys)

    def until(self, text: bytes) -> None:
        """Wait until it was shown."""
        deadline = time.monotonic() + START_S
        while text not in self.shown:
            assert time.monotonic() < deadline, self.shown[-2000:]
            with self._more:
                self._more.wait(1.0)

    def close(self) -> None:
        if self._thread.is_alive():
            os.write(self._close, b"x")
            self._thread.join()
            for descriptor in (self._screen, self.line, self._closing, self._close):
                os.close(descriptor)


class Running:
    """A talk that runs, and what it tells."""

    def __init__(self, process: "subprocess.Popen[bytes]", told: int, terminal: Terminal | None) -> None:
        self.process = process
        self.terminal = terminal
        self._told = told
        self.words: list[str] = []

    def until(self, word: str) -> None:
        """Wait until it tells that word."""
        deadline, held = time.monotonic() + START_S, b""
        while word not in self.words:
            readable, _, _ = select.select([self._told], [], [], max(0.0, deadline - time.monotonic()))
            chunk = os.read(self._told, 1024) if readable else b""
            assert chunk, f"{word} did not come; it told {self.words}"
            *lines, held = (held + chunk).split(b"\n")
            self.words += [line.decode() for line in lines]

    def key(self, key: bytes) -> None:
        assert self.terminal is not None
        self.terminal.type(key)

    def code(self) -> int:
        """Wait for the end; its exit code."""
        code = self.process.wait(END_S)
        while chunk := os.read(self._told, 1024):
            self.words += chunk.decode().split("\n")
        return code


def pipes(stdout: Any = subprocess.PIPE) -> dict[str, Any]:
    return {"stdin": subprocess.DEVNULL, "stdout": stdout, "stderr": subprocess.PIPE}


@contextmanager
def running(*arguments: str, terminal: bool, **streams: Any) -> Iterator[Running]:
    told, telling = os.pipe()
    screen = Terminal() if terminal else None
    if screen is not None:
        streams = {"stdin": screen.line, "stdout": screen.line, "stderr": screen.line} | streams
    process = subprocess.Popen(
        [sys.executable, str(PROGRAM), *arguments],
        env=os.environ | {"TOLD": str(telling), "TERM": "xterm"},
        pass_fds=[telling],
        start_new_session=True,
        **streams,
    )
    os.close(telling)
    with process:
        try:
            yield Running(process, told, screen)
        finally:
            process.kill()
            os.close(told)
            if screen is not None:
                screen.close()


def test_the_states_are_those_of_the_program() -> None:
    assert all(f'"{state}"' in PROGRAM.read_text() for state in STATES)


@pytest.mark.parametrize("state", STATES)
def test_ctrl_c_in_a_terminal_ends_the_talk_in_every_state(state: str) -> None:
    with running(state, terminal=True) as talk:
        talk.until(state)
        talk.key(b"\x03")
        talk.key(b"\x03")

        assert 130 == talk.code()
        assert talk.words.count("microphone open") == talk.words.count("microphone closed")


@pytest.mark.parametrize(
    ("state", "number", "code"),
    [
        *((state, signal.SIGINT, 130) for state in STATES),
        *((state, signal.SIGTERM, 143) for state in ("opening", "speaking")),
        ("thinking", signal.SIGHUP, 129),
    ],
)
def test_a_signal_ends_the_talk_with_its_transcript(state: str, number: signal.Signals, code: int) -> None:
    with running(state, "--json", terminal=False, **pipes()) as talk:
        talk.until(state)
        talk.process.send_signal(number)
        talk.process.send_signal(number)
        document, errors = talk.process.communicate(timeout=END_S)

        assert code == talk.code()
    assert ["user", "agent"][: {"thinking": 1, "speaking": 2}.get(state, 0)] == [
        turn["speaker"] for turn in json.loads(document)["utterances"]
    ]
    assert b"Traceback" not in errors


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_lines_of_a_pipe_that_were_taken_are_in_the_transcript_and_the_others_are_told(
    number: signal.Signals, code: int
) -> None:
    with running("thinking", "--json", terminal=False, **pipes() | {"stdin": subprocess.PIPE}) as talk:
        talk.until("thinking")
        assert talk.process.stdin is not None
        talk.process.stdin.write(b"".join(b"question %d\n" % line for line in range(1, 101)))
        talk.process.stdin.flush()
        talk.until(f"took question {TURNS_HELD}")
        talk.process.send_signal(number)
        document, told = talk.process.communicate(timeout=END_S)

        assert code == talk.code()
    questions, errors = [f"question {line}" for line in range(1, 101)], told.decode()
    taken = len(json.loads(document)["utterances"]) - 1
    assert ["Hello.", *questions[:taken]] == [turn["text"] for turn in json.loads(document)["utterances"]]
    assert TURNS_HELD <= taken
    assert all(f"you: {question}\n" in errors for question in questions[:taken])
    assert all(f"Not said: {question}\n" in errors for question in questions[taken : taken + WISHES_HELD])
    first, more = taken + 1 + WISHES_HELD + 1, 100 - taken - 1 - WISHES_HELD - 1
    assert f"Not said: question {first} (and {more} lines more)\n" in errors


@pytest.mark.parametrize(
    ("state", "summary"),
    [("warming", "No answers."), ("reading", "No answers."), ("answered", "Answers: 1, interrupted: 0, median wait ")],
)
def test_a_talk_that_is_ended_while_a_part_hangs_has_its_summary(state: str, summary: str) -> None:
    with running(state, "--json", terminal=False, **pipes()) as talk:
        talk.until(state)
        talk.process.send_signal(signal.SIGINT)
        document, errors = talk.process.communicate(timeout=END_S)

        assert 130 == talk.code()
    assert ["user", "agent"][: 2 * (state == "answered")] == [
        turn["speaker"] for turn in json.loads(document)["utterances"]
    ]
    assert [True] == [line.startswith(summary) for line in errors.decode().splitlines() if "nswers" in line][1:]


def test_what_was_typed_in_the_live_view_stays_when_it_is_left() -> None:
    with running("thinking", terminal=True) as talk:
        talk.until("thinking")
        talk.key(b"question 1\rquestion 2\r")
        talk.until("took question 2")
        talk.key(b"\x03")
        assert 130 == talk.code()
        assert talk.terminal is not None
        talk.terminal.until(b"No answers.")
        left = talk.terminal.shown.rpartition(b"\x1b[?1049l")[2]
        talk.terminal.close()
    assert [b" you   question 1", b" you   question 2"] == [line for line in left.split(b"\r\n") if b"question" in line]


def test_ctrl_q_ends_the_talk_without_an_error() -> None:
    with running("listening", terminal=True) as talk:
        talk.until("listening")
        talk.key(b"\x11")

        assert 0 == talk.code()
    assert "microphone closed" in talk.words


def test_a_talk_whose_terminal_is_closed_ends() -> None:
    with running("speaking", terminal=True) as talk:
        talk.until("speaking")
        assert talk.terminal is not None
        talk.terminal.close()

        assert 129 == talk.code()
    assert "microphone closed" in talk.words


def test_a_talk_whose_terminal_is_closed_says_nothing_of_that(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as errors, running("speaking", terminal=True, stderr=errors) as talk:
        talk.until("speaking")
        assert talk.terminal is not None
        talk.terminal.close()

        assert 129 == talk.code()
    assert "Errno" not in log.read_text()
    assert "discussion-helper:" not in log.read_text()


def test_a_failing_part_ends_it_with_one_line_and_the_document() -> None:
    with running("failing", "--json", terminal=False, **pipes()) as talk:
        document, errors = talk.process.communicate(timeout=START_S)

        assert 1 == talk.code()
    assert {"utterances": [], "timings": [], "interruption_rate": 0.0} == json.loads(document)
    assert "discussion-helper: The recogniser broke. Mend it." == errors.decode().splitlines()[-1]
    assert b"a library on stdout" in errors
    assert b"Traceback" not in errors


def test_a_document_that_nobody_reads_is_no_error() -> None:
    with running("listening", "--json", terminal=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as talk:
        talk.until("listening")
        assert talk.process.stdout is not None
        talk.process.stdout.close()
        talk.process.send_signal(signal.SIGTERM)

        assert 143 == talk.code()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_document_that_cannot_be_written_is_one() -> None:
    with Path("/dev/full").open("wb") as full, running("failing", "--json", terminal=False, **pipes(full)) as talk:
        _, errors = talk.process.communicate(timeout=START_S)

        assert 1 == talk.code()
    assert b"discussion-helper: The output could not be written: No space left on device." in errors


def test_typed_turns_come_from_a_pipe() -> None:
    with running("listening", terminal=False, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as talk:
        talk.until("listening")
        assert talk.process.stdin is not None
        talk.process.stdin.write(b"What is the time?\n")
        talk.process.stdin.flush()
        talk.until("speaking")
        talk.process.send_signal(signal.SIGINT)
        _, errors = talk.process.communicate(timeout=END_S)

        assert 130 == talk.code()
    assert b"  you: What is the time?\n" in errors


def test_the_screen_is_given_back_as_it_was() -> None:
    with running("listening", terminal=True) as talk:
        assert talk.terminal is not None
        before = talk.terminal.modes()
        talk.until("listening")
        assert before != talk.terminal.modes()
        talk.process.send_signal(signal.SIGINT)

        assert 130 == talk.code()
        assert before == talk.terminal.modes()


def test_a_library_that_keeps_the_interpreters_lock_cannot_keep_the_process() -> None:
    program = (
        "import ctypes; from discussion_helper.commands.ending import ExitSoon;"
        "ExitSoon(lambda: None, silent=lambda: True).arm(130); print('armed', flush=True); ctypes.PyDLL(None).sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            assert b"armed\n" == process.stdout.readline()
            assert 1 == process.wait(END_S)
            assert b"" == process.stderr.read()
        finally:
            process.kill()


# -- the key of push to talk, of which a terminal tells no release

REPEATS = 12
"""Of a key that is held: 0.3 s of them."""


class Held:
    """A key that is held: one stroke, and repeats from 0.4 s on, 25 ms apart, until it is let go."""

    def __init__(self, talk: Running, key: bytes) -> None:
        self.often, self._let_go = Event(), Event()
        self._thread = Thread(target=self._repeat, args=(talk, key), daemon=True)
        self._thread.start()

    def _repeat(self, talk: Running, key: bytes) -> None:
        talk.key(key)
        pause_s = 0.4
        for number in itertools.count():
            if self._let_go.wait(pause_s):
                return
            talk.key(key)
            pause_s = 0.025
            if number == REPEATS:
                self.often.set()

    def let_go(self) -> None:
        self._let_go.set()
        self._thread.join()


@contextmanager
def pushing() -> Iterator[Running]:
    with running("pushing", "--push-to-talk", terminal=True) as talk:
        assert talk.terminal is not None
        talk.until("listening")
        talk.terminal.until(b"Space")  # the view tells of the key: it is taken from now on
        yield talk


@pytest.mark.parametrize(
    "key",
    [
        pytest.param(b" ", id="space"),
        pytest.param(b"\r", id="enter", marks=pytest.mark.slow),
        pytest.param(b"\x00", id="ctrl-space", marks=pytest.mark.slow),
    ],
)
def test_a_key_that_is_held_is_down_until_its_repeats_end(key: bytes) -> None:
    with pushing() as talk:
        held = Held(talk, key)
        talk.until("down 1")
        assert held.often.wait(START_S)
        held.let_go()
        talk.until("up 1")
        talk.key(b"\x11")  # Ctrl-Q

        assert 0 == talk.code()
        assert ["down 1", "up 1"] == [word for word in talk.words if word[:2] in ("do", "up")]


def test_a_key_that_is_tapped_is_down_until_the_next_tap_and_what_is_typed_is_text() -> None:
    with pushing() as talk:
        for number in (1, 2):
            talk.key(b" ")
            talk.until(f"down {number}")
            talk.key(b" ")
            talk.until(f"up {number}")
        talk.key(b"what is it")  # its spaces are none of the key's
        talk.key(b"\r")
        talk.until("took what is it")
        talk.key(b"\x11")

        assert 0 == talk.code()
        assert ["down 1", "up 1", "down 2", "up 2"] == [word for word in talk.words if word[:2] in ("do", "up")]
