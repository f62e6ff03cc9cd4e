"""The echo: what the microphone hears of the loudspeaker."""

from dataclasses import dataclass

import numpy as np

from discussion_helper.audio.frames import Samples
from discussion_helper.bounds import check_number
from discussion_helper.testing.room.limits import check_seconds

__all__ = ["Convolver", "Echo", "response"]


@dataclass(frozen=True, slots=True)
class Echo:
    """From `from_s` on the microphone hears the loudspeaker `gain_db` louder and `delay_s` later; None = not at all.

    Raises SettingError.
    """

    from_s: float = 0.0
    gain_db: float | None = -10.0
    delay_s: float = 0.1

    def __post_init__(self) -> None:
        check_seconds("from_s", self.from_s)
        check_seconds("delay_s", self.delay_s, most=10.0)
        if self.gain_db is not None:
            check_number("gain_db", self.gain_db, -200.0, 40.0, unit="None or decibels")


def response(rate: int, *, reverberation_s: float, wetness: float, seed: int) -> Samples:
    """The answer of a room to a click, of power 1; see `Scene` for the figures."""
    if not wetness:
        return np.ones(1, np.float32)
    count = round(reverberation_s * rate)
    fading = 10 ** (-3 * np.arange(count) / count)
    taps = np.random.default_rng(seed).standard_normal(count) * fading * wetness / np.sqrt(rate / 16_000)
    taps[0] = 1.0
    return np.asarray(taps / np.sqrt(np.square(taps).sum()), np.float32)


class Convolver:
    """Convolves a stream with `taps`, block by block, without delay; by partitions of a block, in the spectrum."""

    def __init__(self, taps: Samples, block: int) -> None:
        self._block = block
        self._taps = taps
        self._count = -(-len(taps) // block)
        padded = np.pad(taps, (0, self._count * block - len(taps))).reshape(self._count, block)
        self._filters = np.fft.rfft(padded, 2 * block)[::-1]
        # Every spectrum is kept twice, so that the newest ones are always in one row.
        self._spectra = np.zeros((2 * self._count, block + 1), np.complex64)
        self._at = 0
        self._before: Samples = np.zeros(block, np.float32)
        self._quiet = self._count + 1

    def process(self, samples: Samples) -> Samples | None:
        """The next block; None for silence, when all of it has faded."""
        self._quiet = 0 if samples.any() else self._quiet + 1
        if self._quiet > self._count:
            return None
        if len(self._taps) == 1:
            return np.asarray(samples * self._taps[0], np.float32)
        spectrum = np.fft.rfft(np.concatenate((self._before, samples)))
        self._before = samples.copy()
        self._spectra[self._at] = self._spectra[self._at + self._count] = spectrum
        self._at = (self._at + 1) % self._count
        rows = self._spectra[self._at : self._at + self._count]
        return np.asarray(np.fft.irfft((rows * self._filters).sum(axis=0))[self._block :], np.float32)
