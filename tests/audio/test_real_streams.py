"""PortAudio with the virtual microphone and loudspeaker: sound through, stopping, unplugging, hanging."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import numpy as np
import pytest

from discussion_helper.audio.devices import find_device, refresh_if_unused
from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Captured, Closed, DeviceLost, Inbox, Item, Played
from discussion_helper.audio.playback import Playback, Position
from discussion_helper.audio.portaudio import PortAudioCapture, PortAudioPlayback
from discussion_helper.testing.virtual_devices import RATE, VirtualDevices

pytestmark = pytest.mark.devices

PATIENT_S = 0.2
"""A latency that makes no holes on a machine that is busy with other tests."""
HANGING = """
import json, sys, time
from discussion_helper.audio.devices import find_device
from discussion_helper.audio.inbox import Captured, Inbox
from discussion_helper.audio.portaudio import PortAudioCapture
inbox = Inbox()
device = PortAudioCapture(find_device(None, "input"), inbox).__enter__()
assert isinstance(inbox.get(timeout=5.0), Captured)
print("open", flush=True)
sys.stdin.readline()
before = time.monotonic()
device.close()
print(json.dumps({"took": time.monotonic() - before, "hung": device.hung}), flush=True)
"""
UNPLUGGED = """
import sys
from discussion_helper.audio.devices import find_device
from discussion_helper.audio.inbox import Captured, DeviceLost, Inbox
from discussion_helper.audio.playback import Playback
from discussion_helper.audio.portaudio import PortAudioCapture, PortAudioPlayback
inbox = Inbox(capacity=100_000)
microphone, loudspeaker = find_device(None, "input"), find_device(None, "output")
with PortAudioCapture(microphone, inbox), PortAudioPlayback(loudspeaker, Playback, inbox):
    assert isinstance(inbox.get(timeout=5.0), Captured)
    print("open", flush=True)
    lost = set()
    while len(lost) < 2:
        item = inbox.get(timeout=10.0)
        if isinstance(item, DeviceLost):
            lost.add(item.which)
    print("The devices went away.", file=sys.stderr)
"""
LISTING = """
from discussion_helper.audio.devices import list_devices
from discussion_helper.errors import DeviceError
try:
    list_devices()
except DeviceError as error:
    print(error.what)
