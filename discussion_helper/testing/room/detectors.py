"""Detectors and an echo path that cost next to nothing, for rooms in which nothing depends on the real ones."""

from dataclasses import dataclass

import numpy as np

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Played
from discussion_helper.bounds import check_number, check_whole
from discussion_helper.vad.base import Detector

__all__ = ["Detectors", "LevelDetector", "NoEchoPath", "cheap_detectors"]


class LevelDetector:
    """Takes for a voice what is louder than `dbfs` (root mean square of a frame), in a microsecond."""

    rate = 16_000

    def __init__(self, *, dbfs: float = -45.0, frame_samples: int = 160) -> None:
        check_number("dbfs", dbfs, -200.0, 0.0, unit="decibels")
        check_whole("frame_samples", frame_samples, 1, self.rate)
        self.frame_samples = frame_samples
        self._least = 10.0 ** (dbfs / 10.0)

    def probability(self, samples: Samples) -> float:
        """1.0 or 0.0. Raises ValueError for another number of samples than `frame_samples`."""
        if len(samples) != self.frame_samples:
            raise ValueError(f"expected {self.frame_samples} samples, got {len(samples)}")
        return float(samples @ samples > self._least * len(samples))

    def reset(self) -> None:
        """It remembers nothing."""


class NoEchoPath:
    """Leaves the microphone as it is: for rooms without an echo."""

    def __init__(self) -> None:
        self.near_db = self.expected_db = -120.0

    def feed(self, played: Played) -> None:
        """It is of no interest."""

    def clean(self, near: Samples, at_s: float, start: int | None = None) -> Samples:  # noqa: ARG002 - the port's
        """The very same."""
        self.near_db = 10.0 * float(np.log10(max(1e-12, float(near @ near) / max(1, len(near)))))
        return near

    def is_own_voice(self) -> bool:
        """Never."""
        return False

    def leaks(self) -> bool:
        """Never."""
        return False


@dataclass(frozen=True, slots=True)
class Detectors:
    """Of one microphone: `gate` and `judge` of its turns, and what hears somebody over the agent, in the microphone as
    it is (`eager`) and without the echo (`clean`).
    """

    gate: Detector
    judge: Detector
    eager: Detector
    clean: Detector


def cheap_detectors() -> Detectors:
    """Such as go by the level alone: a voice is what is louder than -45 dBFS."""
    return Detectors(LevelDetector(), LevelDetector(frame_samples=512), LevelDetector(), LevelDetector())
