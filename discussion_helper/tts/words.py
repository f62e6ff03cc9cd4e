"""Word times: the words of a written text, each with the samples in which it is spoken."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate

from discussion_helper.tts.base import Word
from discussion_helper.tts.heard import spoken_units
from discussion_helper.tts.origins import Origin, letters, origins_of
from discussion_helper.tts.phonemes import Phoneme, Sounds, Span, place

__all__ = ["Piece", "words_of"]


Piece = tuple[str, Sequence[Phoneme]]
"""A stretch of the spoken text, and what was made of it."""


def words_of(text: str, pieces: Sequence[Piece], *, language: str, sounds: Sounds) -> tuple[Word, ...] | None:
    """The words of `text`, which was read out in these pieces; see `Speech.words`.

    `sounds` gives a word's phonemes when read out alone. Text that makes no sound has no words; None if most words
    cannot be found in the phonemes.
    """
    units: list[str] = []
    spans: list[Span] = []
    for spoken, phonemes in pieces:
        own = [unit for unit in spoken_units(spoken) if letters(unit)]
        units += own
        spans += place(own, phonemes, sounds, start=spans[-1][1] if spans else 0)
    origins = origins_of(text, " ".join(spoken for spoken, _ in pieces), language)
    if not units or not origins:
        return ()
    found = sum(start < stop for start, stop in spans)
    return _covering(text, origins, _Times(units, spans)) if 2 * found >= len(units) else None


class _Times:
    """When the letters of a spoken text are heard: evenly within each of its words."""

    def __init__(self, units: Sequence[str], spans: Sequence[Span]) -> None:
        self._ends = list(accumulate(len(letters(unit)) for unit in units))
        self._spans = spans

    def start(self, letter: int) -> int:
        """The first sample of that letter."""
        return self._at(min(bisect_right(self._ends, letter), len(self._ends) - 1), letter)

    def stop(self, letter: int) -> int:
        """The sample after the letter before that one."""
        return self._at(min(bisect_left(self._ends, letter), len(self._ends) - 1), letter)

    def _at(self, unit: int, letter: int) -> int:
        first = self._ends[unit - 1] if unit else 0
        start, stop = self._spans[unit]
        return start + (stop - start) * (letter - first) // (self._ends[unit] - first)


def _covering(text: str, origins: Sequence[Origin], times: _Times) -> tuple[Word, ...]:
    words: list[Word] = []
    before = now = 0
    for origin in origins:
        start = max(now, times.start(before))
        now = max(start, times.stop(origin.letters))
        words.append(Word(origin.end, start, now))
        before = origin.letters
    words[-1] = Word(len(text), words[-1].start, words[-1].stop)
    return tuple(words)
