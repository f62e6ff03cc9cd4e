"""The port of synthesisers."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from discussion_helper.audio.frames import Samples

__all__ = ["SpeaksInParts", "Speech", "Synthesiser", "Word"]


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a text in its audio: the text up to the offset `end` is spoken up to the sample `stop`.

    Its own sound lies from the sample `start` to `stop`; the pause after it belongs to none.
    """

    end: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Speech:
    """One clause as audio: mono `samples` at `rate` hertz, and the words in them (as written in the reply).

    `words` says when each of them is spoken, as measured by the synthesiser: in the order of the text, never going
    back in time, the last one ending with the text. None = it cannot tell; then they can only be estimated.
    """

    text: str
    samples: Samples
    rate: int
    words: tuple[Word, ...] | None = None
    more: bool = False
    """It is the beginning of it: the rest of its samples follows in another one, without a text."""


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


@runtime_checkable
class SpeaksInParts(Protocol):
    """A synthesiser whose clauses can be heard before they are made."""

    def parts(self, text: str) -> AsyncGenerator[Speech, None]:
        """`synthesise` in one part or several: the first one has the text and the times of all words.

        No part but the only one is empty. Raises SynthesisError. Closing it stops the model.
        """
        ...
