"""A microphone that is made of files."""

from collections import deque
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from threading import Lock

import numpy as np

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Captured, Inbox

__all__ = ["FileCapture", "Said"]

_RATE = 48_000
_MAX_WAITING = 16
"""Clips that may wait to be said."""


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
    the level of a faint noise between them and in blocks of exact zeros, None for digital silence, which a real
    microphone delivers only when it is muted.
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
            if piece.any():  # its digital silence is not that of a muted microphone
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
