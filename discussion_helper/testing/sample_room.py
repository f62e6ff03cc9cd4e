"""A room in sample time: a loudspeaker, its echo, a talker and a microphone, without devices and without waiting."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Captured, Played
from discussion_helper.audio.playback import Position

__all__ = ["AHEAD", "BLOCK", "BLOCK_S", "RATE", "ZERO_S", "Echo", "SampleRoom"]

RATE = 48_000
BLOCK_S = 0.01
ZERO_S = 1_000.0
"""When the first samples are at the converters."""
BLOCK = RATE // 100
AHEAD = 3
"""Blocks by which a loudspeaker is fed before they are heard."""


@dataclass(frozen=True, slots=True)
class Echo:
    """From `from_s` on the microphone hears the loudspeaker `gain_db` louder and `delay_s` later; None = not at all."""

    from_s: float
    gain_db: float | None
    delay_s: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRoom:
    """What happens in it is a function of its values; sounds are at 48 kHz."""

    echoes: Sequence[Echo] = ()
    reverberation_s: float = 0.25
    """Until it has faded by 60 dB."""
    wetness: float = 0.05
    """First reflections against the direct sound; 0.0 = a cable."""
    noise_dbfs: float = -70.0
    jitter_s: float = 0.001
    """Of the time stamps of both devices."""
    lost: Collection[int] = ()
    """Blocks of the microphone that never come."""
    wrong_from_s: float = 0.0
    wrong_s: float = 0.0
    """By which the loudspeaker's time stamps are wrong from `wrong_from_s` on."""
    seed: int = 1

    def heard(self, played: Samples, said: Samples) -> Samples:
        """What is at the microphone."""
        noise = np.random.default_rng(self.seed).standard_normal(len(said)) * 10 ** (self.noise_dbfs / 20)
        out = np.asarray(said + noise, np.float32)
        wet = self._wet(played)
        ends = [round(echo.from_s * RATE) for echo in self.echoes[1:]] + [len(out)]
        for echo, end in zip(self.echoes, ends, strict=True):
            start = round(echo.from_s * RATE)
            if echo.gain_db is not None:
                late = np.pad(wet, (round(echo.delay_s * RATE), 0))
                out[start:end] += late[start:end] * 10 ** (echo.gain_db / 20)
        return out

    def items(self, played: Samples, said: Samples) -> Iterator[Captured | Played]:
        """What the audio thread gets of it, in its order. What is played without a sound is not told."""
        stamps = np.random.default_rng(self.seed + 1)
        near = self.heard(played, said)
        for number in range(-AHEAD, len(near) // BLOCK):
            fed = (number + AHEAD) * BLOCK
            loud = played[fed : fed + BLOCK].copy()
            if len(loud) == BLOCK and loud.any():
                wrong_s = self.wrong_s if fed / RATE >= self.wrong_from_s else 0.0
                at_s = ZERO_S + fed / RATE + wrong_s + stamps.uniform(-self.jitter_s, self.jitter_s)
                yield Played(Frame(loud, RATE, fed), at_s, Position(1, fed, RATE))
            if number >= 0 and number not in self.lost:
                at_s = ZERO_S + number * BLOCK_S + stamps.uniform(-self.jitter_s, self.jitter_s)
                yield Captured(Frame(near[number * BLOCK : (number + 1) * BLOCK].copy(), RATE, number * BLOCK), at_s)

    def _wet(self, played: Samples) -> Samples:
        if not self.wetness:
            return played
        count = round(self.reverberation_s * RATE)
        fading = 10 ** (-3 * np.arange(count) / count)
        taps = np.random.default_rng(self.seed).standard_normal(count) * fading * self.wetness / np.sqrt(RATE / 16_000)
        taps[0] = 1.0
        taps /= np.sqrt(np.square(taps).sum())
        size = 1 << (len(played) + count).bit_length()
        wet = np.fft.irfft(np.fft.rfft(played, size) * np.fft.rfft(taps, size), size)
        return np.asarray(wet[: len(played)], np.float32)
