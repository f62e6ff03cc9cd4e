"""The doctor as a program, with virtual devices."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from discussion_helper.testing.virtual_devices import VirtualDevices

pytestmark = pytest.mark.devices

PROGRAM = ("-c", "from discussion_helper.cli import entry; entry()", "doctor", "--no-speed")


@pytest.fixture(scope="module")
def quiet_room() -> Generator[VirtualDevices]:
    with VirtualDevices(room_dbfs=-60.0) as devices:
        yield devices


def started(
    devices: VirtualDevices, folder: Path, *options: str, program: Sequence[str] = PROGRAM
) -> "subprocess.Popen[str]":
    """The program, which has warned of its sound."""
    environment = {**os.environ, **devices.environment(), "DISCUSSION_HELPER_CONFIG": str(folder / "settings.toml")}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    doctor = subprocess.Popen([sys.executable, *program, *options], env=environment, **pipes)
    assert doctor.stderr is not None
    assert "a chirp comes" in doctor.stderr.readline()
    return doctor


def document(program: "subprocess.Popen[str]") -> dict[str, Any]:
    with program:
        return dict(json.loads(program.communicate(timeout=30.0)[0]))


@pytest.mark.parametrize("gain_db", [None, -15.0])
def test_the_room_is_measured_through_the_devices(
    gain_db: float | None, quiet_room: VirtualDevices, tmp_path: Path
) -> None:
    echo: AbstractContextManager[None] = nullcontext()
    if gain_db is not None:
        echo = quiet_room.echo(gain_db=gain_db, delay_s=0.05)
    with echo:
        found = document(started(quiet_room, tmp_path, "--json"))

    assert found["room"]["echo_db"] == (None if gain_db is None else pytest.approx(gain_db, abs=0.5))
    assert ("no echo" in [fault["key"] for fault in found["faults"]]) is (gain_db is None)


def test_a_muted_microphone_is_told(tmp_path: Path) -> None:
    with VirtualDevices() as devices:
        found = document(started(devices, tmp_path, "--json"))

    assert "muted" in [fault["key"] for fault in found["faults"]]
    assert found["can_talk"] is False


def test_a_device_that_hangs_is_told(tmp_path: Path) -> None:
    with VirtualDevices(room_dbfs=-60.0) as devices:
        program = started(devices, tmp_path, "--json")
        with devices.frozen():
            found = document(program)

    assert {"device lost", "sound"} & {fault["key"] for fault in found["faults"]}


def test_ctrl_c_ends_it_in_the_middle_of_the_chirp(quiet_room: VirtualDevices, tmp_path: Path) -> None:
    """It measures its speed behind it: on a busy machine the test may hear the chirp when it is over."""
    whole = PROGRAM[:-1]
    with quiet_room.record() as recording, started(quiet_room, tmp_path, program=whole) as program:
        assert recording.wait(lambda it: it.first_audible("loudspeaker") is not None, timeout=15.0)
        began = time.monotonic()
        program.send_signal(signal.SIGINT)
        out, err = program.communicate(timeout=15.0)

    assert (130, "", "") == (program.returncode, out, err)
    assert time.monotonic() - began < 2.0
