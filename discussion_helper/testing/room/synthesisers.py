"""A synthesiser without a model, in virtual time."""

import zlib

import anyio
import numpy as np

from discussion_helper.audio.analysis import at_level
from discussion_helper.audio.frames import Samples
from discussion_helper.audio.resample import resample
from discussion_helper.bounds import check_number
from discussion_helper.testing.room.limits import check_audible, check_rate, check_samples, check_seconds, check_seed
from discussion_helper.tts.base import Speech

__all__ = ["WORDS_PER_S", "CutSynthesiser", "speech_like"]

WORDS_PER_S = 2.7
"""As people read aloud."""
_EDGE_S = 0.005
_RATE = 16_000
_VOWELS = ((730, 1090, 2440), (530, 1840, 2480), (270, 2290, 3010), (570, 840, 2410), (300, 870, 2240))
"""Hertz of the first three formants, of Peterson and Barney's measurements of men (1952)."""


class CutSynthesiser:
    """Speaks with pieces of a `voice`, mono samples at `rate`, as long as each text takes; "" gives nothing.

    The same text gives the same samples. With `voice` None it is a sound like speech. A call takes `delay_s`.
    """

    def __init__(
        self, *, rate: int = 48_000, voice: Samples | None = None, dbfs: float = -20.0, delay_s: float = 0.1
    ) -> None:
        check_rate("rate", rate)
        check_number("dbfs", dbfs, -120.0, 0.0, unit="decibels")
        check_seconds("delay_s", delay_s)
        self.rate = rate
        voice = speech_like(8.0, rate) if voice is None else check_samples("voice", voice)
        self._voice = at_level(voice, check_audible("voice", voice, rate).level_dbfs, dbfs)
        self._delay_s = delay_s
        self.spoken: list[str] = []
        self.closed = False

    async def synthesise(self, text: str) -> Speech:
        """So many words as samples."""
        self.spoken.append(text)
        await anyio.sleep(self._delay_s)
        return Speech(text, self._cut(text), self.rate)

    def _cut(self, text: str) -> Samples:
        count = round(len(text.split()) / WORDS_PER_S * self.rate)
        start = zlib.crc32(text.encode("utf-8", "surrogatepass")) % len(self._voice)
        samples = np.take(self._voice, np.arange(start, start + count), mode="wrap")
        edge = np.linspace(0.0, 1.0, min(round(_EDGE_S * self.rate), count), dtype=np.float32)
        samples[: len(edge)] *= edge
        samples[count - len(edge) :] *= edge[::-1]
        return samples

    async def warmup(self) -> None:
        """Nothing to load."""

    async def aclose(self) -> None:
        """Nothing to release."""
        self.closed = True


def speech_like(seconds: float, rate: int, *, seed: int = 1) -> Samples:
    """A voice that says nothing: four vowels a second, with a pitch that wanders and pauses for breath."""
    check_number("seconds", seconds, 0.1, 3_600.0, unit="seconds")
    check_rate("rate", rate)
    check_seed(seed)
    random = np.random.default_rng(seed)
    at_s = np.arange(round(seconds * _RATE), dtype=np.float32) / np.float32(_RATE)
    syllables = np.floor(at_s * 4.0).astype(int)
    middle, early, late = random.uniform((100.0, 0.0, 0.0), (140.0, 2 * np.pi, 2 * np.pi))
    pitch = (middle + 15.0 * np.sin(2.1 * at_s + early) + 10.0 * np.sin(5.3 * at_s + late)).astype(np.float32)
    phase = (2 * np.pi * np.cumsum(pitch, dtype=np.float64) / _RATE).astype(np.float32)
    vowels = np.asarray(_VOWELS, np.float32)[random.integers(len(_VOWELS), size=syllables[-1] + 1)]
    out = np.zeros(len(at_s), np.float32)
    for harmonic in range(1, 24):
        weights = (0.5 ** np.arange(3) / (1.0 + ((harmonic * middle - vowels) / 90.0) ** 2)).sum(axis=1)
        out += weights.astype(np.float32)[syllables] * np.sin(harmonic * phase)
    heard = random.random(syllables[-1] + 1) > 0.1
    out *= (0.15 + np.sin(np.pi * (at_s * 4.0 % 1.0)) ** 2) * heard[syllables]
    return resample(np.asarray(0.3 * out / np.abs(out).max(), np.float32), _RATE, rate)
