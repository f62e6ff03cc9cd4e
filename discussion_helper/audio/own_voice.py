"""Whether what the microphone hears is what the loudspeaker played: the agent's own voice."""

from collections import deque

import numpy as np

from discussion_helper.audio.frames import Samples

__all__ = [
    "AHEAD",
    "BLOCKS",
    "FILTER",
    "LATEST",
    "LEAST_PLAYED",
    "LIKE",
    "LIKE_AS_CAME",
    "LIKE_LATE",
    "REACH",
    "OwnVoice",
]

BLOCKS = 20
"""What is judged: the last 200 ms, in blocks of 10 ms. The likeness of 90 % of the leaks is above 0.23 (with 300 ms
0.19, with 400 ms 0.15), that of 95 % of the talkers below 0.21 to 0.23 (0.18 to 0.20, 0.16 to 0.17)."""
REACH = 50
"""How much later than its reference an echo may come, in blocks."""
LATEST = 170
"""The same where the canceller cannot find it: a loudspeaker over Bluetooth, or a system that buffers, is 0.2 to 1 s
late. With what is heard and `AHEAD` it fits into 32768 samples."""
LIKE_LATE = 0.35
"""Such an echo comes as a whole: nothing of it was removed. Of 576 pieces of people who talk over the agent, compared
with 2.7 s of what it said, one in a hundred is above 0.23 and none above 0.30."""
AHEAD = 12
"""How much earlier, in blocks: where a machine under load stamps wrongly, an echo comes before its reference."""
FILTER = 0.95
"""Takes the slope out of the spectrum of speech, so that vowels of two voices are less alike."""
LIKE = 0.24
"""From here on what is left is a leak; of the frames of people who talk over the agent 1 in 40 is above it."""
LIKE_AS_CAME = 0.35
"""The same for the microphone as it came, if the canceller has left nothing of it. What it has left may be a talker, so
that the bar rises with the share of the power that is left: 0.45 at -10 dB, out of reach from -2 dB on."""
LEAST_PLAYED = 1e-7
"""-70 dBFS: below that nothing was played."""


class OwnVoice:
    """Compares the last 200 ms of the microphone with what was played in the 0.7 s before, at 16 kHz.

    By the waveform, not by its level: a leak may be as loud as a talker, but it has the loudspeaker's samples in it.
    The more a room adds to the direct sound, the less they are alike: reflections that together are 3 dB stronger are
    no trouble, with 7 dB (a loudspeaker at the far end of a hard room) a leak is not always recognised.
    """

    before = 160 * (BLOCKS + REACH)
    """Samples of what was played that are wanted up to now, by the reference's clock,"""
    after = 160 * AHEAD
    """and from then on."""
    long_before = 160 * (BLOCKS + LATEST)
    """Of what was played, to look for a late echo."""

    def __init__(self) -> None:
        self.reset()

    @staticmethod
    def reaches(lateness: int) -> bool:
        """Whether an echo so many samples later than its reference is one that `is_heard` finds."""
        return -160 * AHEAD <= lateness <= 160 * REACH

    def reset(self) -> None:
        """Forget what was heard."""
        silent = np.zeros(160, np.float32)
        self._near = deque([silent] * BLOCKS, BLOCKS)
        self._clean = deque([silent] * BLOCKS, BLOCKS)

    def push(self, near: Samples, clean: Samples) -> None:
        """The next 10 ms of the microphone as it came, and of what the canceller left of it."""
        self._near.append(near)
        self._clean.append(clean)

    def is_heard(self, played: Samples) -> bool:
        """True when what is left is the loudspeaker's, or too little is left of what was the loudspeaker's.

        `played`: `before` + `after` samples.
        """
        if float(played @ played) < LEAST_PLAYED * len(played):
            return False
        near, clean = (np.concatenate(blocks) for blocks in (self._near, self._clean))
        if _likeness(clean, played)[0] >= LIKE:
            return True
        left = float(clean @ clean) / max(float(near @ near), 1e-12)
        return _likeness(near, played)[0] >= LIKE_AS_CAME + left

    def lateness(self, played: Samples) -> int | None:
        """By how many samples the microphone, as it came, is later than what was played; None if it is something else.

        `played`: `long_before` + `after` samples. Takes 2 to 3 ms.
        """
        if float(played @ played) < LEAST_PLAYED * len(played):
            return None
        near = np.concatenate(self._near)
        likeness, place = _likeness(near, played)
        return self.long_before - len(near) - place if likeness >= LIKE_LATE else None


def _likeness(heard: Samples, played: Samples) -> tuple[float, int]:
    """The largest normalised correlation of `heard` with a stretch of `played`, and where that begins."""
    heard, played = _flat(heard), _flat(played)
    size = 1 << (len(played) - 1).bit_length()  # what wraps around is no stretch of it
    product = np.fft.rfft(played, size) * np.conj(np.fft.rfft(heard, size))
    correlation = np.abs(np.fft.irfft(product, size)[: len(played) - len(heard) + 1])
    energies = np.concatenate(([0.0], np.cumsum(np.square(played, dtype=np.float64))))
    energy = energies[len(heard) :] - energies[: -len(heard)]
    # A stretch of silence is like nothing; it must not win by being divided by next to nothing.
    energy = np.maximum(energy, 1e-3 * energy.max() + 1e-12)
    likeness = correlation / np.sqrt(energy * max(float(heard @ heard), 1e-12))
    place = int(np.argmax(likeness))
    return float(likeness[place]), place


def _flat(samples: Samples) -> Samples:
    return np.asarray(samples[1:] - FILTER * samples[:-1], np.float32)
