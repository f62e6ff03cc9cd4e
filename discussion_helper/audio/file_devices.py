"""Files as a microphone and a loudspeaker, in real time."""

import time
from threading import Event, Thread
from types import TracebackType
from typing import Self

from discussion_helper.audio.file_capture import FileCapture, Said
from discussion_helper.audio.file_playback import FilePlayback

__all__ = ["FileCapture", "FileDevices", "FilePlayback", "Said"]

_BLOCK_S = 0.010
_LATE_S = 0.2
"""Up to this much is caught up. Beyond it the machine was asleep, and the time is declared lost."""


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
