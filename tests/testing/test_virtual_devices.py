"""The virtual devices: what is said and played is recorded on one timeline, and nothing is left behind."""

import os
import pty
import select
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import numpy as np
import pytest
import soundfile

from discussion_helper.audio.devices import list_devices
from discussion_helper.audio.frames import Samples
from discussion_helper.errors import AudioFileError, DeviceError
from discussion_helper.testing.virtual_devices import RATE, VirtualDevices

pytestmark = pytest.mark.devices

HALF_A_SECOND = RATE // 2


@pytest.fixture(scope="module")
def room() -> Generator[VirtualDevices]:
    with VirtualDevices() as devices:
        yield devices


def noise(seed: int, seconds: float = 1.0) -> Samples:
    return np.random.default_rng(seed).normal(0.0, 0.1, round(seconds * RATE)).astype(np.float32)


def test_what_is_said_is_recorded_sample_by_sample_at_the_microphone_alone(room: VirtualDevices) -> None:
    with room.record() as recording:
        speech = room.speak(noise(1))
        assert speech.wait(10.0)

    place, correlation = recording.locate("microphone", noise(1))
    assert correlation > 0.999
    assert np.array_equal(recording.microphone[place : place + RATE], noise(1))
    assert not recording.loudspeaker.any()
    print(f"reported start against the recording: {(speech.start_s - recording.time_s(place)) * 1e3:+.1f} ms")
    assert speech.start_s == pytest.approx(recording.time_s(place), abs=0.2)
    assert speech.end_s == speech.start_s + 1.0


def test_what_is_played_is_recorded_at_the_loudspeaker_alone(room: VirtualDevices) -> None:
    with room.record() as recording:
        assert room.play(noise(2)).wait(10.0)

    assert recording.locate("loudspeaker", noise(2))[1] > 0.999
    assert not recording.microphone.any()


def test_a_file_is_said_at_the_rooms_rate(room: VirtualDevices, tmp_path: Path) -> None:
    path = tmp_path / "tone.wav"
    soundfile.write(path, np.sin(np.arange(8000) * 2 * np.pi * 440 / 16_000) * 0.5, 16_000)

    with room.record() as recording:
        assert room.speak(path).wait(10.0)

    first, last = recording.first_audible("microphone"), recording.last_audible("microphone")
    assert first is not None
    assert last is not None
    assert last - first == pytest.approx(HALF_A_SECOND, abs=100)


def test_a_file_of_no_use_is_told(room: VirtualDevices) -> None:
    with pytest.raises(AudioFileError, match="cannot be opened"):
        room.speak("nothing.wav")


def test_a_speech_that_is_stopped_is_silent_soon(room: VirtualDevices) -> None:
    with room.record() as recording:
        speech = room.speak(noise(3, 30.0))
        speech.stop()
        assert speech.wait(5.0)
        assert recording.wait_quiet("microphone", 0.2, timeout=5.0)

    assert len(recording) < 10 * RATE


@pytest.mark.parametrize(("gain_db", "delay_s"), [(-10.0, 0.1), (-30.0, 0.02), (0.0, 0.4)])
def test_the_echo_has_its_level_and_its_delay(room: VirtualDevices, gain_db: float, delay_s: float) -> None:
    sound = noise(4, 2.0)

    with room.record() as recording, room.echo(gain_db=gain_db, delay_s=delay_s):
        assert room.play(sound).wait(10.0)
        assert recording.wait_quiet("microphone", 0.3, timeout=5.0, dbfs=-70.0)

    played, _ = recording.locate("loudspeaker", sound)
    heard, correlation = recording.locate("microphone", sound)
    echo = recording.microphone[heard : heard + len(sound)]
    level = 20.0 * np.log10(np.linalg.norm(echo) / np.linalg.norm(sound))
    print(f"wanted {gain_db} dB, {delay_s * 1e3:.0f} ms: {level:.2f} dB, {(heard - played) / RATE * 1e3:.2f} ms")
    assert correlation > 0.9
    assert level == pytest.approx(gain_db, abs=0.5)
    assert (heard - played) / RATE == pytest.approx(delay_s, abs=0.005)


def test_after_the_echo_the_microphone_hears_nothing_of_the_loudspeaker(room: VirtualDevices) -> None:
    with room.echo():
        pass

    with room.record() as recording:
        assert room.play(noise(5, 0.5)).wait(10.0)

    assert not recording.microphone.any()


