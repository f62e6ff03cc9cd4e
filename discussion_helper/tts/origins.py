"""Origins: which words of a written text the letters of its spoken form come from."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate

from discussion_helper.tts.heard import written_units
from discussion_helper.tts.speakable import speakable

__all__ = ["Origin", "letters", "origins_of"]

_BUDGET = 8_000
"""Characters read out at most to find where a text can be parted, about 30 ms; then the rest is shared out."""

_TELLING = 3
_NEAR = 12
"""A word of so many letters that is found so few letters further on is taken for the one that is spoken."""

_Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Origin:
    """The text up to the offset `end` is spoken by the first `letters` letters and digits of its spoken form."""

    end: int
    letters: int


def letters(text: str) -> str:
    """The letters and digits of `text`: all that its spoken form has in common however it is cut."""
    return "".join(filter(str.isalnum, text))


def origins_of(text: str, spoken: str, language: str) -> list[Origin]:
    """For each word of `text`, in order, up to which letter of `spoken` (which is `speakable(text)`) it reaches.

    Two neighbours are parted where both sides, read out alone, make what the whole makes: "paid | $3.50". Where there
    is no such place, as in "22,1 °C" or a link, the letters are shared out by the words' own. A word that is not spoken
    belongs to the one before it.
    """
    return _Origins(text, language).find(spoken)


class _Origins:
    def __init__(self, text: str, language: str) -> None:
        self._text = text
        self._language = language
        self._units = [match.span() for match in written_units(text)]
        self._budget = _BUDGET

    def find(self, spoken: str) -> list[Origin]:
        if not self._units:
            return []
        counts = self._counts(0, len(self._units), letters(spoken))
        found: list[Origin] = []
        for (_, end), reached in zip(self._units, accumulate(counts), strict=True):
            if found and found[-1].letters == reached:
                found.pop()
            if reached:
                found.append(Origin(end, reached))
        return found

    def _counts(self, first: int, last: int, spoken: str) -> list[int]:
        """How many of the letters `spoken` each of these words has."""
        own = [len(letters(self._text[slice(*span)])) for span in self._units[first:last]]
        if letters(self._slice(first, last)) == spoken:
            return own
        if last - first == 1:
            return [len(spoken)]
        for middle in _from_the_middle(first, last):
            parts = self._parted(first, middle, last, spoken)
            if parts is not None:
                left, right = parts
                return [*self._counts(first, middle, left), *self._counts(middle, last, right)]
        return self._shared_out(first, last, spoken)

    def _parted(self, first: int, middle: int, last: int, spoken: str) -> tuple[str, str] | None:
        """What both sides make, if that is what the whole makes."""
        left, right = self._slice(first, middle), self._slice(middle, last)
        if self._budget < len(left) + len(right):
            return None
        self._budget -= len(left) + len(right)
        made = letters(speakable(left, self._language))
        if not spoken.startswith(made):
            return None
        rest = spoken[len(made) :]
        return (made, rest) if letters(speakable(right, self._language)) == rest else None

    def _shared_out(self, first: int, last: int, spoken: str) -> list[int]:
        """Words that are found in what is spoken have what they are found as; the others share what is between."""
        own = [self._own(index) for index in range(first, last)]
        counts = [0] * len(own)
        at = waiting = 0
        for index, word in enumerate(own):
            found = spoken.find(word, at) if word else -1
            if found == at or (found > at and len(word) >= _TELLING and found - at <= _NEAR):
                _share(counts, own, (waiting, index), found - at)
                counts[index] += len(word)
                at, waiting = found + len(word), index + 1
        _share(counts, own, (waiting, len(own)), len(spoken) - at)
        return counts

    def _own(self, index: int) -> str:
        """What a word alone is spoken as."""
        written = self._slice(index, index + 1)
        plain = letters(written)
        return plain if plain.isalpha() and "/" not in written else letters(speakable(written, self._language))

    def _slice(self, first: int, last: int) -> str:
        return self._text[self._units[first][0] : self._units[last - 1][1]]


def _share(counts: list[int], own: list[str], between: _Span, count: int) -> None:
    """Give the words between two places `count` letters, by their own; without any, the one before has them."""
    first, last = between
    if first == last:
        counts[max(0, first - 1)] += count
        return
    total = sum(len(word) + 1 for word in own[first:last])
    ends = [round(count * reached / total) for reached in accumulate(len(word) + 1 for word in own[first:last])]
    for index, (start, end) in enumerate(zip([0, *ends], ends, strict=False), first):
        counts[index] += end - start


def _from_the_middle(first: int, last: int) -> Iterator[int]:
    """The places between the words, those next to the middle first."""
    return iter(sorted(range(first + 1, last), key=lambda place: abs(2 * place - first - last)))
