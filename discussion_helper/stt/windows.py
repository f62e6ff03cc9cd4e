"""Windows: how much audio the encoder is shown at once."""

import numpy as np

from discussion_helper.audio.frames import Samples

__all__ = ["FULL", "LEAST", "RATE", "split", "window_frames"]

RATE = 16_000
FULL = 3000
"""Frames of 10 ms in the window that Whisper was trained on, 30 s."""
LEAST = 1400
"""Of the smallest window, 14 s. Of 385 words as a talk hands them over (17 read clips, and 26 turns of meetings in
which nobody else speaks) tiny.en has 88 wrong with it, 89, 87, 88 and 96 with 12, 13, 15 and 16 s, and 90 in the stock
window; by what is read with 12 and 13 s the ends of dialogue are found 20 ms later. Below 12 s the word error rate
rises by 2 to 5 points."""

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
