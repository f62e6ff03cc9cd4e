"""The echo's level: how loud the agent will be in the microphone."""

import numpy as np

__all__ = [
    "ABOVE_NOISE",
    "BLOCKS",
    "CAUTIOUS_STEP",
    "FIRST_WEIGHT",
    "LEAST_PLAYED",
    "NOISE_RISE",
    "STEP",
    "EchoLevel",
]

BLOCKS = 50
"""Reach of the model, in blocks of 10 ms: the longest path from the loudspeaker to the microphone, with its room."""
FIRST_WEIGHT = 0.05
"""Of each block before anything is learnt: in all an echo of +4 dB, so that nothing exceeds what is expected."""
STEP = 0.05
CAUTIOUS_STEP = 0.005
"""Upwards, when it is not sure that the microphone hears nothing but echo."""
ABOVE_NOISE = 4.0
"""A block has to be that much stronger than the noise floor (6 dB) to say anything about the echo."""
LEAST_PLAYED = 1e-6
"""-60 dBFS: below that, nothing is learnt."""
NOISE_RISE = 1.002
"""In each block, 9 dB in 10 s: how fast the noise floor follows when it gets louder. Downwards it follows at once."""


class EchoLevel:
    """Predicts the power of the echo from the power of what was played in the last 500 ms.

    A normalised LMS filter over the powers of blocks of 10 ms. It learns quickly downwards (there cannot have been
    that much echo) and, where the canceller has removed nearly all of a block, upwards (that was all echo); otherwise
    slowly upwards, for that may be somebody talking.

    Measured with 43 s of Piper speech in a simulated room (reverberation 0.25 s, noise at -65 dBFS), loudspeaker 0 to
    -25 dB, 20 to 400 ms away, also with a clipping loudspeaker and noise at -50 dBFS. Microphone over prediction, for
    blocks over -55 dBFS, in dB: P99 at most 4.9 in the first second, 3.4 in the next two (5.7 at -25 dB), 4.6 later
    (5.7); median -1.5 from 3 s on, much lower before. A talker at -26 dBFS over an echo at -34 dBFS is more than 6 dB
    above the prediction in 57 % of their blocks, the first three in a row within 40 to 190 ms; over one at -24 dBFS
    in 22 %, after 0.4 to 0.8 s.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the room."""
        self._weights = np.full(BLOCKS, FIRST_WEIGHT)
        self._played = np.zeros(BLOCKS)
        self._noise = 1e-3

    def step(self, near: float, far: float, *, only_echo: bool) -> float:
        """Mean squares of the next block of the microphone and of the reference; the one to expect in the microphone.

        `only_echo`: the canceller has just removed nearly all of what the microphone heard.
        """
        self._played[1:] = self._played[:-1]
        self._played[0] = far
        echo = float(self._weights @ self._played)
        self._noise = min(self._noise * NOISE_RISE, max(near, 1e-9))
        if self._played.max() > LEAST_PLAYED:
            self._learn(near, echo, only_echo)
        return echo + self._noise

    def _learn(self, near: float, echo: float, only_echo: bool) -> None:
        least = ABOVE_NOISE * self._noise
        error = max(near, least) - self._noise - echo
        if error > 0.0:
            error = min(error, 3.0 * echo) if near > least else 0.0
        step = STEP if error < 0.0 or only_echo else CAUTIOUS_STEP
        energy = float(self._played @ self._played)
        self._weights = np.maximum(self._weights + step * error / energy * self._played, 0.0)
