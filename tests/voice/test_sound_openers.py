"""Which device of this machine a talk uses, now and later (scenarios G3 and G4)."""

import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from discussion_helper.audio.devices import Device
from discussion_helper.errors import DeviceError
from discussion_helper.voice.devices import sound_devices
from discussion_helper.voice.sound_openers import PRIME_S, Choice, Following

NO_RATE = -9997


class FakeStream:
    def __init__(self, system: "System", kind: str, options: dict[str, Any]) -> None:
        device = system.shown[options["device"]]
        if device["name"] in system.refusing or (device["native"] and options["samplerate"] != device["native"]):
            raise system.PortAudioError("Invalid sample rate", NO_RATE)
        system.opened.append((kind, device["name"], options["samplerate"]))
        self.samplerate, self.channels = float(options["samplerate"]), options["channels"]
        system.streams.append(self)
        self.latency, self.time, self.options = options["latency"], 1.0, options

    def start(self) -> None: ...

    def abort(self) -> None: ...

    def close(self) -> None: ...


class System:
    """A sound system whose devices come and go; PortAudio shows them as they were when it was initialised."""

    class PortAudioError(Exception):
        """PortAudio's."""

    def __init__(self) -> None:
        self.opened: list[tuple[str, str, int]] = []
        self.streams: list[FakeStream] = []
        self.refusing: set[str] = set()
        self.there: list[dict[str, Any]] = []
        self.default_name = ""
        self.set("builtin", default="builtin")
        self._initialize()

    def set(self, *names: str, default: str, rate: int = 48_000, native: int = 0) -> None:
        self.default_name = default
        self.there = [
            {
                "name": name,
                "hostapi": 0,
                "max_input_channels": 1,
                "max_output_channels": 1,
                "default_samplerate": float(rate),
                "default_low_input_latency": 0.0,
                "default_low_output_latency": 0.0,
                "native": native,
            }
            for name in names
        ]

    def query_hostapis(self) -> list[dict[str, Any]]:
        return [{"name": "Core Audio", "default_input_device": 0, "default_output_device": 0}]

    def query_devices(self, index: int | None = None) -> Any:
        return self.shown if index is None else self.shown[index]

    def InputStream(self, **options: Any) -> FakeStream:  # noqa: N802 - its real name
        return FakeStream(self, "input", options)

    def OutputStream(self, **options: Any) -> FakeStream:  # noqa: N802 - its real name
        return FakeStream(self, "output", options)

    def _terminate(self) -> None: ...

    def _initialize(self) -> None:
        self.shown = list(self.there)
        number = next((i for i, device in enumerate(self.shown) if device["name"] == self.default_name), -1)
        self.default = SimpleNamespace(device={"input": number, "output": number})


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> System:
    system = System()
    monkeypatch.setitem(sys.modules, "sounddevice", system)
    return system


def names(system: System) -> list[str]:
    return [name for _, name, _ in system.opened]


def test_g3_opened_again_both_are_where_the_default_is_then(system: System) -> None:
    devices = sound_devices(None, None)
    microphone, loudspeaker = devices.open_capture(), devices.open_playback()
    system.set("builtin", "headset", default="headset")
    microphone.close()
    loudspeaker.close()

    again = devices.open_playback(), devices.open_capture()

    assert names(system) == ["builtin", "builtin", "headset", "headset"]
    assert [device.name for device in again] == ["headset [Core Audio]"] * 2
    for device in again:
        device.close()


def test_g4_a_named_device_is_never_another_one_whatever_its_number(system: System) -> None:
    system.set("webcam", "headset", "builtin", default="builtin")
    system._initialize()
    devices = sound_devices("headset", "headset")
    devices.open_capture().close()
    system.set("builtin", "webcam", default="builtin")  # pulled out: its number is the webcam's now

    with pytest.raises(DeviceError, match=r"headset \[Core Audio\].* is not there any more"):
        devices.open_capture()
    system.set("headset", "builtin", "webcam", default="builtin")
    devices.open_capture().close()

    assert names(system) == ["headset", "headset"]


def test_g4_a_device_that_is_not_there_is_told_at_the_start_with_those_that_are(system: System) -> None:
    with pytest.raises(DeviceError, match='No microphone fits "headset"') as caught:
        sound_devices("headset", None)

    assert '"builtin [Core Audio]"' in caught.value.fix
    assert system.opened == []


def test_a_new_default_that_cannot_be_opened_leaves_what_there_was(system: System) -> None:
    devices = sound_devices(None, None)
    devices.open_capture().close()
    system.set("builtin", "monitor", default="monitor")
    system.refusing.add("monitor")

    again = devices.open_capture()
    again.close()

    assert again.name == "builtin [Core Audio]"


def test_where_neither_can_be_opened_the_default_is_named(system: System) -> None:
    devices = sound_devices(None, None)
    devices.open_capture().close()
    system.set("builtin", "monitor", default="monitor")
    system.refusing |= {"monitor", "builtin"}

    with pytest.raises(DeviceError, match=r"monitor \[Core Audio\].*Invalid sample rate"):
        devices.open_capture()


