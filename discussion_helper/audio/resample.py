"""Resampling, always with a filter: a stream with a short, steady delay, and whole clips."""

import math

import numpy as np
import soxr
from numpy.typing import NDArray

from discussion_helper.audio.frames import Samples
from discussion_helper.errors import SettingError

__all__ = ["HALF", "KAISER_BETA", "MOST_APART", "MOST_WEIGHTS", "PLACES", "ClipResampler", "Resampler", "resample"]

HALF = 20
"""Half the filter's length, in samples of the slower of the two rates."""
KAISER_BETA = 7.86
"""Kaiser's formula for 80 dB, which this length reaches over a quarter of the slower Nyquist frequency."""
MOST_APART = 100
"""One rate over the other, in a stream."""
MOST_WEIGHTS = 100_000
"""Of a filter for each place that an output sample has between two inputs. Common rates need 52,000 at most."""
PLACES = 256
"""Where that would be too many, of which the nearest two are interpolated: an error of -110 dB at 8 of 44.1 kHz."""


class Resampler:
    """Resamples a stream, block by block, with a constant delay of 20 samples of the slower rate.

    A block of n seconds in gives n seconds out at once, so blocks of 10 ms stay blocks of 10 ms; what comes out is
    `delay_s` late. The filter is a windowed sinc in polyphase form.

    Why not soxr, which `resample` uses: its streams deliver in bursts. Measured with soxr 1.1.0 in blocks of 10 ms,
    the wait for a sample in ms (shortest / mean / longest) and the strongest alias of a tone of full scale in 9-20 kHz:

                                  48 -> 16 kHz              44.1 -> 16 kHz
        QQ                      0   /  0   /  0      0 dB     0   /  0   /  0      0 dB   (no filter)
        LQ                      2.5 / 11.2 / 20.0 -109 dB     1.5 / 11.7 / 21.7 -117 dB
        MQ                      5.0 / 21.4 / 37.6 -116 dB     5.4 / 23.1 / 41.1 -127 dB
        HQ                      6.1 / 21.2 / 36.6 -137 dB     6.7 / 23.2 / 40.2 -136 dB
        variable rate          12.5 / 12.5 / 12.5 -114 dB    13.6 / 13.6 / 13.6 -114 dB
        this                    1.25, steady       -79 dB     1.25, steady       -79 dB

    Here tones up to 7 kHz pass within 0.1 dB and 8 kHz is halved. A rate that has no small ratio to the other, as
    44,101 Hz, is met exactly as well, but with a filter that is interpolated: no start computes millions of weights.
    Raises SettingError for rates that are not positive, or are more than MOST_APART times apart.
    """

    def __init__(self, source_rate: int, target_rate: int) -> None:
        _check(source_rate, target_rate)
        if max(source_rate, target_rate) > MOST_APART * min(source_rate, target_rate):
            what = f"From a sample rate of {source_rate} Hz to one of {target_rate} Hz is too far."
            raise SettingError(what, fix=f"Use rates that are at most {MOST_APART} times apart.")
        self.source_rate = source_rate
        self.target_rate = target_rate
        divisor = math.gcd(source_rate, target_rate)
        self._up = target_rate // divisor
        self._down = source_rate // divisor
        scale = max(1.0, self._down / self._up)  # input samples for one sample of the slower rate
        self._exact = self._up * _taps(scale) <= MOST_WEIGHTS
        places = np.arange(self._up) / self._up if self._exact else np.arange(PLACES + 1) / PLACES
        self._filters = _filters(places, scale)
        self.reset()

    @property
    def delay_s(self) -> float:
        """How late the output is, in seconds; 0.0 when the rates are equal."""
        return 0.0 if self._up == self._down else HALF / min(self.source_rate, self.target_rate)

    def reset(self) -> None:
        """Forget the stream so far."""
        self._history: Samples = np.zeros(self._filters.shape[1] - 1, np.float32)
        self._phase = 0  # position of the next output sample after the next input sample, in 1/up of an input sample

    def process(self, samples: Samples) -> Samples:
        """The next samples of the stream, resampled; as many as `samples` lasts."""
        if self._up == self._down:
            return samples
        buffer = np.concatenate((self._history, samples), dtype=np.float32)
        self._history = buffer[len(samples) :]
        count = max(0, -(-(len(samples) * self._up - self._phase) // self._down))
        out = self._filter(buffer, count) if count else np.zeros(0, np.float32)
        self._phase += self._down * count - self._up * len(samples)
        return out

    def _filter(self, buffer: Samples, count: int) -> Samples:
        taps = self._filters.shape[1]
        out: Samples
        if self._up == 1:  # one filter for all, no need to copy every window
            places = (4 * self._down, 4)  # what stride_tricks does, in a tenth of its time
            windows: Samples = np.ndarray((count, taps), np.float32, buffer, 4 * self._phase, places)
            out = np.einsum("ij,j->i", windows, self._filters[0])
        else:
            first, phases = np.divmod(self._phase + self._down * np.arange(count), self._up)
            windows = np.lib.stride_tricks.sliding_window_view(buffer, taps)
            out = np.einsum("ij,ij->i", windows[first], self._weights(phases))
        return out

    def _weights(self, phases: NDArray[np.intp]) -> Samples:
        """Those for each of these phases, which are in 1/up of an input sample."""
        if self._exact:
            return self._filters[phases]
        rows, parts = np.divmod(phases * (PLACES / self._up), 1.0)
        row, part = rows.astype(np.intp), parts.astype(np.float32)[:, None]
        weights: Samples = self._filters[row] * (1.0 - part) + self._filters[row + 1] * part
        return weights

    def flush(self) -> Samples:
        """The end of the stream: what the delay still holds. Ready for another stream afterwards."""
        out = self.process(np.zeros(math.ceil(self.delay_s * self.source_rate), np.float32))
        self.reset()
        return out


class ClipResampler:
    """`resample` for a clip that comes in parts: what comes out of all of them is the same, without a seam.

    Of each part but the last some milliseconds are kept for the next one. Raises SettingError for a rate of 0.
    """

    def __init__(self, source_rate: int, target_rate: int) -> None:
        _check(source_rate, target_rate)
        same = source_rate == target_rate
        self._stream = None if same else soxr.ResampleStream(source_rate, target_rate, 1, dtype="float32", quality="HQ")

    def process(self, samples: Samples, *, last: bool) -> Samples:
        """The next part."""
        if self._stream is None:
            return samples
        out: Samples = self._stream.resample_chunk(np.ascontiguousarray(samples, np.float32), last=last)
        return out


def resample(samples: Samples, source_rate: int, target_rate: int) -> Samples:
    """A whole clip at `target_rate`, without delay: soxr's high quality. Raises SettingError for a rate of 0."""
    _check(source_rate, target_rate)
    if source_rate == target_rate or not len(samples):
        return samples
    out: Samples = soxr.resample(np.ascontiguousarray(samples, np.float32), source_rate, target_rate, quality="HQ")
    return out


def _taps(scale: float) -> int:
    return math.floor(2 * HALF * scale) + 1


def _filters(places: NDArray[np.float64], scale: float) -> Samples:
    """One row for each place, 0.0 to 1.0: the weights of the last inputs, oldest first. Shape (places, taps)."""
    centre = HALF * scale
    # Distance of each input from the output's place, in input samples.
    distance = places[:, None] - centre + np.arange(_taps(scale) - 1, -1, -1)[None, :]
    window = np.i0(KAISER_BETA * np.sqrt(np.maximum(0.0, 1.0 - (distance / centre) ** 2)))
    rows = np.sinc(distance / scale) * window
    return np.asarray(rows / rows.sum(axis=1, keepdims=True), np.float32)


def _check(*rates: int) -> None:
    for rate in rates:
        if rate <= 0:
            raise SettingError(f"A sample rate of {rate} Hz is not possible.", fix="Give the rate in hertz.")
