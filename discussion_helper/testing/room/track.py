"""A track: samples with their places."""

import numpy as np

from discussion_helper.audio.frames import Samples

__all__ = ["Track"]


class Track:
    """Mono samples by index, from 0 on: zeros where nothing was written, and before the last `keep` samples."""

    def __init__(self, keep: int | None = None) -> None:
        """`keep` None: everything is kept."""
        self._keep = keep
        self._first = self.end = 0
        self._data: Samples = np.zeros(1 << 15, np.float32)

    def write(self, start: int, samples: Samples) -> None:
        """Put samples there. What is before the kept ones is ignored."""
        end = start + len(samples)
        if end - self._first > len(self._data):
            self._make_room(end)
        low = max(start, self._first)
        if low < end:
            self._data[low - self._first : end - self._first] = samples[low - start :]
            self.end = max(self.end, end)

    def read(self, start: int, count: int) -> Samples:
        """`count` samples from `start` on; not to be changed."""
        at = start - self._first
        if at >= 0 and at + count <= len(self._data):
            return self._data[at : at + count]
        out = np.zeros(count, np.float32)
        low, high = max(start, self._first), min(start + count, self.end)
        if low < high:
            out[low - start : high - start] = self._data[low - self._first : high - self._first]
        return out

    def cut(self, at: int) -> None:
        """Forget what was written from there on."""
        self._data[max(0, at - self._first) :] = 0.0
        self.end = min(self.end, max(at, self._first))

    def _make_room(self, end: int) -> None:
        first = self._first if self._keep is None else max(self._first, end - self._keep)
        held = self._data[first - self._first : max(0, self.end - self._first)]
        size = max(len(self._data), 2 * (end - first))
        self._data = np.zeros(size, np.float32)
        self._data[: len(held)] = held
        self._first = first
        self.end = max(self.end, first)
