"""The echo's level: how loud the agent will be in the microphone, in each band."""

import numpy as np
from numpy.typing import NDArray

from discussion_helper.audio.bands import COUNT, Powers

__all__ = [
    "ABOVE_NOISE",
    "BLOCKS",
    "CAUTIOUS_STEP",
    "FALL",
    "FEW",
    "FIRST_WEIGHT",
    "KNOWN",
    "LASTS",
    "LEAST_PLAYED",
    "LEAST_WEIGHT",
    "LOUD_PLAYED",
    "NOISE_RISE",
    "STEADY",
    "STEP_DOWN",
    "STEP_UP",
    "EchoLevel",
]

BLOCKS = 50
"""Reach of the model, in blocks of 10 ms: the longest path from the loudspeaker to the microphone, with its room."""
FIRST_WEIGHT = 0.07
"""Of each block before anything is learnt: in all an echo of +5 dB, so that nothing exceeds what is expected."""
STEP_DOWN = 0.5
STEP_UP = 0.15
CAUTIOUS_STEP = 0.01
"""Upwards, when it is not sure that the microphone hears nothing but echo."""
LEAST_WEIGHT = 1e-6
"""Nothing is forgotten for good."""
FALL = 0.8
LOUD_PLAYED = 2.5e-6
"""-56 dBFS in a band: speech of -40 dBFS, without its slope. When this or more was played, and the microphone heard
nothing but noise for longer than the reach of the model, there is no echo, as with headphones: then what is expected
falls by 1 dB in each block. After 1 s of a first reply it is 30 dB less, and somebody who talks over it is heard."""
STEADY = 5
"""Blocks over which the noise is averaged, of which the least is the floor that an echo has to be above: that of single
blocks of noise is 5 to 8 dB below their mean, so that a third of them would be an echo."""
LASTS = 3
"""Blocks in a row that are above that in the same band, for noise is in one of some hundred. Where it was an echo, what
is expected stayed as high as at first, and of people who interrupted a first reply after 1.5 s half were heard 0.3 s
late or not at all."""
FEW = 5
"""Blocks of which the canceller has removed nearly all: there is an echo."""
KNOWN = 3
"""Times as long such an echo has to be unheard, for the soft beginning of a reply is lost in the noise."""
ABOVE_NOISE = 4.0
"""A block has to be that much stronger than the noise floor (6 dB) to say anything about the echo."""
LEAST_PLAYED = 2.5e-8
"""-76 dBFS, for speech of -60: below that, nothing is learnt."""
NOISE_RISE = 1.002
"""In each block, 9 dB in 10 s: how fast the noise floor follows when it gets louder. Downwards it follows at once."""


class EchoLevel:
    """Predicts the power of the echo from the power of what was played in the last 500 ms, each band for itself.

    A filter over the powers of blocks of 10 ms, whose weights are multiplied: by more where more of what was expected
    comes from. (A normalised LMS filter subtracts, and lost the weight of the true delay whenever the first words were
    over before the others were gone.) It learns quickly downwards (there cannot have been that much echo) and, where
    the canceller has removed nearly all of a block, upwards (that was all echo); otherwise slowly upwards, for that may
    be somebody talking.

    In bands, because a room may nearly cancel a hum or a vowel, and what was learnt from it is far too low for other
    sounds. With the whole spectrum at once a voice recorded with a hum turned itself down 4.0 times a minute in replies
    that begin with it (rooms 0, 1 and 50, echo -30 to 0 dB, 50 and 400 ms away), with the whole spectrum without its
    slope 2.4 times, in bands not once in 10 minutes. How soon people are above it, and how often the agent is, stands
    in `voice/ducking.py`.
    """

    def __init__(self, bands: int = COUNT) -> None:
        self._bands = bands
        self.reset()

    def reset(self) -> None:
        """Forget the room."""
        self._weights = np.full((self._bands, BLOCKS), FIRST_WEIGHT)
        self._played = np.zeros((self._bands, BLOCKS))
        self._noise = np.full(self._bands, 1e-3)
        self._recent = np.full((self._bands, STEADY), 1e-3)
        self._floor = np.full(self._bands, 1e-3)
        """Of the noise, when averaged."""
        self._lasting = np.zeros(self._bands, int)
        """Blocks in a row in which something is heard in that band."""
        self._removed = 0
        """Blocks that were echo, beyond doubt."""
        self._unheard = 0
        """Blocks in a row in which the echo of something loud would have been heard, and was in no band."""

    def step(self, near: Powers, far: Powers, *, only_echo: bool) -> Powers:
        """The next block of the microphone and of the reference; what to expect in the microphone.

        `only_echo`: the canceller has just removed nearly all of what the microphone heard.
        """
        self._played[:, 1:] = self._played[:, :-1]
        self._played[:, 0] = far
        parts = self._weights * self._played
        echo = np.asarray(parts.sum(axis=1), np.float64)
        self._noise = np.minimum(self._noise * NOISE_RISE, np.maximum(near, 1e-9))
        self._recent[:, 1:] = self._recent[:, :-1]
        self._recent[:, 0] = near
        self._floor = np.minimum(self._floor * NOISE_RISE, np.maximum(self._recent.mean(axis=1), 1e-9))
        expected: Powers = echo + self._noise
        loudest = self._played.max(axis=1)
        if loudest.max() <= LOUD_PLAYED:  # the end of a reply and the beginning of the next are each a bit unheard
            self._unheard = 0
        if loudest.max() > LEAST_PLAYED:
            self._learn(near, parts, loudest, only_echo)
        return expected

    def _learn(self, near: Powers, parts: NDArray[np.float64], loudest: Powers, only_echo: bool) -> None:
        least = ABOVE_NOISE * self._noise
        heard, learns = near > least, loudest > LEAST_PLAYED
        echo = np.maximum(parts.sum(axis=1), 1e-15)
        error = np.maximum(near, least) - self._noise - echo
        error = np.where(error > 0.0, np.where(heard, np.minimum(error, 3.0 * echo), 0.0), error)
        error = np.where(learns, error, 0.0)
        step = np.where(error < 0.0, STEP_DOWN, STEP_UP if only_echo else CAUTIOUS_STEP)
        weights = self._weights * np.exp((step * error / echo**2)[:, None] * parts)
        # Of an echo that is heard in one band, the others' may be below the noise; it is there all the same.
        self._lasting = np.where(learns & (near > ABOVE_NOISE * self._floor), self._lasting + 1, 0)
        anywhere = bool((self._lasting >= LASTS).any())
        self._unheard = 0 if anywhere else self._unheard + bool(loudest.max() > LOUD_PLAYED)
        self._removed += only_echo and anywhere
        most = BLOCKS * (KNOWN if self._removed >= FEW else 1)
        falls = np.where(learns & (self._unheard > most), FALL, 1.0)
        self._weights = np.maximum(weights * falls[:, None], LEAST_WEIGHT)
