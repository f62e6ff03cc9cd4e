"""Microphones have one owner on a machine, in this program and in others."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from discussion_helper.audio.owned import Owned
from discussion_helper.errors import DeviceError

NAME = "USB Mic [ALSA]"
HOLDER = """
import sys
from pathlib import Path
from discussion_helper.audio.owned import Owned
owned = Owned(lambda: Path(sys.argv[1]))
owned.take(sys.argv[2])
print("has it", flush=True)
sys.stdin.readline()
owned.release(sys.argv[2])
print("gave it back", flush=True)
sys.stdin.read()
"""


@contextmanager
def holder(folder: Path, name: str = NAME, **environment: str) -> Iterator["subprocess.Popen[str]"]:
    """Another program that has the microphone; a line lets it go."""
    command = [sys.executable, "-c", HOLDER, str(folder), name]
    pipe, variables = subprocess.PIPE, os.environ | environment
    with subprocess.Popen(command, text=True, env=variables, stdin=pipe, stdout=pipe) as program:
        try:
            assert program.stdout is not None
            assert "has it\n" == program.stdout.readline()
            yield program
        finally:
            program.kill()


def test_a_microphone_that_another_program_has_is_refused_and_says_who_has_it(tmp_path: Path) -> None:
    owned = Owned(lambda: tmp_path)
    with holder(tmp_path) as program:
        with pytest.raises(DeviceError) as refused:
            owned.take(NAME)
        assert f'"{NAME}" is in use by another discussion-helper (process {program.pid}).' == refused.value.what
        assert "End that talk, mute it, or choose another device." == refused.value.fix
        owned.take("another one")

        assert program.stdin is not None
        assert program.stdout is not None
        print(file=program.stdin, flush=True)
        assert "gave it back\n" == program.stdout.readline()
        owned.take(NAME)


def test_a_program_that_was_killed_has_no_microphone_any_more(tmp_path: Path) -> None:
    owned = Owned(lambda: tmp_path)
    with holder(tmp_path) as program:
        program.kill()
        program.wait(10.0)
        owned.take(NAME)
    with pytest.raises(DeviceError, match="another talk of this program"):
        owned.take(NAME)
    owned.release(NAME)
    owned.release(NAME)
    with holder(tmp_path):
        pass


def test_devices_of_another_sound_server_are_others(tmp_path: Path) -> None:
    with holder(tmp_path, PULSE_SERVER="unix:/another"):
        Owned(lambda: tmp_path).take(NAME)


def test_where_no_file_can_be_made_a_program_keeps_its_own_talks_apart(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    owned = Owned(lambda: file / "folder")
    owned.take(NAME)
    with pytest.raises(DeviceError, match="another talk of this program"):
        owned.take(NAME)
