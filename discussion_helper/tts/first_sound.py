"""The first sound of a sentence, which is heard while the rest of it is made."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discussion_helper.audio.frames import Samples
from discussion_helper.tts.base import Speech
from discussion_helper.tts.decoding import Decoder, Frames
from discussion_helper.tts.edges import begun, ended
from discussion_helper.tts.network import Run

__all__ = ["FIRST", "LEAST", "Begun", "FirstSound", "first_sound"]

FIRST = 32
"""Frames of the first part: 0.37 s at 22,050 Hz, which lasts longer than the rest takes. Its sound takes a quarter of
the time that two seconds' does."""
LEAST = 2 * FIRST
"""A sentence that is shorter comes at once: there is little to gain."""


@dataclass(frozen=True, slots=True)
class Begun:
    """The first part of a clause, and what makes the rest in a worker thread; None where there is none."""

    speech: Speech
    rest: Callable[[Run], Speech] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class FirstSound:
    """`samples` from just before the first sound on; `start` of those that were made lie before."""

    decoder: Decoder
    frames: Frames
    samples: Samples
    start: int
    hop: int
    """Samples of a frame."""

    @property
    def length(self) -> int:
        """Samples from there to the end of all frames."""
        return len(self.frames) * self.hop - self.start

    def rest(self, run: Run, *, rate: int, pause_s: float) -> Samples:
        """What follows, and the pause. Raises Stopped."""
        return ended(run.sound(self.decoder, self.frames, FIRST, len(self.frames)), rate, pause_s=pause_s)


def first_sound(run: Run, decoder: Decoder, frames: Frames, *, rate: int) -> FirstSound | None:
    """Of these frames; None if they are few, or begin with silence. Raises Stopped."""
    if len(frames) < LEAST:
        return None
    made = run.sound(decoder, frames, 0, FIRST)
    start = begun(made, rate)
    if start is None:
        return None
    return FirstSound(decoder, frames, np.ascontiguousarray(made[start:]), start, len(made) // FIRST)
