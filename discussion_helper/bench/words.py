"""Words, for comparing what was said with what was understood."""

import re
from collections.abc import Iterator, Sequence

from discussion_helper.tts.speakable import speakable

__all__ = ["said_once", "word_errors", "words_of", "words_reached"]

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def words_of(text: str, language: str = "en") -> list[str]:
    """The words of a text: lower case, numbers and abbreviations written out, no punctuation."""
    return [word.replace("’", "'") for word in _WORD.findall(speakable(text, language).lower())]


def word_errors(reference: Sequence[str], heard: Sequence[str]) -> int:
    """Words to replace, drop and insert to make the one of the other. `reference` must hold a word."""
    import jiwer

    found = jiwer.process_words(" ".join(reference), " ".join(heard))
    return int(found.substitutions + found.deletions + found.insertions)


def words_reached(said: Sequence[str], heard: Sequence[str]) -> int:
    """How many words of `said` have gone by when `heard`, its beginning with mistakes, is over.

    So many that the fewest words must be replaced, dropped and put in; where several fit alike, the most of them.
    """
    errors = list(range(len(said) + 1))
    for number, word in enumerate(heard, 1):
        before, errors = errors, [number]
        for at, other in enumerate(said):
            errors.append(min(before[at] + (word != other), before[at + 1] + 1, errors[at] + 1))
    return max(at for at, count in enumerate(errors) if count == min(errors))


def said_once(heard: Sequence[str], said: Sequence[str]) -> list[str]:
    """What was heard without what a recogniser says over and over where nothing is said any more.

    Of words that follow themselves, and do not do so in `said`, the first time stays; a last time that breaks off goes.
    """
    found, at = list(heard), 0
    while at < len(found):
        size = next((size for size in _periods(found, at) if not _holds(said, found[at : at + 2 * size])), 0)
        if size:
            del found[at + size : _period_end(found, at, size)]
        at += 1
    return found


def _periods(words: Sequence[str], at: int) -> Iterator[int]:
    sizes = range(1, (len(words) - at) // 2 + 1)
    return (size for size in sizes if words[at : at + size] == words[at + size : at + 2 * size])


def _period_end(words: Sequence[str], at: int, size: int) -> int:
    end = at + size
    while end < len(words) and words[end] == words[end - size]:
        end += 1
    return end


def _holds(said: Sequence[str], part: Sequence[str]) -> bool:
    return any(list(said[start : start + len(part)]) == list(part) for start in range(len(said) - len(part) + 1))