def test_a_recording_goes_up_to_the_moment_it_is_left_and_can_be_read_before(room: VirtualDevices) -> None:
    with room.record() as recording:
        assert recording.wait(lambda it: len(it) > RATE // 4, timeout=5.0)
        before = len(recording)
        assert len(recording.samples("microphone", after=100)) >= before - 100

    assert len(recording) >= before
    assert recording.index(recording.time_s(1234)) == 1234
    assert recording.first_audible("loudspeaker") is None
    with pytest.raises(ValueError, match="longer"):
        recording.locate("microphone", noise(1, 100.0))


def test_a_recording_that_reaches_its_limit_is_told(room: VirtualDevices) -> None:
    with pytest.raises(DeviceError, match="broke off after"), room.record(limit_s=0.1) as recording:
        recording.wait(lambda it: len(it) > RATE, timeout=5.0)


def test_a_quiet_room_is_never_digitally_silent() -> None:
    with VirtualDevices(room_dbfs=-60.0) as room, room.record() as recording:
        assert recording.wait(lambda it: it.first_audible("microphone", dbfs=-70.0) is not None, timeout=5.0)
        begun = len(recording)
        assert recording.wait(lambda it: len(it) > begun + RATE, timeout=5.0)
        sound = recording.samples("microphone", after=begun)

    assert 20.0 * np.log10(sound.std()) == pytest.approx(-60.0, abs=1.0)
    assert not recording.loudspeaker.any()


def test_applied_they_are_this_process_devices_and_afterwards_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULSE_SINK", "mine")
    monkeypatch.delenv("PULSE_SERVER", raising=False)

    with VirtualDevices() as room:
        room.apply()
        assert os.environ["PULSE_SERVER"] == room.environment()["PULSE_SERVER"]
        assert "pulse [ALSA]" in [device.label for device in list_devices()]

    assert os.environ["PULSE_SINK"] == "mine"
    assert "PULSE_SERVER" not in os.environ


def test_a_machine_without_pulseaudio_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(DeviceError, match="PulseAudio") as caught, VirtualDevices():
        pass

    assert "apt-get install pulseaudio" in caught.value.fix


def test_a_daemon_that_does_not_start_is_told_with_its_own_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "pulseaudio"
    program.write_text("#!/bin/sh\necho no such luck >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    with pytest.raises(DeviceError, match="did not start: no such luck"), VirtualDevices():
        pass


def daemons_of(server: str) -> list[int]:
    """Process numbers of everything that has the room's folder in its command line."""
    folder = os.path.dirname(server.removeprefix("unix:"))
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if folder.encode() in line:
                found.append(int(entry.name))
    return found


def gone(process: int, timeout: float) -> bool:
    """Wait until that process has ended."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], timeout)[0])
    finally:
        os.close(handle)


def test_nothing_is_left_when_it_is_left() -> None:
    with VirtualDevices() as room:
        server = room.environment()["PULSE_SERVER"]
        room.speak(noise(6, 30.0))
        daemons = daemons_of(server)
        assert daemons

    assert all(gone(process, 5.0) for process in daemons)
    assert all(gone(process, 5.0) for process in daemons_of(server))
    assert not Path(server.removeprefix("unix:")).parent.exists()


def test_a_frozen_daemon_does_not_keep_it_from_being_left() -> None:
    room = VirtualDevices()
    with room:
        daemons = daemons_of(room.environment()["PULSE_SERVER"])
        with room.frozen():
            room.__exit__(None, None, None)
            assert all(gone(process, 5.0) for process in daemons)


KILLED = """
import sys
from discussion_helper.testing.virtual_devices import VirtualDevices
with VirtualDevices() as room:
    print(room.environment()["PULSE_SERVER"], flush=True)
    sys.stdin.read()
"""


def test_the_daemon_and_its_files_go_when_their_program_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KILLED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        server = program.stdout.readline().strip()
        daemons = daemons_of(server)
        assert daemons
        program.kill()

    assert all(gone(process, 5.0) for process in daemons)
    assert not Path(server.removeprefix("unix:")).parent.exists()


MODULE = (sys.executable, "-m", "discussion_helper.testing.virtual_devices")
LISTS = """
from discussion_helper.audio.devices import find_device
from discussion_helper.audio.inbox import Inbox
from discussion_helper.audio.portaudio import PortAudioCapture
with PortAudioCapture(find_device(None, "input"), Inbox()) as microphone:
    print(microphone.name, microphone.rate)
raise SystemExit(7)
"""


def test_a_command_has_the_devices_and_its_exit_code_comes_back() -> None:
    done = subprocess.run([*MODULE, "--", sys.executable, "-c", LISTS], capture_output=True, text=True, check=False)

    assert (7, f"default [ALSA] {RATE}\n") == (done.returncode, done.stdout)
    (line,) = [line for line in done.stderr.splitlines() if "PULSE_SERVER=" in line]
    server = line.partition("PULSE_SERVER=unix:")[2].split()[0]
    assert not Path(server).parent.exists()


def test_a_person_has_time_to_read_how_to_say_something() -> None:
    master, slave = pty.openpty()
    there = [*MODULE, "--", sys.executable, "-c", "print('there')"]
    with subprocess.Popen(there, stdin=slave, stderr=slave, stdout=subprocess.PIPE) as program:
        shown = b""
        while not shown.endswith(b"press Enter. "):
            shown += os.read(master, 1024)
        assert program.stdout is not None
        assert not select.select([program.stdout], [], [], 0.0)[0]
        os.write(master, b"\n")
        assert b"there\n" == program.stdout.readline()
        assert 0 == program.wait(10.0)
    os.close(master)
    os.close(slave)
    assert b"paplay --device=mouth" in shown


def test_a_command_that_is_not_there_is_told_in_a_line() -> None:
    done = subprocess.run([*MODULE, "--", "no-such-command"], capture_output=True, text=True, check=False)

    assert 127 == done.returncode
    assert "no-such-command: No such file or directory" == done.stderr.splitlines()[-1]


def test_a_command_that_is_terminated_takes_its_devices_along() -> None:
    wait = "import sys, time; print('there', flush=True); sys.stdin.read()"
    pipe = subprocess.PIPE
    with subprocess.Popen([*MODULE, "--", sys.executable, "-c", wait], stdin=pipe, stdout=pipe, stderr=pipe) as program:
        assert program.stdout is not None
        assert b"there\n" == program.stdout.readline()
        program.terminate()
        assert 128 + 15 == program.wait(10.0)
