"""PortAudio without a machine's devices: a fake of `sounddevice`, and the virtual devices."""

import sys
from collections.abc import Callable, Generator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from discussion_helper.audio.frames import Samples
from discussion_helper.testing.virtual_devices import VirtualDevices


class FakeStream:
    """A stream whose callback runs when the test says so."""

    def __init__(self, library: "FakePortAudio", kind: str, **options: Any) -> None:
        library.attempts.append((options["channels"], options["samplerate"]))
        code = library.refuses(options["channels"], options["samplerate"])
        if code:
            raise library.PortAudioError("Invalid something", code)
        self.library = library
        self.kind = kind
        self.options = options
        self.samplerate = float(options["samplerate"])
        self.channels = options["channels"]
        self.latency = 0.02
        self.time = library.now
        self.calls: list[str] = []
        library.streams.append(self)

    def start(self) -> None:
        if self.library.on_start:
            raise self.library.on_start
        self.calls.append("start")

    def abort(self) -> None:
        self.library.on_abort()
        self.calls.append("abort")
        self.options["finished_callback"]()

    def close(self) -> None:
        self.calls.append("close")

    def run(self, block: Samples, *, at: float = 1.0, **flags: bool) -> None:
        """One callback with a block of shape (frames, channels), whose first sample is at the converter at `at`."""
        times = SimpleNamespace(inputBufferAdcTime=at, outputBufferDacTime=at, currentTime=self.library.now)
        status = SimpleNamespace(input_overflow=False, output_underflow=False)
        vars(status).update(flags)
        self.options["callback"](block, len(block), times, status)


class FakePortAudio:
    """What is used of the module `sounddevice`."""

    class PortAudioError(Exception):
        """PortAudio's."""

    class CallbackAbort(Exception):
        """Ends a stream."""

    def __init__(self) -> None:
        self.now = 1.0
        self.streams: list[FakeStream] = []
        self.attempts: list[tuple[int, int]] = []
        self.refuses: Callable[[int, int], int] = lambda channels, rate: 0
        self.on_abort: Callable[[], object] = lambda: None
        self.on_start: Exception | None = None
        self.apis: list[dict[str, Any]] = []
        self.devices: list[dict[str, Any]] = []
        self.default = SimpleNamespace(device={"input": -1, "output": -1})
        self.looks: list[str] = []

    def add(self, name: str, api: str = "ALSA", *, inputs: int = 0, outputs: int = 0, rate: float = 44_100.0) -> int:
        """Add a device, the default one of its kinds and API if it is the first; its number."""
        number = len(self.devices)
        if api not in [known["name"] for known in self.apis]:
            self.apis.append({"name": api, "default_input_device": -1, "default_output_device": -1})
        index = [known["name"] for known in self.apis].index(api)
        for kind, channels in (("input", inputs), ("output", outputs)):
            if channels and self.apis[index][f"default_{kind}_device"] < 0:
                self.apis[index][f"default_{kind}_device"] = number
            if channels and self.default.device[kind] < 0:
                self.default.device[kind] = number
        self.devices.append(
            {
                "name": name,
                "hostapi": index,
                "max_input_channels": inputs,
                "max_output_channels": outputs,
                "default_samplerate": rate,
                "default_low_input_latency": 0.008,
                "default_low_output_latency": 0.1 if api == "MME" else 0.008,
            }
        )
        return number

    def query_hostapis(self) -> list[dict[str, Any]]:
        return self.apis

    def query_devices(self, index: int | None = None) -> Any:
        return self.devices if index is None else self.devices[index]

    def InputStream(self, **options: Any) -> FakeStream:  # noqa: N802 - its real name
        return FakeStream(self, "input", **options)

    def OutputStream(self, **options: Any) -> FakeStream:  # noqa: N802 - its real name
        return FakeStream(self, "output", **options)

    def _terminate(self) -> None:
        self.looks.append("terminate")

    def _initialize(self) -> None:
        self.looks.append("initialize")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> FakePortAudio:
    """PortAudio without a device yet."""
    library = FakePortAudio()
    monkeypatch.setitem(sys.modules, "sounddevice", library)
    return library


@pytest.fixture(scope="session")
def room() -> Generator[VirtualDevices]:
    """The virtual devices, in use by PortAudio in this process."""
    with VirtualDevices() as devices:
        devices.apply()
        yield devices


@pytest.fixture(scope="session")
def voice_like() -> Samples:
    """Two seconds of noise that swells like speech, at 48 kHz: no part of it is like another."""
    noise = np.random.default_rng(7).normal(0.0, 0.1, 96_000)
    return (noise * (0.6 + 0.4 * np.sin(np.arange(96_000) / 2_500.0))).astype(np.float32)
