"""The port of recognisers."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from discussion_helper.audio.frames import Samples
from discussion_helper.stt.sticky import Detection

__all__ = ["KeepsLanguage", "Recognised", "Recogniser", "TellsLanguage", "TimedWord"]


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word with its punctuation, from `start_s` to `end_s` seconds behind the first sample."""

    text: str
    start_s: float
    end_s: float


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
    detected: Detection | None = None
    """What language it sounded like, where one was looked for; `language` is the one that it was read in."""
    words: tuple[TimedWord, ...] = ()
    """Of the text, where they were asked for."""


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


@runtime_checkable
class KeepsLanguage(Protocol):
    """A recogniser that finds out in which language a session is."""

    def turn_over(self, result: Recognised) -> str:
        """What was recognised has become a turn, which may change the session's language.

        The one that it was in until then, if it changed; else "".
        """
        ...


@runtime_checkable
class TellsLanguage(Protocol):
    """A recogniser that says in which language a session is by now."""

    @property
    def session_language(self) -> str:
        """An ISO 639-1 code; "" while none was found."""
        ...
