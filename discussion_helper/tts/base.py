"""The port of synthesisers."""

from dataclasses import dataclass
from typing import Protocol

from discussion_helper.audio.frames import Samples

__all__ = ["Speech", "Synthesiser"]


@dataclass(frozen=True, slots=True)
class Speech:
    """One clause as audio: mono `samples` at `rate` hertz, and the words in them (as written in the reply)."""

    text: str
    samples: Samples
    rate: int


class Synthesiser(Protocol):
    """Turns one clause into audio, off the event loop, one at a time."""

    rate: int
    """Hertz of what it makes."""

    async def synthesise(self, text: str) -> Speech:
        """Speak `text`. Text with nothing to say gives empty samples. Cancelling it stops the model.

        Raises SynthesisError.
        """
        ...

    async def warmup(self) -> None:
        """Load what the first call would have to load."""
        ...

    async def aclose(self) -> None:
        """Release the model; idempotent."""
        ...
