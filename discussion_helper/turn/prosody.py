"""Prosody: how complete a turn sounds."""

from typing import Protocol

from discussion_helper.audio.frames import Samples

__all__ = ["Prosody"]


class Prosody(Protocol):
    """Judges a turn by its sound: pitch, pace, the last syllable. For one thread, and not for the audio thread."""

    def score(self, samples: Samples) -> float:
        """Probability that the speaker has finished, for the turn so far with a bit of silence behind it, at 16 kHz."""
        ...
