"""A recording of the virtual room: microphone and loudspeaker on one timeline."""

import subprocess
import time
from collections.abc import Callable
from threading import Condition, Thread
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discussion_helper.audio.frames import Samples
from discussion_helper.errors import DeviceError

__all__ = ["Channel", "Recording"]

Channel = Literal["loudspeaker", "microphone"]

_COLUMN: dict[Channel, int] = {"loudspeaker": 0, "microphone": 1}
_FRAME_BYTES = 8
"""One float32 for the loudspeaker, one for the microphone."""


class Recording:
    """What both virtual devices carried, taken from one stereo stream: sample n of the one is simultaneous with sample
    n of the other. It grows until `finish()` and stays readable.

    `start_s` is the time of sample 0 on the clock of `time.monotonic`. Only this is an estimate: a block can be read
    too late, never too early, so the earliest one seen counts.
    """

    def __init__(self, recorder: "subprocess.Popen[bytes]", *, rate: int, limit_s: float) -> None:
        self.rate = rate
        self.start_s = float("inf")
        self._recorder = recorder
        self._limit = round(limit_s * rate) * _FRAME_BYTES
        self._data = bytearray()
        self._ended = self._finished = False
        self._changed = Condition()
        self._reader = Thread(target=self._read, name="room-recording", daemon=True)
        self._reader.start()

    def __len__(self) -> int:
        """Samples so far."""
        return len(self._data) // _FRAME_BYTES

    @property
    def loudspeaker(self) -> Samples:
        """A copy of what was played so far, shape (n,)."""
        return self.samples("loudspeaker")

    @property
    def microphone(self) -> Samples:
        """A copy of what was at the microphone so far, shape (n,)."""
        return self.samples("microphone")

    def samples(self, channel: Channel, *, after: int = 0) -> Samples:
        """A copy of one channel from sample `after` on."""
        with self._changed:
            data = bytes(memoryview(self._data)[after * _FRAME_BYTES : len(self) * _FRAME_BYTES])
        return np.frombuffer(data, np.float32).reshape(-1, 2)[:, _COLUMN[channel]].copy()

    def index(self, at_s: float) -> int:
        """The sample at a time of the clock of `time.monotonic`."""
        return round((at_s - self.start_s) * self.rate)

    def time_s(self, index: int) -> float:
        """The time of a sample on the clock of `time.monotonic`."""
        return self.start_s + index / self.rate

    def first_audible(self, channel: Channel, *, after: int = 0, dbfs: float = -40.0) -> int | None:
        """Index of the first sample from `after` on whose magnitude is above `dbfs`; None if there is none."""
        loud = self._loud(channel, after, dbfs)
        return after + int(loud[0]) if len(loud) else None

    def last_audible(self, channel: Channel, *, after: int = 0, dbfs: float = -40.0) -> int | None:
        """Index of the last sample from `after` on whose magnitude is above `dbfs`; None if there is none."""
        loud = self._loud(channel, after, dbfs)
        return after + int(loud[-1]) if len(loud) else None

    def locate(self, channel: Channel, sound: Samples) -> tuple[int, float]:
        """Where `sound` (at `rate`) begins, and the correlation there: 1.0 for the very same samples at any level.

        Raises ValueError if it is longer than the recording, or silent.
        """
        heard = self.samples(channel).astype(np.float64)
        sought = sound.astype(np.float64)
        reach = len(heard) - len(sought) + 1
        if reach < 1 or not np.any(sought):
            raise ValueError("The sound must not be silent nor longer than the recording.")
        size = 1 << (len(heard) + len(sought)).bit_length()
        product = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(sought, size)), size)[:reach]
        energy = np.concatenate([[0.0], np.cumsum(heard**2)])
        under = energy[len(sought) :] - energy[:reach]
        # A stretch a million times weaker than the loudest would divide rounding errors by nearly nothing.
        score = product / np.sqrt(np.maximum(under, 1e-12 + 1e-6 * under.max()) * np.sum(sought**2))
        best = int(np.argmax(score))
        return best, float(score[best])

    def wait(self, until: Callable[["Recording"], bool], *, timeout: float) -> bool:
        """Wait until `until(self)` holds; it is tried after every new block.

        False if it does not hold after `timeout` seconds, or when the recording ends.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._ended or until(self), timeout)
            return until(self)

    def wait_quiet(self, channel: Channel, seconds: float, *, timeout: float, dbfs: float = -40.0) -> bool:
        """Wait until nothing above `dbfs` was on `channel` for the last `seconds`. False after `timeout` seconds."""
        span = round(seconds * self.rate)
        return self.wait(
            lambda it: len(it) >= span and it.first_audible(channel, after=len(it) - span, dbfs=dbfs) is None,
            timeout=timeout,
        )

    def finish(self) -> None:
        """Read up to this moment, then end. Idempotent, takes at most 5 s. Raises DeviceError if it broke off."""
        if self._finished:
            return
        self._finished = True
        now = time.monotonic()
        complete = self.wait(lambda it: it.time_s(len(it)) >= now, timeout=1.0)
        self._recorder.kill()
        self._recorder.wait(2.0)
        self._reader.join(2.0)
        if not complete:
            raise DeviceError(f"The recording broke off after {len(self) / self.rate:.1f} s.")

    def _read(self) -> None:
        stream: Any = self._recorder.stdout
        with stream:
            while (block := stream.read1(1 << 16)) and len(self._data) < self._limit:
                self._append(block)
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _append(self, block: bytes) -> None:
        with self._changed:
            self.start_s = min(self.start_s, time.monotonic() - len(self) / self.rate)
            self._data += block
            self._changed.notify_all()

    def _loud(self, channel: Channel, after: int, dbfs: float) -> NDArray[np.intp]:
        return np.flatnonzero(np.abs(self.samples(channel, after=after)) > 10.0 ** (dbfs / 20.0))
