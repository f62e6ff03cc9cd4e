"""The port of recognisers."""

from dataclasses import dataclass
from typing import Protocol

from discussion_helper.audio.frames import Samples

__all__ = ["Recognised", "Recogniser"]


@dataclass(frozen=True, slots=True)
class Recognised:
    """What was said. `text` is "" when nobody spoke or a guard refused; `refused` then says why."""

    text: str
    language: str = ""
    language_probability: float = 0.0
    no_speech_probability: float = 0.0
    average_logprob: float = 0.0
    compression_ratio: float = 0.0
    refused: str = ""
    took_s: float = 0.0


class Recogniser(Protocol):
    """Turns one stretch of speech into text, off the event loop, one at a time."""

    async def recognise(self, samples: Samples, *, voiced_s: float | None = None) -> Recognised:
        """Recognise mono `samples` at 16 kHz. `voiced_s`: seconds of voice the detectors saw in it.

        Raises RecogniserError.
        """
        ...

    async def warmup(self) -> None:
        """Load what the first call would have to load."""
        ...

    async def aclose(self) -> None:
        """Release the model; idempotent."""
        ...
