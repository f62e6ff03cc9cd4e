"""The noise of a room."""

from typing import Literal

import numpy as np

from discussion_helper.audio.frames import Samples

__all__ = ["LOOP_S", "Colour", "Noise"]

Colour = Literal["white", "pink", "brown"]
LOOP_S = 8.0
"""Coloured noise begins anew after so long."""
_SLOPES: dict[Colour, float] = {"white": 0.0, "pink": -0.5, "brown": -1.0}
_LOWEST_HZ = 20.0


class Noise:
    """A stream of noise with a level in dBFS (its root mean square); None = digital silence."""

    def __init__(self, rate: int, dbfs: float | None, colour: Colour, seed: int) -> None:
        self._rate = rate
        self._gain = 0.0 if dbfs is None else 10.0 ** (dbfs / 20.0)
        self._random = np.random.default_rng(seed)
        self._loop = self._coloured(_SLOPES[colour]) if self._gain and colour != "white" else None
        self._ready: Samples = np.zeros(0, np.float32)

    def read(self, count: int) -> Samples:
        """The next samples; yours to change."""
        if not self._gain:
            return np.zeros(count, np.float32)
        if len(self._ready) < count:
            more = self._white() if self._loop is None else self._loop
            self._ready = np.concatenate((self._ready, more))
        out, self._ready = self._ready[:count], self._ready[count:]
        return out

    def _white(self) -> Samples:
        return np.asarray(self._random.standard_normal(self._rate) * self._gain, np.float32)

    def _coloured(self, slope: float) -> Samples:
        count = round(LOOP_S * self._rate)
        spectrum = np.fft.rfft(self._random.standard_normal(count))
        hertz = np.fft.rfftfreq(count, 1.0 / self._rate)
        shaped = np.fft.irfft(spectrum * (hertz >= _LOWEST_HZ) * np.maximum(hertz, _LOWEST_HZ) ** slope, count)
        return np.asarray(shaped * (self._gain / np.sqrt(np.mean(np.square(shaped)))), np.float32)