def test_a_headset_that_flips_its_profile_is_opened_at_its_rate_of_then(system: System) -> None:
    devices = sound_devices(None, None)
    microphone, loudspeaker = devices.open_capture(), devices.open_playback()
    loudspeaker.playback.write(1, np.zeros(4_800, np.float32))
    microphone.close()
    loudspeaker.close()
    system.set("builtin", default="builtin", rate=16_000, native=16_000)

    again = devices.open_playback()
    heard = devices.open_capture()

    assert (microphone.rate, heard.rate) == (48_000, 16_000)
    assert (again.rate, again.playback.rate) == (16_000, 48_000)  # converted: the reply goes on
    assert again.playback is loudspeaker.playback
    assert again.playback.pending(1) == 4_800
    again.close()
    heard.close()


def test_a_loudspeaker_is_silent_until_it_is_awake(system: System) -> None:
    loudspeaker = sound_devices(None, None).open_playback()
    loudspeaker.playback.write(1, np.full(4_800, 0.5, np.float32))
    block = np.empty((480, 1), np.float32)
    times = SimpleNamespace(outputBufferDacTime=1.0, currentTime=1.0)
    heard = []
    for _ in range(30):
        system.streams[0].options["callback"](block, 480, times, None)
        heard.append(bool(block.any()))
    loudspeaker.close()

    assert heard.index(True) == round(PRIME_S * 100)


def device(name: str, *, rate: int = 48_000, default: bool = False, api: str = "Core Audio") -> Device:
    return Device(name, api, 1, 1, rate, default_input=default, default_output=default)


BUILTIN, HEADSET = device("builtin", default=True), device("headset")
NEW_DEFAULT = (replace(BUILTIN, default_input=False, default_output=False), replace(HEADSET, default_input=True))


@pytest.mark.parametrize(
    ("used", "named", "looks", "moves"),
    [
        (BUILTIN, False, [(BUILTIN, HEADSET)], [False]),
        (BUILTIN, False, [NEW_DEFAULT], [True]),
        (BUILTIN, True, [NEW_DEFAULT], [False]),  # it was named
        (HEADSET, True, [(BUILTIN, HEADSET), (BUILTIN,), (BUILTIN, HEADSET)], [False, False, True]),  # it came back
        (BUILTIN, False, [(replace(BUILTIN, rate=16_000),), (replace(BUILTIN, rate=16_000),)], [True, False]),
        (HEADSET, True, [(BUILTIN, replace(HEADSET, rate=16_000))], [True]),
        (BUILTIN, False, [()], [False]),  # nothing to move to
    ],
)
def test_when_a_device_should_be_opened_anew(
    used: Device, named: bool, looks: list[tuple[Device, ...]], moves: list[bool]
) -> None:
    choice = Choice("input", used, named)

    assert [choice.is_elsewhere(look) for look in looks] == moves


@pytest.mark.anyio
async def test_who_follows_is_told_of_each_move_and_of_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    async def watch(tell: Any) -> None:
        for look in [(BUILTIN, HEADSET), (BUILTIN,), NEW_DEFAULT]:
            tell(look)

    monkeypatch.setattr("discussion_helper.voice.sound_openers.watch_devices", watch)
    told: list[bool] = []

    await Following(Choice("input", BUILTIN, named=False), Choice("output", BUILTIN, named=True)).run(
        lambda: told.append(True)
    )

    assert told == [True]


@pytest.mark.parametrize(("api", "follows"), [("Core Audio", True), ("Windows WASAPI", True), ("ALSA", False)])
def test_devices_are_watched_only_where_something_can_be_seen(
    system: System, monkeypatch: pytest.MonkeyPatch, api: str, follows: bool
) -> None:
    apis = [{"name": api, "default_input_device": 0, "default_output_device": 0}]
    monkeypatch.setattr(system, "query_hostapis", lambda: apis)

    assert (sound_devices(None, None).follow is not None) == follows


def test_two_devices_of_a_talk_are_opened_one_after_the_other(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or PortAudio would begin anew for the one while the list is read for the other."""
    devices = sound_devices(None, None)
    devices.open_capture().close()
    devices.open_playback().close()
    looks: list[bool] = []
    looked, undisturbed = Event(), []
    read = system.query_devices

    def slow(index: int | None = None) -> Any:
        before = len(looks)
        if before == 1:
            looked.wait(0.1)  # as long as it would take the other one to get there
        undisturbed.append(len(looks) == before)
        return read(index)

    def look() -> None:
        looks.append(True)
        if len(looks) == 2:
            looked.set()

    monkeypatch.setattr(system, "query_devices", slow)
    monkeypatch.setattr(system, "_terminate", look)
    with ThreadPoolExecutor(2) as threads:
        opening = threads.submit(devices.open_capture), threads.submit(devices.open_playback)
        opened = [one.result(10.0) for one in opening]
    for stream in opened:
        stream.close()

    assert all(undisturbed)
    assert len(looks) == 1  # the second one found the first one open
