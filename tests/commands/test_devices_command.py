"""The devices command: the table, the JSON, and what a probe finds."""

import argparse
import json
import os
import subprocess
import sys

import pytest

from discussion_helper.audio.devices import Device
from discussion_helper.commands import devices
from discussion_helper.errors import DeviceError
from discussion_helper.testing.virtual_devices import VirtualDevices

MICROPHONE = Device("USB Mic", "ALSA", 1, 0, 48_000, default_input=True)
LOUDSPEAKER = Device("HDMI 0", "ALSA", 0, 8, 44_100)
PROGRAM = """
import argparse
from discussion_helper.commands import devices
parser = argparse.ArgumentParser()
devices.add_parser(parser.add_subparsers())
arguments = parser.parse_args()
raise SystemExit(arguments.run(arguments))
"""


def arguments(*given: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    devices.add_parser(parser.add_subparsers())
    return parser.parse_args(["devices", *given])


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "list_devices", lambda: [MICROPHONE, LOUDSPEAKER])


@pytest.mark.usefixtures("two")
def test_the_table_shows_both_kinds_and_marks_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    assert devices.run(arguments()) == 0

    assert capsys.readouterr().out.splitlines() == [
        "inputs",
        "* USB Mic [ALSA]   48000 Hz  1 channel",
        "outputs",
        "  HDMI 0 [ALSA]   44100 Hz  8 channels",
    ]


def test_a_machine_without_devices_has_a_table_that_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(devices, "list_devices", list)

    assert devices.run(arguments()) == 0

    assert capsys.readouterr().out == "inputs: none\noutputs: none\n"


@pytest.mark.usefixtures("two")
def test_the_json_has_every_field(capsys: pytest.CaptureFixture[str]) -> None:
    assert devices.run(arguments("--json")) == 0

    (microphone, loudspeaker) = json.loads(capsys.readouterr().out)["devices"]
    assert microphone == {
        "label": "USB Mic [ALSA]",
        "name": "USB Mic",
        "host_api": "ALSA",
        "inputs": 1,
        "outputs": 0,
        "rate": 48_000,
        "default_input": True,
        "default_output": False,
    }
    assert loudspeaker["label"] == "HDMI 0 [ALSA]"


@pytest.mark.usefixtures("two")
def test_a_probe_without_devices_tells_the_fix_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none(text: str | None, kind: str) -> Device:
        raise DeviceError(f"This machine has no {kind}.", fix="Connect one.")

    monkeypatch.setattr(devices, "find_device", none)

    assert devices.run(arguments("--probe")) == 1

    assert "input: This machine has no input. Connect one." in capsys.readouterr().out


def program(room: VirtualDevices, *given: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, "devices", *given],
        env=os.environ | room.environment(),
        capture_output=True,
        text=True,
        timeout=30.0,
        check=False,
    )


@pytest.mark.devices
def test_a_microphone_that_delivers_exact_zeros_is_told_with_the_fix() -> None:
    with VirtualDevices() as room:
        done = program(room, "--probe")

    lines = done.stdout.splitlines()
    assert done.returncode == 1
    assert done.stderr == ""
    assert "* default [ALSA]" in done.stdout
    assert "Exact zeros: it is muted, or there is no permission. Unmute it" in lines[-2]
    assert lines[-1].startswith("output: default [ALSA], 48000 Hz, ")


@pytest.mark.devices
def test_a_microphone_that_hears_something_is_told_with_its_level() -> None:
    with VirtualDevices(room_dbfs=-40.0) as room:
        done = program(room, "--probe", "--json")

    told, output = json.loads(done.stdout)["probes"]
    assert done.returncode == 0
    assert done.stderr == ""
    assert -35.0 < told["peak_dbfs"] < -20.0
    assert (told["kind"], told["rate"], told["problem"]) == ("input", 48_000, "")
    assert (output["kind"], output["peak_dbfs"], output["problem"]) == ("output", None, "")
