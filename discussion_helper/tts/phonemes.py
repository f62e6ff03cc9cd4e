"""Phonemes in time: where in the audio each one is, and each spoken word by them."""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discussion_helper.tts.alignment import align

__all__ = ["Phoneme", "Sounds", "Span", "moved", "place", "timed"]

_BEGIN, _PAD, _END = "^", "_", "$"
"""What the network is given before the first phoneme, after each one and after the last, as Piper trains voices."""

_STRESS = frozenset("ˈˌ")
_MARKS = frozenset(".,;:!?¡¿…\"'()-")

Sounds = Callable[[str], Sequence[str]]
"""The phonemes of a word read out alone."""

Span = tuple[int, int]
"""From a sample to another one."""


@dataclass(frozen=True, slots=True)
class Phoneme:
    """One phoneme, or a space or mark between words, and the samples it lasts: from `start` to `stop`."""

    symbol: str
    start: int
    stop: int


def timed(
    phonemes: Sequence[str], ids: Mapping[str, Sequence[int]], widths: NDArray[np.int64] | None
) -> list[Phoneme] | None:
    """The phonemes of one sentence with their samples; `widths` are the samples of each id the network was given.

    `ids` gives the ids of a phoneme; one that is not in it is not spoken. None without widths, or if their number is
    not that of the ids.
    """
    if widths is None:
        return None
    pad = len(ids.get(_PAD, ()))
    said = [symbol for symbol in phonemes if symbol in ids]
    counts = [len(ids.get(_BEGIN, ())) + pad, *(len(ids[symbol]) + pad for symbol in said)]
    if sum(counts) + len(ids.get(_END, ())) != len(widths):
        return None
    samples = np.concatenate([[0], np.cumsum(widths)])
    borders = samples[np.cumsum(counts)].tolist()
    return [Phoneme(symbol, *span) for symbol, span in zip(said, pairwise(borders), strict=True)]


def moved(phonemes: Sequence[Phoneme], by: int, start: int, count: int) -> list[Phoneme]:
    """The phonemes of a sentence in an audio that has `count` samples of it from the sample `start` on.

    `by` is how much later all of them are in that audio. A space follows them.
    """
    stop = start + count

    def there(sample: int) -> int:
        return min(max(sample + by, start), stop)

    return [*(Phoneme(p.symbol, there(p.start), there(p.stop)) for p in phonemes), Phoneme(" ", stop, stop)]


def place(words: Sequence[str], phonemes: Sequence[Phoneme], sounds: Sounds, *, start: int = 0) -> list[Span]:
    """The samples that each of the spoken `words` lasts; none at all, at `start` or later, for one without a sound.

    The phonemiser joins words ("of the" is one), parts them and reads numbers out, so its words are not the text's. But
    each word's own phonemes, read out alone, are nearly those it has in the sentence: the two are aligned.
    """
    made = [index for index, phoneme in enumerate(phonemes) if _sounds(phoneme.symbol)]
    expected: list[str] = []
    owners: list[int] = []
    for number, word in enumerate(words):
        own = [symbol for symbol in sounds(word) if _sounds(symbol)]
        expected += [*own, " "]
        owners += [number] * (len(own) + 1)
    spans: dict[int, Span] = {}
    for number, symbol, found in zip(
        owners, expected, align(expected, [phonemes[index].symbol for index in made]), strict=True
    ):
        if found >= 0 and symbol != " ":
            spans[number] = (spans.get(number, (made[found],))[0], made[found])
    return _placed(len(words), _parted(spans, phonemes), phonemes, start)


def _sounds(symbol: str) -> bool:
    """Whether a symbol is a sound of its own, or the space between two words."""
    return not (symbol in _STRESS or symbol in _MARKS or symbol == "ː" or unicodedata.combining(symbol[:1]))


def _parted(spans: dict[int, Span], phonemes: Sequence[Phoneme]) -> dict[int, Span]:
    """From the first to the last sound of each word -> to where the next one begins: marks and lost sounds as well."""
    following = [*[first for first, _ in spans.values()][1:], len(phonemes)]
    parted: dict[int, Span] = {}
    start: int | None = None
    for (number, (first, last)), end in zip(spans.items(), following[: len(spans)], strict=True):
        stop, after = _border(phonemes, last + 1, end)
        parted[number] = (first if start is None else start, stop)
        start = after
    return parted


def _border(phonemes: Sequence[Phoneme], first: int, last: int) -> Span:
    """Where a word ends and the next one begins between their sounds: at spaces, else before the mark of stress."""
    breaks = [index for index in range(first, last) if phonemes[index].symbol in _MARKS | {" "}]
    if breaks:
        return breaks[0], breaks[-1] + 1
    while last > first and phonemes[last - 1].symbol in _STRESS:
        last -= 1
    return last, last


def _placed(count: int, spans: dict[int, Span], phonemes: Sequence[Phoneme], start: int) -> list[Span]:
    placed: list[Span] = []
    for number in range(count):
        at = placed[-1][1] if placed else start
        if number in spans:
            first, end = spans[number]
            placed.append((phonemes[first].start, phonemes[end - 1].stop))
        else:
            placed.append((at, at))
    return placed
