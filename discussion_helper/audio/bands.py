"""The bands of a sound: its power in four parts of the spectrum of speech."""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discussion_helper.audio.frames import Samples

__all__ = ["COUNT", "EDGES_HZ", "FLOOR", "SLOPE", "Bands", "Powers", "over_db"]

EDGES_HZ = (200, 700, 1500, 3000, 8001)
"""What is below them is hum, and nobody's voice."""
COUNT = len(EDGES_HZ) - 1
SLOPE = 0.95
"""Of the pre-emphasis: speech is about as strong in each band, and what is strong leaks into no other."""
FLOOR = 1e-12
"""-120 dBFS: nothing."""

Powers: TypeAlias = NDArray[np.float64]
"""Mean squares, one for each band."""

_FRAME = 320


class Bands:
    """Measures a stream at 16 kHz every 10 ms, over the last 20 ms. Takes 15 us."""

    def __init__(self) -> None:
        self._window = np.hanning(_FRAME)
        hertz = np.fft.rfftfreq(_FRAME, 1.0 / 16_000)
        self._starts = np.searchsorted(hertz, EDGES_HZ[:-1])
        self._scale = 2.0 / (0.375 * _FRAME**2)  # the window's mean square is 0.375
        self.reset()

    def reset(self) -> None:
        """Forget the last block."""
        self._heard = np.zeros(_FRAME + 1)
        self._sounds = True

    def push(self, block: Samples) -> Powers:
        """The next 160 samples; the powers up to there."""
        before, self._sounds = self._sounds, bool(block.any())
        self._heard = np.concatenate((self._heard[len(block) :], block))
        if not (before or self._sounds):
            return np.zeros(COUNT)
        spectrum = np.fft.rfft((self._heard[1:] - SLOPE * self._heard[:-1]) * self._window)
        power = np.square(spectrum.real) + np.square(spectrum.imag)
        return np.asarray(np.add.reduceat(power, self._starts) * self._scale, np.float64)


def over_db(near: Powers, expected: Powers) -> float:
    """How far a block is above what was expected: in the two bands that are the most above it, on average, in dB.

    One band alone is too often wrong; in the mean of all, who shares some bands with the agent is heard later.
    """
    ratios = sorted((np.maximum(near, FLOOR) / np.maximum(expected, FLOOR)).tolist())
    return 5.0 * math.log10(ratios[-1] * ratios[-2])