"""


def drained(inbox: Inbox) -> list[Item]:
    inbox.close()
    items: list[Item] = []
    while (item := inbox.get(timeout=1.0)) is not None and not isinstance(item, Closed):
        items.append(item)
    return items


def place_of(sound: Samples, heard: Samples) -> int:
    """Where `sound` begins in `heard`, by correlation."""
    size = 1 << (len(heard) + len(sound)).bit_length()
    product = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(sound, size)), size)
    return int(np.argmax(product[: len(heard) - len(sound) + 1]))


def test_what_is_said_arrives_sample_by_sample(room: VirtualDevices, voice_like: Samples) -> None:
    inbox = Inbox(capacity=2000)

    with room.record() as recording, PortAudioCapture(find_device(None, "input"), inbox) as microphone:
        assert room.speak(voice_like).wait(20.0)
        assert recording.wait_quiet("microphone", 0.3, timeout=5.0)
    blocks = [item for item in drained(inbox) if isinstance(item, Captured)]

    heard = np.concatenate([block.frame.samples for block in blocks])
    place = place_of(voice_like, heard)
    assert np.array_equal(heard[place : place + len(voice_like)], voice_like)
    assert (microphone.rate, microphone.channels) == (RATE, 1)
    at_s = blocks[0].at_s + place / RATE
    there, _ = recording.locate("microphone", voice_like)
    print(f"time at the ADC against the recording: {(at_s - recording.time_s(there)) * 1e3:+.1f} ms")
    assert at_s == pytest.approx(recording.time_s(there), abs=0.2)


def test_what_is_played_is_heard_sample_by_sample(room: VirtualDevices, voice_like: Samples) -> None:
    inbox = Inbox(capacity=2000)
    speaker = PortAudioPlayback(find_device(None, "output"), Playback, inbox, latency_s=PATIENT_S)

    with room.record() as recording, speaker:
        speaker.playback.write(1, voice_like)
        assert recording.wait(lambda it: it.first_audible("loudspeaker") is not None, timeout=5.0)
        assert recording.wait_quiet("loudspeaker", 0.5, timeout=10.0)
    blocks = [item for item in drained(inbox) if isinstance(item, Played)]

    there, correlation = recording.locate("loudspeaker", voice_like)
    assert correlation > 0.999
    assert np.array_equal(np.concatenate([block.frame.samples for block in blocks])[: len(voice_like)], voice_like)
    assert blocks[-1].position.samples == len(voice_like)
    print(f"time at the DAC against the recording: {(blocks[0].at_s - recording.time_s(there)) * 1e3:+.1f} ms")
    assert blocks[0].at_s == pytest.approx(recording.time_s(there), abs=0.3)


def test_a_halt_is_heard_soon(room: VirtualDevices) -> None:
    """The goal is 60 ms on a quiet machine."""
    tone = np.sin(np.arange(RATE * 20) * 2 * np.pi * 440 / RATE).astype(np.float32) * np.float32(0.3)
    silent_ms = []

    with room.record() as recording, PortAudioPlayback(find_device(None, "output"), Playback, Inbox()) as speaker:
        for generation in range(5):
            begun = len(recording)
            speaker.playback.write(generation, tone)
            assert recording.wait(lambda it: it.first_audible("loudspeaker", after=begun) is not None, timeout=5.0)  # noqa: B023
            halted = time.monotonic()
            position = speaker.playback.halt(generation)
            assert 0 < position.samples < RATE
            assert recording.wait_quiet("loudspeaker", 0.2, timeout=5.0)
            last = recording.last_audible("loudspeaker", after=begun)
            assert last is not None
            silent_ms.append((recording.time_s(last) - halted) * 1e3)

    print("silent after a halt:", *(f"{ms:.0f}" for ms in silent_ms), "ms")
    assert np.median(silent_ms) < 500.0


def test_a_pulled_plug_is_two_lost_devices(room: VirtualDevices) -> None:
    inbox = Inbox(capacity=2000)
    with VirtualDevices() as devices:
        devices.apply()
        microphone, loudspeaker = find_device(None, "input"), find_device(None, "output")
        with PortAudioCapture(microphone, inbox), PortAudioPlayback(loudspeaker, Playback, inbox):
            assert isinstance(inbox.get(timeout=5.0), Captured)
            devices.unplug()
            lost = {item.which: item.reason for item in _lost(inbox, 2)}

    assert set(lost) == {"capture", "playback"}
    assert microphone.label in lost["capture"]


def test_what_portaudio_says_of_a_pulled_plug_stays_off_the_terminal() -> None:
    with VirtualDevices() as devices, _program(UNPLUGGED, devices, stderr=subprocess.PIPE) as program:
        assert program.stdout.readline() == "open\n"
        devices.unplug()
        assert program.stderr.read() == "The devices went away.\n"
        assert program.wait(10.0) == 0


def _lost(inbox: Inbox, number: int) -> list[DeviceLost]:
    found: list[DeviceLost] = []
    while len(found) < number:
        item = inbox.get(timeout=10.0)
        assert item is not None
        if isinstance(item, DeviceLost):
            found.append(item)
    return found


def test_a_program_whose_device_hangs_closes_it_and_exits_in_time() -> None:
    with VirtualDevices() as devices, _program(HANGING, devices) as program:
        assert program.stdout.readline() == "open\n"
        with devices.frozen():
            program.stdin.write("\n")
            program.stdin.flush()
            told = json.loads(program.stdout.readline())
            assert program.wait(10.0) == 0

    assert told["hung"]
    assert 0.9 < told["took"] < 3.0


def test_a_sound_system_that_hangs_is_told_in_time() -> None:
    with VirtualDevices() as devices, devices.frozen(), _program(LISTING, devices) as program:
        assert program.stdout.read() == "The sound system does not answer.\n"
        assert program.wait(10.0) == 0


def _program(text: str, devices: VirtualDevices, **streams: Any) -> Any:
    return subprocess.Popen(
        [sys.executable, "-c", text],
        env=os.environ | devices.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        **streams,
    )


class _Stalling(Playback):
    """Its 20th block comes 0.3 s late, which is more than the device holds."""

    def __init__(self, rate: int) -> None:
        super().__init__(rate)
        self.blocks = 0
        self.recovered = Event()

    def render(self, out: Samples) -> Position | None:
        self.blocks += 1
        if self.blocks == 20:
            self.recovered.wait(0.3)
        if self.blocks == 60:
            self.recovered.set()
        return super().render(out)


def test_an_underrun_is_counted_and_not_written_to_stderr(
    room: VirtualDevices, capfd: pytest.CaptureFixture[str]
) -> None:
    stalling = _Stalling(RATE)

    with PortAudioPlayback(find_device(None, "output"), stalling, Inbox()) as speaker:
        assert stalling.recovered.wait(10.0)

    assert speaker.underflows > 0
    assert capfd.readouterr().err == ""


def test_looking_for_devices_in_a_talk_writes_nothing_to_stderr_and_loses_nothing(
    room: VirtualDevices, capfd: pytest.CaptureFixture[str]
) -> None:
    done = Event()

    def write() -> None:
        while not done.is_set():
            os.write(2, b".")
            written.append(1)

    written: list[int] = []
    with ThreadPoolExecutor(1) as helper:
        writing = helper.submit(write)
        assert refresh_if_unused()
        done.set()
        writing.result(5.0)

    assert find_device(None, "input").inputs
    assert capfd.readouterr().err == "." * len(written)
