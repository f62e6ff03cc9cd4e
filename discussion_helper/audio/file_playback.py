"""A loudspeaker that is a file."""

import errno
import os
import sys
import wave
from contextlib import suppress
from pathlib import Path

import numpy as np

from discussion_helper.audio.file_claim import claim
from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import DeviceLost, Inbox, Played
from discussion_helper.audio.playback import Playback
from discussion_helper.errors import AudioFileError

__all__ = ["FilePlayback"]

_DISK_FIX = "Make room on that disk, or name a file on another one."
_NAME_FIX = "Choose a shorter name."
_MAX_BYTES = 1 << 31
"""Of a recording: six hours at 48 kHz, and what every reader of WAV files takes."""


class FilePlayback:
    """A loudspeaker that writes a WAV file, 16 bits at the rate of `playback`; run by `FileDevices`.

    Sample n of the file is when sample n of a `FileCapture` of that rate is, and `Played` frames count alike. The
    header is right after every block, so the file can be read at any moment, also after this process was killed; that
    is why it is written in its place. What was in the file before stays until there is the first sample of an answer;
    where there never is one, a file that was not there before is gone again. Nobody else who claims it writes to it
    until it is closed. A disk that is full puts one `DeviceLost`. After 2 GB (six hours) it goes on without writing.
    """

    def __init__(self, path: str | os.PathLike[str], playback: Playback, inbox: Inbox) -> None:
        self.name = str(path)
        self.rate = playback.rate
        self.playback = playback
        self._path = Path(path)
        self._inbox = inbox
        self._written = 0
        self._wav: wave.Wave_write | None = None
        self._made = False
        """There was no such file before."""
        self._lost = False

    def open(self) -> None:
        """Create the file, or claim the one that is there. Raises AudioFileError."""
        if self._path.suffix.lower() != ".wav":
            raise AudioFileError(f'"{self._path}" is no name for a WAV file.', fix="Let it end in .wav.")
        if self._path.is_fifo():  # opening it would wait for a reader
            raise AudioFileError(f'"{self._path}" is a pipe.', fix="Give the path of a WAV file.")
        made = not os.path.lexists(self._path)
        try:
            self._file = open(self._path, "wb", opener=_as_it_is)  # noqa: SIM115 - until `close`
            self._claim()
            self._made = made
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
        void, self._made = self._made and self._wav is None, False
        if void and sys.platform != "win32":  # while it is claimed: then it is nobody else's yet
            self._remove()
        for thing in (self._wav, self._file):
            with suppress(OSError):
                if thing is not None:
                    thing.close()
        if void and sys.platform == "win32":  # where no open file can be removed
            self._remove()

    def _remove(self) -> None:
        with suppress(OSError):
            self._path.unlink()

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
