"""Files as a microphone and a loudspeaker, in real time."""

import errno
import os
import time
import wave
from collections import deque
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Self

import numpy as np

from discussion_helper.audio.file_claim import claim
from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Captured, DeviceLost, Inbox, Played
from discussion_helper.audio.playback import Playback
from discussion_helper.errors import AudioFileError

__all__ = ["FileCapture", "FileDevices", "FilePlayback", "Said"]

_RATE = 48_000
_BLOCK_S = 0.010
_MAX_WAITING = 16
"""Clips that may wait to be said."""
_LATE_S = 0.2
"""Up to this much is caught up. Beyond it the machine was asleep, and the time is declared lost."""
_DISK_FIX = "Make room on that disk, or name a file on another one."
_NAME_FIX = "Choose a shorter name."
_MAX_BYTES = 1 << 31
"""Of a recording: six hours at 48 kHz, and what every reader of WAV files takes."""


@dataclass(frozen=True, slots=True)
class Said:
    """A clip that went through the microphone, as samples `start` to `end` (excluded) of the capture.

    `start_s` and `end_s` are the same places on the clock of `time.monotonic`.
    """

    start: int
    end: int
    start_s: float
    end_s: float


@dataclass(slots=True)
class _Clip:
    samples: Samples
    said: "Future[Said]"
    place: int = 0
    start: int = 0
    start_s: float = 0.0


class FileCapture:
    """A microphone that says clips when it is told to, and hears next to nothing in between; run by `FileDevices`.

    `clips` are frames of `rate` hertz, as `files.load(path, rate)` gives them; ValueError for others. `room_dbfs` is
    the level of a faint noise between them, None for digital silence, which a real microphone delivers only when it is
    muted.
    """

    def __init__(
        self, clips: Sequence[Frame], inbox: Inbox, *, rate: int = _RATE, room_dbfs: float | None = -80.0
    ) -> None:
        if any(clip.rate != rate for clip in clips):
            raise ValueError(f"Clips for this device must have {rate} Hz.")
        self.name = "files"
        self.rate = rate
        self._clips = clips
        self._inbox = inbox
        self._lock = Lock()
        self._waiting: deque[_Clip] = deque()
        self._closed = False
        level = 0.0 if room_dbfs is None else 10.0 ** (room_dbfs / 20.0)
        self._room = np.random.default_rng(0).normal(0.0, level, rate).astype(np.float32)

    def say(self, clip: int | Samples) -> "Future[Said]":
        """Say one of the clips, by its number, or other samples: from the next block on, or after those asked before.

        The future is done once the last sample was delivered; its callbacks run on the device's thread. To cancel it
        before the clip begins drops the clip. Raises RuntimeError when 16 clips wait or the device is closed, and
        ValueError when there is nothing to say.
        """
        samples = self._clips[clip].samples if isinstance(clip, int) else clip
        if not len(samples):
            raise ValueError("The clip has no samples.")
        with self._lock:
            if self._closed or len(self._waiting) == _MAX_WAITING:
                raise RuntimeError("The device is closed." if self._closed else f"{_MAX_WAITING} clips wait already.")
            self._waiting.append(_Clip(samples, Future()))
            return self._waiting[-1].said

    def step(self, start: int, length: int, at_s: float) -> None:
        """Deliver the block that begins with sample `start`, which was there at `at_s`."""
        block = np.take(self._room, np.arange(start, start + length), mode="wrap")
        clip = self._next(start, at_s)
        if clip:
            piece = clip.samples[clip.place : clip.place + length]
            block[: len(piece)] = piece
            clip.place += len(piece)
        self._inbox.put(Captured(Frame(block, self.rate, start), at_s))
        if clip and clip.place == len(clip.samples):
            self._end(clip, start + len(piece), at_s + len(piece) / self.rate)

    def close(self) -> None:
        """Cancel what was not said to its end, and take nothing more. Idempotent."""
        with self._lock:
            self._closed = True
            left = [self._waiting.popleft() for _ in range(len(self._waiting))]
        for clip in left:
            if not clip.said.cancel() and not clip.said.done():
                clip.said.set_exception(CancelledError())

    def _next(self, start: int, at_s: float) -> _Clip | None:
        with self._lock:
            while self._waiting:
                clip = self._waiting[0]
                if clip.place or clip.said.set_running_or_notify_cancel():
                    break
                self._waiting.popleft()
            else:
                return None
        if not clip.place:
            clip.start, clip.start_s = start, at_s
        return clip

    def _end(self, clip: _Clip, end: int, end_s: float) -> None:
        with self._lock:
            self._waiting.popleft()
        clip.said.set_result(Said(clip.start, end, clip.start_s, end_s))


