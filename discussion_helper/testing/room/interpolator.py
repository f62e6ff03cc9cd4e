"""Samples between the samples: what a clock that runs a little differently, or at another rate, makes of a track."""

import math

import numpy as np

from discussion_helper.audio.frames import Samples
from discussion_helper.testing.room.track import Track

__all__ = ["HALF", "PHASES", "Interpolator"]

HALF = 16
"""Half the filter's length, in samples of the slower of the two rates."""
PHASES = 4096
"""Places between two samples that are told apart: the nearest one is off by no more than -68 dB."""


class Interpolator:
    """Reads a track at places that are `step` samples apart, with a windowed sinc that lets no alias through."""

    def __init__(self, step: float) -> None:
        self.step = step
        scale = max(1.0, step)
        self.reach = math.ceil(HALF * scale)
        """Samples that it needs before and after a place."""
        taps = np.arange(-self.reach + 1, self.reach + 1)
        distance = (taps[None, :] - np.arange(PHASES)[:, None] / PHASES) / scale
        window = np.i0(7.86 * np.sqrt(np.maximum(0.0, 1.0 - (distance / HALF) ** 2)))
        rows = np.sinc(distance) * window
        self._rows = np.asarray(rows / rows.sum(axis=1, keepdims=True), np.float32)

    def read(self, track: Track, place: float, count: int) -> Samples:
        """`count` samples, the first one at `place`."""
        places = np.floor((place + self.step * np.arange(count)) * PHASES + 0.5).astype(np.int64)
        index, phase = np.divmod(places, PHASES)
        first = int(index[0])
        block = track.read(first - self.reach + 1, int(index[-1]) - first + 2 * self.reach)
        windows = np.lib.stride_tricks.sliding_window_view(block, 2 * self.reach)
        out: Samples = np.einsum("ij,ij->i", windows[index - first], self._rows[phase])
        return out
