"""Audio as values: mono float32 samples that carry their rate and their place in sample time."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Frame", "Samples", "silence"]

Samples = NDArray[np.float32]
"""Mono samples, shape (n,), full scale -1.0 to 1.0."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A run of consecutive samples.

    `start` counts samples at `rate` since the stream was opened, so a lost block shows as a jump
    between one frame's `end` and the next one's `start`. `samples` is read-only.
    """

    samples: Samples
    rate: int
    start: int = 0

    def __post_init__(self) -> None:
        self.samples.flags.writeable = False

    @property
    def end(self) -> int:
        """Index of the sample after the last one."""
        return self.start + len(self.samples)

    @property
    def start_s(self) -> float:
        """Start in seconds of sample time."""
        return self.start / self.rate

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return len(self.samples) / self.rate


def silence(seconds: float, rate: int) -> Samples:
    """Zeros for `seconds` at `rate` hertz."""
    return np.zeros(round(seconds * rate), np.float32)