class FilePlayback:
    """A loudspeaker that writes a WAV file, 16 bits at the rate of `playback`; run by `FileDevices`.

    Sample n of the file is when sample n of a `FileCapture` of that rate is, and `Played` frames count alike. The
    header is right after every block, so the file can be read at any moment, also after this process was killed; that
    is why it is written in its place. What was in the file before stays until there is the first sample of an answer,
    and nobody else who claims it writes to it until it is closed. A disk that is full puts one `DeviceLost`. After
    2 GB (six hours) it goes on without writing.
    """

    def __init__(self, path: str | os.PathLike[str], playback: Playback, inbox: Inbox) -> None:
        self.name = str(path)
        self.rate = playback.rate
        self.playback = playback
        self._path = Path(path)
        self._inbox = inbox
        self._written = 0
        self._wav: wave.Wave_write | None = None
        self._lost = False

    def open(self) -> None:
        """Create the file, or claim the one that is there. Raises AudioFileError."""
        if self._path.suffix.lower() != ".wav":
            raise AudioFileError(f'"{self._path}" is no name for a WAV file.', fix="Let it end in .wav.")
        if self._path.is_fifo():  # opening it would wait for a reader
            raise AudioFileError(f'"{self._path}" is a pipe.', fix="Give the path of a WAV file.")
        try:
            self._file = open(self._path, "wb", opener=_as_it_is)  # noqa: SIM115 - until `close`
            self._claim()
            if not os.fstat(self._file.fileno()).st_size:
                self._begin()
        except OSError as error:
            what = f'"{self._path}" cannot be written: {error.strerror}.'
            fix = "Choose a folder that is there and may be written to."
            raise AudioFileError(what, fix=_NAME_FIX if error.errno == errno.ENAMETOOLONG else fix) from error

    def _claim(self) -> None:
        if not claim(self._file.fileno()):
            self._file.close()
            raise AudioFileError(f'"{self._path}" is being written by another talk.', fix="Name another file.")

    def _begin(self) -> wave.Wave_write:
        if os.fstat(self._file.fileno()).st_size:
            self._file.truncate(0)
        wav = wave.Wave_write(self._file)
        wav.setparams((1, 2, self.rate, 0, "NONE", ""))
        wav.writeframes(b"")
        self._wav = wav
        return wav

    def step(self, start: int, length: int, at_s: float) -> None:
        """Render and write the block that begins with sample `start`, which is heard at `at_s`."""
        if self._lost:
            return
        block = np.empty(length, np.float32)
        position = self.playback.render(block)
        try:
            if self._wav is not None or position is not None:
                self._write(self._wav or self._begin(), start, block)
        except OSError as error:
            self._lost = True
            what = f'"{self._path}" cannot be written: {error.strerror}'
            self._inbox.put(DeviceLost("playback", what, fix=_DISK_FIX, returns=False))
            return
        if position is not None:
            self._inbox.put(Played(Frame(block, self.rate, start), at_s, position))

    def close(self) -> None:
        """Close the file. Idempotent; a disk that is full does not matter any more."""
        for thing in (self._wav, self._file):
            with suppress(OSError):
                if thing is not None:
                    thing.close()

    def _write(self, wav: wave.Wave_write, start: int, block: Samples) -> None:
        if 2 * (start + len(block)) > _MAX_BYTES:
            return
        while self._written < start:  # what lies before the block was silence
            silence = min(start - self._written, self.rate)
            wav.writeframes(bytes(2 * silence))
            self._written += silence
        wav.writeframes(np.rint(block * np.float32(32767.0)).astype("<i2").tobytes())
        self._written = start + len(block)


def _as_it_is(path: str, flags: int) -> int:
    """Open a file to be written, without emptying it."""
    return os.open(path, flags & ~os.O_TRUNC, 0o666)


class FileDevices:
    """Runs a `FileCapture` and a `FilePlayback`, or one of them, from one thread: the clock of both.

    Block n is delivered when it is over, on a schedule that does not drift, and the loudspeaker's next block is
    rendered at that moment. `start_s` is the time of sample 0 of both on the clock of `time.monotonic`; `late` counts
    the blocks that were left out because the machine did not run.
    """

    def __init__(
        self, capture: FileCapture | None = None, playback: FilePlayback | None = None, *, block_s: float = _BLOCK_S
    ) -> None:
        self.capture = capture
        self.playback = playback
        self.start_s = 0.0
        self.late = 0
        self._block_s = block_s
        self._closing = Event()
        self._thread = Thread(target=self._run, name="file-devices", daemon=True)

    def __enter__(self) -> Self:
        if self.playback:
            self.playback.open()
        self.start_s = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Stop after the block under way, close the file and cancel what was not said. Idempotent, 1 s at most."""
        self._closing.set()
        if self._thread.ident is not None:
            self._thread.join(1.0)

    def _run(self) -> None:
        number = 0
        try:
            while not self._closing.wait(max(0.0, self._time_s(number + 1) - time.monotonic())):
                number += self._lost_blocks(number)
                self._step(number)
                number += 1
        finally:
            for device in (self.capture, self.playback):
                if device:
                    device.close()

    def _step(self, number: int) -> None:
        if self.capture:
            start, end = self._samples(number, self.capture.rate)
            self.capture.step(start, end - start, self._time_s(number))
        if self.playback:
            start, end = self._samples(number + 1, self.playback.rate)
            self.playback.step(start, end - start, self._time_s(number + 1))

    def _lost_blocks(self, number: int) -> int:
        behind = time.monotonic() - self._time_s(number + 1)
        lost = int(behind / self._block_s) if behind > _LATE_S else 0
        self.late += lost
        return lost

    def _samples(self, number: int, rate: int) -> tuple[int, int]:
        return round(number * self._block_s * rate), round((number + 1) * self._block_s * rate)

    def _time_s(self, number: int) -> float:
        return self.start_s + number * self._block_s
