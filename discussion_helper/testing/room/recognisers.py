"""Recognisers without a model, in virtual time."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import anyio
import numpy as np

from discussion_helper.audio.analysis import voiced
from discussion_helper.audio.frames import Samples
from discussion_helper.stt.base import Recognised
from discussion_helper.testing.room.limits import check_each, check_seconds

__all__ = ["LEAST_SCORE", "KnownSound", "MatchingRecogniser", "ScriptedRecogniser"]

_RATE = 16_000
LEAST_SCORE = 0.25
"""Of the correlation. Of different sounds that are a second long it is below 0.1."""
_SLOPE = 0.75
"""Of the pre-emphasis. The vowels of one voice are alike at its pitch: of 300 pieces of half a second 13 in 100 were
taken for words of another sentence of the same voice, and 2 with it. With more of it noise hides what is there."""
_LEAST_S = 0.15
_SAME = 1600
"""Samples by whose beginning a turn is known again."""


class ScriptedRecogniser:
    """Recognises `texts`, one for each turn, whatever is said; "" when there are no more. Each call takes `delay_s`.

    Two calls about the same turn, in its pause and at its end, give the same text. `calls`: their lengths and their
    voices in seconds.
    """

    def __init__(self, texts: Sequence[str] = (), *, delay_s: float = 0.2) -> None:
        check_each("texts", texts, str, fix='Use a list of texts: ["hello"].')
        check_seconds("delay_s", delay_s)
        self._texts = list(texts)
        self._delay_s = delay_s
        self._known: tuple[bytes, str] = (b"", "")
        self.calls: list[tuple[float, float | None]] = []
        self.closed = False

    async def recognise(self, samples: Samples, *, voiced_s: float | None = None) -> Recognised:
        """The next text."""
        self.calls.append((len(samples) / _RATE, voiced_s))
        beginning = samples[:_SAME].tobytes()
        if beginning != self._known[0]:
            self._known = (beginning, self._texts.pop(0) if self._texts else "")
        text = self._known[1]
        await anyio.sleep(self._delay_s)
        return Recognised(text, took_s=self._delay_s)

    async def warmup(self) -> None:
        """Nothing to load."""

    async def aclose(self) -> None:
        """Nothing to release."""
        self.closed = True


@dataclass(frozen=True, slots=True, eq=False)
class KnownSound:
    """What somebody says; samples at 16 kHz."""

    text: str
    samples: Samples


class MatchingRecogniser:
    """Recognises what is really in the samples: those words of the known sounds that are found there.

    A sound is found by correlation, and a word of it where its share of the letters lies. So a turn that was cut off,
    or lost its first syllable, gives fewer words, and an echo of the agent, if it is known, gives the agent's.
    """

    def __init__(self, known: Callable[[], Iterable[KnownSound]], *, delay_s: float = 0.2) -> None:
        """`known` is asked at each call. Each takes `delay_s`."""
        check_seconds("delay_s", delay_s)
        self._known = known
        self._delay_s = delay_s
        self.calls: list[tuple[float, float | None]] = []
        self.closed = False

    async def recognise(self, samples: Samples, *, voiced_s: float | None = None) -> Recognised:
        """The words, in the order in which they are heard."""
        self.calls.append((len(samples) / _RATE, voiced_s))
        found = sorted(place for sound in self._known() if (place := _find(samples, sound)))
        await anyio.sleep(self._delay_s)
        return Recognised(" ".join(text for _, text in found), took_s=self._delay_s)

    async def warmup(self) -> None:
        """Nothing to load."""

    async def aclose(self) -> None:
        """Nothing to release."""
        self.closed = True


def _find(samples: Samples, sound: KnownSound) -> tuple[int, str] | None:
    """Where a sound begins, and its words that are there."""
    heard, wanted = _flat(samples), _flat(sound.samples)
    lag = _lag(heard, wanted)
    low, high = max(lag, 0), min(lag + len(wanted), len(heard))
    here, there = heard[low:high], wanted[low - lag : high - lag]
    power = float(np.sqrt((here @ here) * (there @ there)))
    if high - low < _LEAST_S * _RATE or not power or float(here @ there) / power < LEAST_SCORE:
        return None
    text = _words(sound, low - lag, high - lag)
    return (lag, text) if text else None


def _flat(samples: Samples) -> Samples:
    """As long, without the slope of a voice's spectrum."""
    return np.asarray(samples - _SLOPE * np.concatenate((samples[:1], samples[:-1])), np.float32)


def _lag(samples: Samples, sound: Samples) -> int:
    size = 1 << (len(samples) + len(sound)).bit_length()
    product = np.fft.irfft(np.fft.rfft(samples, size) * np.conj(np.fft.rfft(sound, size)), size)
    best = int(np.argmax(product))
    return best if best < len(samples) else best - size


def _words(sound: KnownSound, start: int, end: int) -> str:
    """The words whose middle lies between two samples of a sound."""
    words = sound.text.split()
    voice = voiced(sound.samples, _RATE)
    ends = np.cumsum([len(word) + 1 for word in words])
    middles = [(e - (len(word) + 1) / 2) / ends[-1] for word, e in zip(words, ends, strict=True)]
    places = [voice.start + share * (voice.end - voice.start) for share in middles]
    return " ".join(word for word, place in zip(words, places, strict=True) if start <= place < end)
