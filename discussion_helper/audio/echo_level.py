"""The echo's level: how loud the agent will be in the microphone."""

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ABOVE_NOISE",
    "BLOCKS",
    "CAUTIOUS_STEP",
    "FALL",
    "FEW",
    "FIRST_WEIGHT",
    "KNOWN",
    "LEAST_PLAYED",
    "LEAST_WEIGHT",
    "LOUD_PLAYED",
    "NOISE_RISE",
    "STEP_DOWN",
    "STEP_UP",
    "EchoLevel",
]

BLOCKS = 50
"""Reach of the model, in blocks of 10 ms: the longest path from the loudspeaker to the microphone, with its room."""
FIRST_WEIGHT = 0.05
"""Of each block before anything is learnt: in all an echo of +4 dB, so that nothing exceeds what is expected."""
STEP_DOWN = 0.5
STEP_UP = 0.15
CAUTIOUS_STEP = 0.01
"""Upwards, when it is not sure that the microphone hears nothing but echo."""
LEAST_WEIGHT = 1e-6
"""Nothing is forgotten for good."""
FALL = 0.8
LOUD_PLAYED = 1e-4
"""-40 dBFS. When this or more was played, and the microphone heard nothing but noise for longer than the reach of the
model, there is no echo, as with headphones: then what is expected falls by 1 dB in each block. After 1 s of a first
reply -58 dBFS are expected instead of -26, and somebody who talks over it is heard; no echo is missed for it."""
FEW = 5
"""Blocks of which the canceller has removed nearly all: there is an echo."""
KNOWN = 3
"""Times as long such an echo has to be unheard, for the soft beginning of a reply is lost in the noise."""
ABOVE_NOISE = 4.0
"""A block has to be that much stronger than the noise floor (6 dB) to say anything about the echo."""
LEAST_PLAYED = 1e-6
"""-60 dBFS: below that, nothing is learnt."""
NOISE_RISE = 1.002
"""In each block, 9 dB in 10 s: how fast the noise floor follows when it gets louder. Downwards it follows at once."""


class EchoLevel:
    """Predicts the power of the echo from the power of what was played in the last 500 ms.

    A filter over the powers of blocks of 10 ms, whose weights are multiplied: by more where more of what was expected
    comes from. (A normalised LMS filter subtracts, and lost the weight of the true delay whenever the first words were
    over before the others were gone: the second reply was then not expected where it was. In 8 minutes of replies with
    gaps, echo 0 to -26 dB, the agent was turned down 1.07 times a minute for it, with products 0.13 times, and people
    over the agent are noticed as soon.) It learns quickly downwards (there cannot have been
    that much echo) and, where the canceller has removed nearly all of a block, upwards (that was all echo); otherwise
    slowly upwards, for that may be somebody talking.

    Measured with Piper speech, replies with gaps and without, in a simulated room (reverberation 0.25 s, noise at -65
    and -70 dBFS), loudspeaker 0 to -26 dB, 20 to 400 ms away. Microphone over prediction, for blocks over -55 dBFS, in
    dB: P99 at most 6.6 (8.2 in the first second at 0 dB), median 0.3 from 4 s of speech on; before that it expects up
    to 20 dB more than there is at -20 dB, so that the agent is not turned down for its own first words. How soon people
    are above it stands in `voice/ducking.py`.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the room."""
        self._weights = np.full(BLOCKS, FIRST_WEIGHT)
        self._played = np.zeros(BLOCKS)
        self._noise = 1e-3
        self._removed = 0
        """Blocks that were echo, beyond doubt."""
        self._unheard = 0
        """Blocks in a row in which the echo of something loud would have been heard, and was not."""

    def step(self, near: float, far: float, *, only_echo: bool) -> float:
        """Mean squares of the next block of the microphone and of the reference; the one to expect in the microphone.

        `only_echo`: the canceller has just removed nearly all of what the microphone heard.
        """
        self._played[1:] = self._played[:-1]
        self._played[0] = far
        parts = self._weights * self._played
        echo = float(parts.sum())
        self._noise = min(self._noise * NOISE_RISE, max(near, 1e-9))
        if self._played.max() <= LOUD_PLAYED:  # the end of a reply and the beginning of the next are each a bit unheard
            self._unheard = 0
        if self._played.max() > LEAST_PLAYED:
            self._learn(near, parts, echo, only_echo)
        return echo + self._noise

    def _learn(self, near: float, parts: NDArray[np.float64], echo: float, only_echo: bool) -> None:
        least = ABOVE_NOISE * self._noise
        error = max(near, least) - self._noise - echo
        if error > 0.0:
            error = min(error, 3.0 * echo) if near > least else 0.0
        upwards = STEP_UP if only_echo else CAUTIOUS_STEP
        step = STEP_DOWN if error < 0.0 else upwards
        weights = self._weights * np.exp(step * error * parts / echo**2)
        self._unheard = 0 if near > least else self._unheard + (self._played.max() > LOUD_PLAYED)
        self._removed += only_echo and near > least
        most = BLOCKS * (KNOWN if self._removed >= FEW else 1)
        self._weights = np.maximum(weights * (FALL if self._unheard > most else 1.0), LEAST_WEIGHT)
