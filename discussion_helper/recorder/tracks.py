"""The tracks of a take, as sound files of one timeline, the microphone's."""

import os
import struct
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import numpy as np

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.resample import Resampler
from discussion_helper.errors import AudioFileError

__all__ = ["LONGEST_PAUSE_S", "MOST_LEFT_OUT_S", "Timeline", "Track"]

MOST_LEFT_OUT_S = 0.1
"""Of a block that belongs where something is already."""

LONGEST_PAUSE_S = 10.0
"""A microphone that was closed for longer leaves no more silence than that in the files, and nothing lies further
behind what it heard last."""


class Timeline:
    """From the clock of the items to seconds in the files; sample time while the microphone is open."""

    def __init__(self) -> None:
        self._file_s: float | None = None
        self._at_s = self._zero_s = 0.0
        self._end = -1
        self.microphone_s = 0.0
        """Where the block of the microphone begins that was met last."""

    def captured(self, frame: Frame, at_s: float) -> float:
        """Where a block of the microphone belongs, in seconds."""
        if self._file_s is None:
            self._file_s, self._zero_s, self._at_s = 0.0, frame.start_s, at_s
        elif not 0 <= frame.start - self._end <= LONGEST_PAUSE_S * frame.rate:
            passed_s = min(max(at_s - self._at_s, 0.0), LONGEST_PAUSE_S)
            self._file_s, self._zero_s = self.microphone_s + passed_s, frame.start_s
        self._end = frame.end
        self.microphone_s, self._at_s = self._file_s + frame.start_s - self._zero_s, at_s
        return self.microphone_s

    def of(self, at_s: float) -> float:
        """A time of the items, by the block of the microphone that was met last."""
        return self.after(at_s - self._at_s) if self._file_s is not None else 0.0

    def after(self, passed_s: float) -> float:
        """So long after the block of the microphone that was met last, in seconds."""
        return max(0.0, self.microphone_s + min(passed_s, LONGEST_PAUSE_S))


class Track:
    """A WAV file of 32-bit floats. Blocks that follow one another stay so; others go where their time says."""

    def __init__(self, path: Path, *, late_s: float = 0.0) -> None:
        """`late_s`: by which what is put is late."""
        self.path = path
        self._late_s = late_s
        self._file: Any = None
        self._rate = 0
        self._written = 0
        self._expected = -1
        self._ahead = 0
        self._resampler: Resampler | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if self._file is not None:
            try:
                self._file.close()
            except (RuntimeError, OSError) as failure:
                raise self._not_written(failure) from failure
            _forget_time(self.path)

    def put(self, frame: Frame, file_s: float) -> None:
        """A block, and where it belongs. The file gets the first one's rate. Raises AudioFileError."""
        if self._file is None:
            self._file, self._rate = _opened(self.path, frame.rate), frame.rate
        if self._resampler is None or self._resampler.source_rate != frame.rate or frame.start != self._expected:
            self._resampler = Resampler(frame.rate, self._rate)
            self._place(round((file_s - self._late_s) * self._rate))
        self._expected = frame.end
        samples = self._resampler.process(frame.samples)
        left_out, self._ahead = samples[: self._ahead], max(0, self._ahead - len(samples))
        self._write(samples[len(left_out) :])

    def _place(self, place: int) -> None:
        """Go there: over silence, or by leaving out the little that would come too late."""
        self._ahead = min(max(0, self._written - place), round(MOST_LEFT_OUT_S * self._rate))
        while place > self._written:
            self._write(np.zeros(min(place - self._written, self._rate), np.float32))

    def _write(self, samples: Samples) -> None:
        try:
            self._file.write(samples)
        except (RuntimeError, OSError) as error:
            raise self._not_written(error) from error
        self._written += len(samples)

    def _not_written(self, error: Exception) -> AudioFileError:
        return AudioFileError(f'"{self.path}" cannot be written: {error}', fix="Make room on that disk.")


def _opened(path: Path, rate: int) -> Any:
    import soundfile

    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        return soundfile.SoundFile(path, "w", rate, 1, "FLOAT", format="WAV")
    except (soundfile.SoundFileError, OSError) as error:
        raise AudioFileError(f'"{path}" cannot be written: {error}', fix="Name another folder.") from error


def _forget_time(path: Path) -> None:
    """Take out when the file was written, which libsndfile puts beside its peak: else no two files are the same."""
    head = struct.Struct("<4sI")
    with path.open("r+b") as file:
        at = 12  # behind the kind of the whole file
        while len(data := _read_at(file, at, head.size)) == head.size:
            name, size = head.unpack(data)
            if name == b"PEAK":
                file.seek(at + head.size + 4)  # behind the version
                file.write(bytes(4))
                return
            at += head.size + size + size % 2


def _read_at(file: BinaryIO, place: int, size: int) -> bytes:
    file.seek(place)
    return file.read(size)
