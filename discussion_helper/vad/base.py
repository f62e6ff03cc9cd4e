"""The port of voice activity detectors."""

from typing import Protocol

from discussion_helper.audio.frames import Samples

__all__ = ["Detector"]


class Detector(Protocol):
    """Says how likely a frame holds a voice. Used by the audio thread alone, never on the event loop."""

    rate: int
    """Hertz it wants."""
    frame_samples: int
    """Samples in one frame."""

    def probability(self, samples: Samples) -> float:
        """Voice probability, 0.0 to 1.0, of the next `frame_samples` samples of one stream."""
        ...

    def reset(self) -> None:
        """Forget the stream so far."""
        ...
