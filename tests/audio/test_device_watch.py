"""The watch on the devices: a real child process, on a sound system that is a file."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import anyio
import pytest

from discussion_helper.audio.device_watch import watch_devices
from discussion_helper.audio.devices import Device
from discussion_helper.testing.virtual_devices import VirtualDevices

pytestmark = pytest.mark.anyio

SOON_S = 0.05
FAKE = """
import json, os, socket
from types import SimpleNamespace
alive = socket.create_connection(("127.0.0.1", int(os.environ["FAKE_PORT"])))  # it breaks when this process ends
def _initialize():
    global state
    with open(os.environ["FAKE_DEVICES"]) as file:
        state = json.load(file)
class PortAudioError(Exception): ...
def _terminate(): ...
def query_hostapis():
    return [{"name": "Core Audio", "default_input_device": 0, "default_output_device": 0}]
def query_devices():
    return [{"name": name, "hostapi": 0, "max_input_channels": 1, "max_output_channels": 1, "default_samplerate": 48e3,
             } for name in state["names"]]
class default:
    @property
    def device(self):
        return {"input": state["default"], "output": state["default"]}
default = default()
_initialize()
"""
PARENT = """
import anyio
from discussion_helper.audio.device_watch import watch_devices
anyio.run(watch_devices, lambda devices: print("looking", flush=True))
"""


@pytest.fixture
def anyio_backend() -> str:
    """Real time: a real process takes part."""
    return "asyncio"


class System:
    """A sound system for child processes; each of them holds a connection."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "devices.json"
        self.server = socket.create_server(("127.0.0.1", 0))
        self.server.settimeout(10.0)
        (folder / "sounddevice.py").write_text(FAKE)
        self.environment = {
            "PYTHONPATH": str(folder),
            "FAKE_PORT": str(self.server.getsockname()[1]),
            "FAKE_DEVICES": str(self._file),
        }

    def set(self, *names: str, default: int = 0) -> None:
        other = self._file.with_suffix(".new")
        other.write_text(json.dumps({"names": names, "default": default}))
        other.replace(self._file)

    def child(self) -> socket.socket:
        connection, _ = self.server.accept()
        connection.settimeout(5.0)
        return connection


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[System]:
    system = System(tmp_path)
    for name, value in system.environment.items():
        monkeypatch.setenv(name, value)
    with closing(system.server):
        yield system


def defaults(devices: Sequence[Device]) -> list[str]:
    return [device.label for device in devices if device.default_output]


async def test_g3_another_default_is_told_and_what_stays_is_not(system: System) -> None:
    send, told = anyio.create_memory_object_stream[Sequence[Device]](100)
    system.set("speakers")

    async def watch() -> None:
        await watch_devices(send.send_nowait, look_s=SOON_S)

    with send, told, anyio.fail_after(20.0):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            first = await told.receive()
            system.set("speakers", "headphones")
            second = await told.receive()
            system.set("speakers", "headphones", default=1)
            third = await told.receive()
            tasks.cancel_scope.cancel()
        with system.child() as child:
            assert child.recv(1) == b""  # it ended with the watch

        assert told.statistics().current_buffer_used == 0
    assert [device.label for device in second] == ["speakers [Core Audio]", "headphones [Core Audio]"]
    assert [defaults(one) for one in (first, second, third)] == [
        *[["speakers [Core Audio]"]] * 2,
        ["headphones [Core Audio]"],
    ]


def test_l4_a_watch_whose_program_was_killed_ends_by_itself(system: System) -> None:
    system.set("speakers")
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "text": True}

    with (
        subprocess.Popen([sys.executable, "-c", PARENT], env=os.environ | system.environment, **streams) as parent,
        system.child() as child,
    ):
        assert parent.stdout is not None
        assert parent.stdout.readline() == "looking\n"
        parent.send_signal(signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
        assert child.recv(1) == b""  # within 5 s


async def test_where_nothing_can_be_watched_a_program_goes_on_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    told: list[Sequence[Device]] = []

    await watch_devices(told.append)

    assert told == []


async def test_a_child_that_dies_ends_the_watch(system: System, tmp_path: Path) -> None:
    (tmp_path / "sounddevice.py").write_text("raise SystemExit(3)")

    with anyio.fail_after(20.0):
        await watch_devices(lambda devices: None)


@pytest.mark.devices
async def test_real_devices_are_seen_from_a_process_of_their_own(room: VirtualDevices) -> None:
    send, told = anyio.create_memory_object_stream[Sequence[Device]](100)

    with send, told, anyio.fail_after(20.0):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch_devices, send.send_nowait)
            devices = await told.receive()
            tasks.cancel_scope.cancel()

    assert "pulse [ALSA]" in [device.label for device in devices]
    assert defaults(devices) == ["default [ALSA]"]
