"""A talk that follows the default device: the whole way from a process that looks to the reply that goes on."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import numpy as np
import pytest

from discussion_helper.audio import device_watch
from discussion_helper.voice.devices import sound_devices
from discussion_helper.voice.engine import AudioEngine

pytestmark = pytest.mark.anyio

FAKE = '''
"""A host API that is a file: what is there, and which one is the default. Looked at when it is initialised."""
import json, os
from types import SimpleNamespace
file = os.environ.get("FAKE_DEVICES")
class PortAudioError(Exception): ...
def _terminate(): ...
def _initialize():
    global names, default
    with open(file) as opened:
        names = json.load(opened)
    default = SimpleNamespace(device={"input": 0, "output": 0})  # the first one
def query_hostapis():
    return [{"name": "Core Audio", "default_input_device": 0, "default_output_device": 0}]
def query_devices(index=None):
    rows = [{"name": name, "hostapi": 0, "max_input_channels": 1, "max_output_channels": 1,
             "default_samplerate": float(rate), "default_low_input_latency": 0.0, "default_low_output_latency": 0.0}
            for name, rate in names]
    return rows if index is None else rows[index]
class Stream:
    def __init__(self, **options):
        self.samplerate, self.channels, self.latency, self.time = float(options["samplerate"]), 1, 0.0, 1.0
    def start(self): ...
    def abort(self): ...
    def close(self): ...
InputStream = OutputStream = Stream
_initialize()
'''


@pytest.fixture
def anyio_backend() -> str:
    """Real time: a real process takes part."""
    return "asyncio"


class System:
    def __init__(self, folder: Path) -> None:
        self.file = folder / "devices.json"

    def set(self, *devices: tuple[str, int]) -> None:
        """The first one is the default."""
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(devices))
        new.replace(self.file)


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> System:
    system = System(tmp_path)
    system.set(("builtin", 48_000))
    (tmp_path / "sounddevice.py").write_text(FAKE)
    monkeypatch.setenv("FAKE_DEVICES", str(system.file))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "sounddevice", sys)  # so that what is there now comes back, be it nothing
    monkeypatch.delitem(sys.modules, "sounddevice")
    monkeypatch.setattr(device_watch.watch_devices, "__kwdefaults__", {"look_s": 0.05})
    return system


class Ears:
    def __init__(self) -> None:
        self.send, self.told = anyio.create_memory_object_stream[tuple[str, str, str]](100)

    def noted(self, note: object) -> None: ...

    def device(self, which: str, state: str, **more: str) -> None:
        self.send.send_nowait((which, state, more.get("name", "")))

    def lost(self, error: Exception) -> None:
        raise AssertionError from error


def engine(microphone: str | None, loudspeaker: str | None) -> AudioEngine:
    devices = sound_devices(microphone, loudspeaker)
    make: Callable[[int], Any] = lambda rate: SimpleNamespace(finish=list)  # noqa: E731
    return AudioEngine(
        inbox=devices.inbox,
        open_capture=devices.open_capture,
        open_playback=devices.open_playback,
        follow=devices.follow,
        hearing=make,
    )


async def opened(ears: Ears, name: str) -> None:
    """Wait until both are open there. The microphone delivers nothing, and may be lost and opened again meanwhile."""
    missing = {(which, "open", name) for which in ("microphone", "loudspeaker")}
    while missing:
        missing.discard(await ears.told.receive())


async def test_g3_plugged_in_headphones_are_used_and_pulled_out_left_with_the_reply_kept(system: System) -> None:
    ears = Ears()
    with ears.send, ears.told, anyio.fail_after(30.0):
        async with engine(None, None) as it:
            assert await it.open_microphone(ears) == "builtin [Core Audio]"
            system.set(("headset", 16_000), ("builtin", 48_000))
            await opened(ears, "headset [Core Audio]")
            rates = it._capture and it._capture.rate
            it.playback.write(1, np.full(4_800, 0.5, np.float32))
            system.set(("builtin", 48_000))
            with anyio.move_on_after(0.5):
                await ears.told.receive()
                raise AssertionError("in the middle of a clause")
            it.marks.set(1, 4_799)
            it.marks.pass_all(1, 4_800, 0.0)  # its end
            await opened(ears, "builtin [Core Audio]")
            pending = it.playback.pending(1)

    assert rates == 16_000
    assert pending == 4_800


async def test_a_named_device_is_left_by_nobody(system: System) -> None:
    ears = Ears()
    with ears.send, ears.told:
        async with engine("builtin", "builtin") as it:
            await it.open_microphone(ears)
            system.set(("headset", 16_000), ("builtin", 48_000))
            with anyio.move_on_after(1.5):
                await ears.told.receive()
                raise AssertionError("moved")
            system.set(("headset", 16_000), ("builtin", 44_100))  # the watch is at work: this is to be seen
            with anyio.fail_after(20.0):
                await opened(ears, "builtin [Core Audio]")
