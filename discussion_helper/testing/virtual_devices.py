"""A microphone and a loudspeaker without hardware, which PortAudio opens like any others.

`python -m discussion_helper.testing.virtual_devices -- COMMAND` runs a command with them as its default devices.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from types import TracebackType
from typing import Any, Self

import numpy as np

from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Samples
from discussion_helper.audio.portaudio_library import refresh
from discussion_helper.errors import DeviceError
from discussion_helper.testing.pulse import PulseDaemon
from discussion_helper.testing.recording import Recording

__all__ = ["RATE", "Speech", "VirtualDevices", "main"]

RATE = 48_000
"""Hertz of the room and of both devices."""

_MONO = "format=float32le rate=48000 channels=1 channel_map=mono remix=no"
# One stereo sink is the room: its left channel is the loudspeaker, its right one what the microphone hears. So both
# have one clock, and the room's monitor records them side by side. Without `norewinds` streams stall for up to 2 s.
_ROOM = f"""\
load-module module-native-protocol-unix socket={{socket}} auth-anonymous=1 auth-cookie-enabled=0
load-module module-null-sink sink_name=room format=float32le rate=48000 channels=2 norewinds=1
load-module module-remap-sink sink_name=loudspeaker master=room master_channel_map=front-left {_MONO}
load-module module-remap-sink sink_name=mouth master=room master_channel_map=front-right {_MONO}
load-module module-remap-source source_name=microphone master=room.monitor master_channel_map=front-right {_MONO}
set-default-sink loudspeaker
set-default-source microphone
"""
_ALSA = "pcm.!default { type pulse }\nctl.!default { type pulse }\n"
_RAW = ("--raw", "--format=float32le", f"--rate={RATE}")


class VirtualDevices:
    """A microphone that hears what `speak` is given, and a loudspeaker that `record` listens to.

    Needs Linux and PulseAudio's programs; no sound hardware, no D-Bus, no root. `room_dbfs` lets the microphone hear a
    faint noise instead of digital silence. Entering takes about 0.2 s and raises DeviceError if that cannot be; leaving
    takes at most 3 s. Nothing is left running, also if this process is killed.

    PortAudio reads the environment when it is initialised: start a program that shall use the devices with
    `environment()`, or call `apply()` to use them in this process.
    """

    def __init__(self, *, room_dbfs: float | None = None) -> None:
        self._room_dbfs = room_dbfs
        self._exit = ExitStack()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="room-")))
            (self._directory / "asound.conf").write_text(_ALSA)
            self._daemon = PulseDaemon(_ROOM, self._directory)
            stack.callback(self._daemon.stop)
            if self._room_dbfs is not None:
                self._fill_room(self._room_dbfs)
            self._exit = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._exit.close()

    def environment(self) -> dict[str, str]:
        """Variables for a program that shall have these devices as its default ones."""
        return {
            "ALSA_CONFIG_PATH": f"/usr/share/alsa/alsa.conf:{self._directory / 'asound.conf'}",
            "JACK_NO_START_SERVER": "1",
            "PULSE_SERVER": self._daemon.server,
            "PULSE_SINK": "loudspeaker",
            "PULSE_SOURCE": "microphone",
        }

    def apply(self) -> None:
        """Let PortAudio in this process see these devices until they are closed. No stream may be open then or now."""
        before = {name: os.environ.get(name) for name in self.environment()}
        self._exit.callback(_set_environment, before)
        _set_environment(self.environment())

    def speak(self, sound: Samples | str | os.PathLike[str]) -> "Speech":
        """Say mono samples at 48 kHz, or an audio file, into the microphone; returns when the first sample is there.

        Several may speak at once. Raises AudioFileError, and DeviceError if nothing starts within 5 s.
        """
        return self._sound(sound, "mouth")

    def play(self, sound: Samples | str | os.PathLike[str]) -> "Speech":
        """Play it in the loudspeaker, as another program would; else like `speak`."""
        return self._sound(sound, "loudspeaker")

    @contextmanager
    def record(self, *, limit_s: float = 900.0) -> Generator[Recording]:
        """Record both devices on one timeline, at most `limit_s` seconds (0.4 MB each).

        It has begun when the block is entered and is complete up to the moment the block is left. Raises DeviceError
        if it breaks off.
        """
        command = ("parec", *_RAW, "--channels=2", "--device=room.monitor", "--latency-msec=10")
        recording = Recording(self._daemon.client(*command, stdout=subprocess.PIPE), rate=RATE, limit_s=limit_s)
        try:
            if not recording.wait(lambda it: len(it) > 0, timeout=5.0):
                raise DeviceError("The virtual devices deliver no sound.")
            yield recording
        except BaseException:
            with suppress(DeviceError):
                recording.finish()
            raise
        recording.finish()

    @contextmanager
    def echo(self, *, gain_db: float = -10.0, delay_s: float = 0.1) -> Generator[None]:
        """Let the microphone hear the loudspeaker, changed by `gain_db` and `delay_s` (0.02 or more) later."""
        loopback = f"module-loopback source=loudspeaker.monitor sink=mouth channels=1 latency_msec={delay_s * 1e3:.0f}"
        # Both ends have one clock, so nothing needs to be adjusted and the delay stays as it is.
        module = self._daemon.control("load-module", *loopback.split(), "adjust_time=0").strip()
        try:
            inputs: list[dict[str, Any]] = json.loads(self._daemon.control("-f", "json", "list", "sink-inputs"))
            index = next(str(one["index"]) for one in inputs if one["owner_module"] == module)
            self._daemon.control("set-sink-input-volume", index, f"{10.0 ** (gain_db / 20.0):.6f}")
            yield
        finally:
            with suppress(DeviceError):  # the daemon may be gone, and the echo with it
                self._daemon.control("unload-module", module)

    def unplug(self) -> None:
        """Take both devices away, as a pulled plug does."""
        self._daemon.kill()

    def plug_in(self) -> None:
        """Bring both devices back after `unplug`. Raises DeviceError."""
        self._daemon = PulseDaemon(_ROOM, self._directory)
        self._exit.callback(self._daemon.stop)
        if self._room_dbfs is not None:
            self._fill_room(self._room_dbfs)

    def control(self, *arguments: str) -> str:
        """The answer of PulseAudio's `pactl`: another default, a suspended sink, who uses what. Raises DeviceError."""
        return self._daemon.control(*arguments)

    def frozen(self) -> AbstractContextManager[None]:
        """Inside the block both devices hang: they stay open, but neither take nor give anything, nor answer."""
        return self._daemon.frozen()

    def _sound(self, sound: Samples | str | os.PathLike[str], sink: str) -> "Speech":
        samples = sound if isinstance(sound, np.ndarray) else load(sound, RATE).samples
        with tempfile.TemporaryFile(dir=self._directory) as raw:
            raw.write(samples.astype(np.float32).tobytes())
            raw.seek(0)
            # It plays from a buffer of 2 s, so that a busy machine makes no holes.
            process = self._daemon.client(
                *("pacat", "-v", *_RAW, "--channels=1", f"--device={sink}", "--latency-msec=2000"),
                stdin=raw,
                stderr=subprocess.PIPE,
            )
        return Speech(process, len(samples) / RATE)

    def _fill_room(self, dbfs: float) -> None:
        noise = np.random.default_rng(0).normal(0.0, 10.0 ** (dbfs / 20.0), 10 * RATE).astype(np.float32)
        feeder = self._daemon.client(
            *("pacat", *_RAW, "--channels=1", "--device=mouth", "--latency-msec=2000"), stdin=subprocess.PIPE
        )
        Thread(target=_feed, args=(feeder, noise.tobytes()), name="room-noise", daemon=True).start()


