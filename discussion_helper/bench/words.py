"""Words, for comparing what was said with what was understood."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher

from discussion_helper.tts.speakable import speakable

__all__ = ["word_errors", "words_of", "words_reached"]

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

    Up to the last pair of words that agree, and as many as were heard after it.
    """
    blocks = SequenceMatcher(None, said, heard, autojunk=False).get_matching_blocks()[:-1]
    if not blocks:
        return min(len(said), len(heard))
    last = blocks[-1]
    return min(len(said), last.a + last.size + len(heard) - last.b - last.size)
