"""Ctrl-C while `discussion-helper talk` starts, as a process of its own: at the import of one module after another."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from discussion_helper.cli import NOTHING_SAID
from discussion_helper.command_line import COMMANDS
from discussion_helper.commands.talk_json import document_of

if sys.platform == "win32":
    pytest.skip("a process cannot send itself Ctrl-C alone", allow_module_level=True)

RECORDING = Path(__file__).parents[2] / "audio" / "speech" / "jfk.wav"
PROGRAM = """
import os, sys
from discussion_helper.cli import entry

class Key:
    '''Presses Ctrl-C, and tells when, as soon as a module is looked for.'''

    def find_spec(self, name, path=None, target=None):
        if name == module:
            sys.meta_path.remove(self)
            import time
            os.write(told, str(time.monotonic()).encode())
            os.kill(os.getpid(), 2)

module, told, *sys.argv[1:] = sys.argv[1:]
told = int(told)
sys.meta_path.insert(0, Key())
entry()
"""
EARLY = ["signal", "argparse", *(f"discussion_helper.{name}" for name in ("command_line", "commands.talk", "types"))]
LATER = ["anyio", "discussion_helper.commands.talk_owner", "discussion_helper.app", "numpy"]
LOADING = ["xllamacpp", "ctranslate2", "onnxruntime"]
LIMIT_S = 2.0


def pressed_at(module: str, *arguments: str) -> "subprocess.CompletedProcess[bytes]":
    """What became of the command when Ctrl-C came at the import of `module`."""
    reading, told = os.pipe()
    command = [sys.executable, "-c", PROGRAM, module, str(told), *arguments]
    try:
        done = subprocess.run(command, pass_fds=[told], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        took_s = time.monotonic() - float(os.read(reading, 64) or b"nan")
    finally:
        os.close(told)
        os.close(reading)
    assert took_s < LIMIT_S, f"{module}: it took {took_s:.2f} s"
    return done


def check_talk(module: str, output: Path) -> None:
    done = pressed_at(module, "talk", "--json", "--input", str(RECORDING), "--output", str(output))

    assert 130 == done.returncode
    assert b"Traceback" not in done.stderr
    assert document_of(None) == json.loads(done.stdout)


@pytest.mark.parametrize("module", [*EARLY, *LATER])
def test_a_talk_that_starts_ends_with_its_document(module: str, tmp_path: Path) -> None:
    check_talk(module, tmp_path / "talk.wav")


@pytest.mark.models
@pytest.mark.parametrize("module", LOADING)
def test_a_talk_that_loads_models_ends_with_its_document(module: str, tmp_path: Path) -> None:
    check_talk(module, tmp_path / "talk.wav")


@pytest.fixture
def busy() -> Iterator[None]:
    """Two processes that take all they get."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    yield
    for other in others:
        other.kill()
        other.wait()


@pytest.mark.models
@pytest.mark.slow
@pytest.mark.timed
@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize("module", [*EARLY, *LATER, *LOADING])
def test_it_ends_in_time_on_a_busy_machine(module: str, tmp_path: Path) -> None:
    check_talk(module, tmp_path / "talk.wav")


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "talk"])
def test_another_command_ends_without_a_word(command: str) -> None:
    done = pressed_at(f"discussion_helper.commands.{command}", command)

    assert (130, b"", b"") == (done.returncode, done.stdout, done.stderr)


def test_the_document_that_is_ready_made_is_that_of_an_empty_talk() -> None:
    assert document_of(None) == json.loads(NOTHING_SAID)
