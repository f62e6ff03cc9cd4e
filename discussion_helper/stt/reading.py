"""Reading: from a stretch of speech to its words, window by window."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

from discussion_helper.audio.frames import Samples
from discussion_helper.stt.base import TimedWord
from discussion_helper.stt.guards import doubtful
from discussion_helper.stt.hints import Hints
from discussion_helper.stt.windows import FULL, RATE, split, window_frames

__all__ = ["Abandoned", "Decoded", "Decoder", "Read", "read"]

_LEAST_LEFT_S = 0.8
_MOST_WINDOWS = 6
_UNSURE = 1.0  # few turns of speech from near by have so much doubt


class Abandoned(Exception):
    """Nobody waits for the text any more."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """What one window was decoded to.

    `closed` is the text up to the last phrase with an end, which is at `closed_s` seconds (0 when no phrase has one);
    `finished` says that nothing is to come after it. `logprob` is the sum over `tokens` tokens.
    """

    text: str
    closed: str
    closed_s: float
    finished: bool
    logprob: float
    tokens: int
    no_speech: float
    ids: tuple[int, ...] = ()
    """All tokens, timestamps too."""
    closed_ids: tuple[int, ...] = ()
    """Those of `closed`."""


class Decoder(Protocol):
    """A loaded model. Every call blocks while it works."""

    def encode(self, samples: Samples, frames: int) -> Any:
        """Look at samples at 16 kHz in a window of `frames` frames of 10 ms."""
        ...

    def decode(self, encoded: Any, *, language: str, seconds: float, timestamps: bool, hints: str = "") -> Decoded:
        """Say what is in it; `seconds` of audio bound the length. `hints`: what was said before, as it were."""
        ...

    def times(self, encoded: Any, ids: tuple[int, ...], *, language: str, seconds: float) -> list[TimedWord]:
        """When the words of the tokens `ids` are said."""
        ...

    def detect(self, encoded: Any) -> tuple[str, float]:
        """Its language, and the probability of that."""
        ...

    def knows(self, language: str) -> bool:
        """Whether it has words of `language`, an ISO 639-1 code."""
        ...

    def close(self) -> None:
        """Give the memory back."""
        ...


@dataclass(frozen=True, slots=True)
class Read:
    """All that was read, with the means over its windows; `no_speech` is the least of any window.

    `language` is the one it was read in, and `detected` what it sounded like, with that probability; "" and 0.0 where
    nobody looked.
    """

    text: str
    language: str
    average_logprob: float
    no_speech: float
    detected: str = ""
    detected_probability: float = 0.0
    words: tuple[TimedWord, ...] = ()

    @property
    def language_probability(self) -> float:
        """1.0 for a language that was given, 0.0 for one that was kept although it sounds like another."""
        if not self.detected:
            return 1.0
        return self.detected_probability if self.detected == self.language else 0.0


def read(
    decoder: Decoder,
    samples: Samples,
    *,
    language: str | None,
    choose: Callable[[str, float], str] = lambda detected, _: detected,
    hints: Hints | None = None,
    words: bool = False,
    abandoned: Callable[[], bool] = lambda: False,
) -> Read:
    """Read samples at 16 kHz, of any length above 0. Raises Abandoned between two steps once `abandoned()` is true.

    `language` None: `choose(detected, probability)` says which one it is read in. `hints`: names and words to expect;
    where nothing else was understood, or there is some doubt, it is also read without them, and the greater doubt
    counts. `words`: whether the times of the words are wanted.

    Decoding asks for timestamps, because without them Whisper tends to stop at the first pause: of 24 turns made of
    two to nine sentences, 25 % of the words were lost without and 12 % with them, 9 % with the re-reading below; the
    stock decoder made 10 % errors.
    """
    hints = hints or Hints()
    heard = _read_with(_Reading(decoder, language, choose, hints.prompt, words, abandoned), samples)
    if not hints.prompt or not heard.text or not (hints.are_all_of(heard.text) or _is_unsure(heard)):
        return heard
    plain = _read_with(_Reading(decoder, heard.language, choose, "", False, abandoned), samples)
    if not plain.text:
        return replace(heard, text="", words=())
    logprob, no_speech = min(heard.average_logprob, plain.average_logprob), max(heard.no_speech, plain.no_speech)
    return replace(heard, average_logprob=logprob, no_speech=no_speech)


def _is_unsure(heard: Read) -> bool:
    return heard.no_speech - heard.average_logprob > _UNSURE


def _read_with(reading: "_Reading", samples: Samples) -> Read:
    parts = [part for piece in split(samples) for part in reading.piece(piece)]
    parts = [part for part in parts if not _doubtful(part)] or parts[:1]  # a window of a rest may hold no speech
    tokens = sum(part.tokens for part in parts)
    return Read(
        text="".join(part.text for part in parts).strip(),
        language=reading.language or "",
        average_logprob=sum(part.logprob for part in parts) / max(1, tokens),
        no_speech=min(part.no_speech for part in parts),
        detected=reading.detected,
        detected_probability=reading.probability,
        words=tuple(word for part in parts for word in reading.words.get(id(part), ())),
    )


def _doubtful(part: Decoded) -> bool:
    return doubtful(part.no_speech, part.logprob / max(1, part.tokens))


class _Reading:
    def __init__(
        self,
        decoder: Decoder,
        language: str | None,
        choose: Callable[[str, float], str],
        hints: str,
        wants_words: bool,
        abandoned: Callable[[], bool],
    ) -> None:
        self._decoder = decoder
        self._choose = choose
        self._hints = hints
        self._wants_words = wants_words
        self._abandoned = abandoned
        self._from_s = 0.0
        self.language = language
        self.detected, self.probability = "", 0.0
        self.words: dict[int, list[TimedWord]] = {}
        """By the identity of the part that they are of."""

    def piece(self, samples: Samples) -> Iterator[Decoded]:
        """The parts of a piece that fits a window.

        A window that ends in mid-phrase is not trusted there: what follows its last whole phrase is read again in a
        window of its own, and a lone broken phrase, or nothing, in the full window, without timestamps.
        """
        end_s = self._from_s + len(samples) / RATE
        for _ in range(_MOST_WINDOWS):
            encoded, decoded = self._look(samples, window_frames(len(samples)), timestamps=True)
            if decoded.finished or decoded.closed_s > len(samples) / RATE - _LEAST_LEFT_S:
                yield self._timed(encoded, decoded, samples)
                break
            if not decoded.closed_s:
                yield self._timed(*self._look(samples, FULL, timestamps=False), samples)
                break
            yield self._timed(encoded, replace(decoded, text=decoded.closed, ids=decoded.closed_ids), samples)
            samples = samples[round(decoded.closed_s * RATE) :]
            self._from_s += decoded.closed_s
        self._from_s = end_s

    def _look(self, samples: Samples, frames: int, *, timestamps: bool) -> tuple[Any, Decoded]:
        self._go_on()
        encoded = self._decoder.encode(samples, frames)
        self._go_on()
        if self.language is None:
            self.detected, self.probability = self._decoder.detect(encoded)
            self.language = self._choose(self.detected, self.probability)
        more = {"hints": self._hints} if self._hints else {}
        seconds = len(samples) / RATE
        return encoded, self._decoder.decode(
            encoded, language=self.language, seconds=seconds, timestamps=timestamps, **more
        )

    def _timed(self, encoded: Any, decoded: Decoded, samples: Samples) -> Decoded:
        if self._wants_words and decoded.ids and self.language is not None:
            found = self._decoder.times(encoded, decoded.ids, language=self.language, seconds=len(samples) / RATE)
            self.words[id(decoded)] = [
                TimedWord(word.text, word.start_s + self._from_s, word.end_s + self._from_s) for word in found
            ]
        return decoded

    def _go_on(self) -> None:
        if self._abandoned():
            raise Abandoned
