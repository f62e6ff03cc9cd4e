"""Sounds that a part is asked about."""

from functools import lru_cache

import numpy as np

from discussion_helper.audio.frames import Samples
from discussion_helper.testing.room.synthesisers import speech_like

__all__ = ["noise_of", "speech_of"]

_RATE = 16_000


@lru_cache(maxsize=1)
def _speech() -> Samples:
    return speech_like(8.0, _RATE)


def speech_of(seconds: float) -> Samples:
    """A sound like speech at 16 kHz, read-only as a frame's."""
    samples = np.resize(_speech(), round(seconds * _RATE))
    samples.flags.writeable = False
    return samples


def noise_of(seconds: float, rate: int) -> Samples:
    """White noise of -20 dBFS, read-only, always the same."""
    samples = np.random.default_rng(1).normal(0.0, 0.1, round(seconds * rate)).astype(np.float32)
    samples.flags.writeable = False
    return samples
