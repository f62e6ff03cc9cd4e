"""Voices without a voice: samples that say how likely a voice is."""

from collections.abc import Callable

import numpy as np
import pytest

from discussion_helper.audio.frames import Samples
from discussion_helper.turn.activity import ActivityTracker


class Told:
    """A detector that believes the samples: the loudest one is the probability."""

    rate = 16_000

    def __init__(self, frame_samples: int) -> None:
        self.frame_samples = frame_samples
        self.resets = 0

    def probability(self, samples: Samples) -> float:
        assert len(samples) == self.frame_samples
        return float(np.abs(samples).max())

    def reset(self) -> None:
        self.resets += 1


@pytest.fixture
def tracker() -> ActivityTracker:
    return ActivityTracker(gate=Told(160), judge=Told(512))


@pytest.fixture
def said() -> Callable[..., Samples]:
    """Samples from (seconds, probability of a voice) pairs."""

    def make(*parts: tuple[float, float]) -> Samples:
        return np.concatenate([np.full(round(seconds * 16_000), p, np.float32) for seconds, p in parts])

    return make
