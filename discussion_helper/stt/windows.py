"""Windows: how much audio the encoder is shown at once."""

import numpy as np

from discussion_helper.audio.frames import Samples

__all__ = ["FULL", "LEAST", "RATE", "split", "window_frames"]

RATE = 16_000
FULL = 3000
"""Frames of 10 ms in the window that Whisper was trained on, 30 s."""
LEAST = 1600
"""Of the smallest window, 16 s. Of 276 words of whole clips tiny.en has 29 wrong in the stock window, as many with 16 s
within one in a hundred, and 32 with 14 and 15 s, with which the multilingual model also loses half of the Swedish ones.
As a talk hands over 385 words (17 read clips, and 26 turns of meetings in which nobody else speaks) it is the other
way: 96 are wrong with 16 s, 87 to 89 with 12 to 15 s, 90 in the stock window. Below 12 s the word error rate rises by
2 to 5 points."""

_MARGIN = 300
_LONGEST = (FULL - _MARGIN) * RATE // 100
_QUIET = RATE // 5


def window_frames(samples: int) -> int:
    """Frames of the window for so many samples at 16 kHz: 3 s more than the audio, from LEAST to 30 s.

    The encoder is most of the work, and takes five times as long for 30 s as for 16. A window that the audio fills to
    its end makes Whisper say the last words again.
    """
    frames = min(FULL, max(LEAST, samples * 100 // RATE + _MARGIN))
    return frames + frames % 2  # the encoder halves it


def split(samples: Samples) -> list[Samples]:
    """Cut samples at 16 kHz into pieces of 27 s at most, each at the quietest place of its last third."""
    pieces = []
    while len(samples) > _LONGEST:
        cut = _quietest(samples[:_LONGEST], _LONGEST * 2 // 3)
        pieces.append(samples[:cut])
        samples = samples[cut:]
    return [*pieces, samples]


def _quietest(samples: Samples, after: int) -> int:
    """Middle of the quietest 200 ms after sample `after`."""
    energy = np.cumsum(np.square(samples[after:], dtype=np.float64))
    return after + int(np.argmin(energy[_QUIET:] - energy[:-_QUIET])) + _QUIET // 2