class Speech:
    """Something that is being said into the virtual microphone, or played in the loudspeaker.

    `start_s` is when its first sample was there, on the clock of `time.monotonic`, as PulseAudio reports it. A
    recording has it exactly (`Recording.locate`).
    """

    def __init__(self, process: "subprocess.Popen[bytes]", duration_s: float) -> None:
        self.duration_s = duration_s
        self.start_s = 0.0
        self._process = process
        self._report = b""
        self._begun = Event()
        self._ended = Event()
        Thread(target=self._follow, name="speech", daemon=True).start()
        if not self._begun.wait(5.0) or not self.start_s:
            self.stop()
            raise DeviceError(f"Nothing can be said or played: {self._report.decode(errors='replace')}")

    @property
    def end_s(self) -> float:
        """When its last sample is there."""
        return self.start_s + self.duration_s

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the last sample was there. False if that takes more than `timeout` seconds."""
        return self._ended.wait(timeout)

    def stop(self) -> None:
        """Fall silent at once; idempotent."""
        self._process.kill()

    def _follow(self) -> None:
        """Read what the player reports to its end, so that it never has to wait for a reader."""
        report: Any = self._process.stderr
        with report:
            while line := report.readline(200):
                if b"Stream started" in line:
                    self.start_s = time.monotonic()
                    self._begun.set()
                self._report = line.strip()
        self._process.wait()
        self._ended.set()
        self._begun.set()


def _feed(process: "subprocess.Popen[bytes]", sound: bytes) -> None:
    """Repeat `sound` until nobody takes it any more."""
    stdin: Any = process.stdin
    with suppress(BrokenPipeError):
        while True:
            stdin.write(sound)
    with suppress(BrokenPipeError):
        stdin.close()
    process.wait()


def _set_environment(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    refresh()


# -- as a command

_QUIET_ROOM_DBFS = -70.0
"""Exact zeros would be taken for a muted microphone."""
_NOT_FOUND = 127
"""What shells report for a command that there is not."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command with virtual devices as its default ones, and clean up; its exit code as a shell has it."""
    parser = argparse.ArgumentParser(
        prog="python -m discussion_helper.testing.virtual_devices",
        description="Run a command with a virtual microphone and loudspeaker as its default devices.",
    )
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="the command, behind --")
    command = parser.parse_args(argv).command
    try:
        with VirtualDevices(room_dbfs=_QUIET_ROOM_DBFS) as devices:
            server = devices.environment()["PULSE_SERVER"]
            say = f"PULSE_SERVER={server} paplay --device=mouth FILE.wav"
            print(f"The microphone is virtual. Elsewhere, to say something: {say}", file=sys.stderr, flush=True)
            if not _read():
                return 128 + signal.SIGINT
            return _run(command, os.environ | devices.environment())
    except DeviceError as error:
        print(error, file=sys.stderr)
        return 1


def _read() -> bool:
    """Wait until a person has read that, for a command that takes the whole screen hides it; False = leave instead."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    print("Copy that, and press Enter.", file=sys.stderr, end=" ", flush=True)
    try:
        return bool(sys.stdin.readline())
    except KeyboardInterrupt:
        return False


def _run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Signals are the command's to end by, and it comes back first: its devices outlive it."""
    try:
        process = subprocess.Popen(command, env=environment)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        return _NOT_FOUND
    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN),  # the terminal sends it to both
        signal.SIGTERM: signal.signal(signal.SIGTERM, lambda *_: process.terminate()),
    }
    try:
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
