"""What a session is called in a list: the first words that were said in it."""

import re
from collections.abc import Iterable

from discussion_helper.types import Utterance

__all__ = ["LONGEST_TITLE", "title_of"]

LONGEST_TITLE = 60
"""Characters."""
_SPACE = re.compile("[\u0000-\u0020\u007f-\u00a0\u2028\u2029\u3000]+")
_LONG_WORD = re.compile("[!-~]{20,}")
_HIDDEN = "…"
_ID_CHARACTERS = 8


def title_of(utterances: Iterable[Utterance], session_id: str) -> str:
    """One line of up to LONGEST_TITLE characters: the user's first words, else the agent's, else how the id begins.

    A list is seen by whoever looks over a shoulder: what looks like a key stands as "…" there, which is a word of 20
    characters and more with letters and digits. `title.js` of the page says the same.
    """
    of_agent = ""
    for utterance in utterances:
        words = _words_of(utterance.text)
        if words and utterance.speaker == "user":
            return words
        of_agent = of_agent or words
    return of_agent or session_id[:_ID_CHARACTERS]


def _words_of(text: str) -> str:
    line = _SPACE.sub(" ", text[: 100 * LONGEST_TITLE]).strip(" ")
    return _LONG_WORD.sub(_shown, line)[:LONGEST_TITLE].strip(" ")


def _shown(word: re.Match[str]) -> str:
    has_both = re.search("[0-9]", word[0]) and re.search("[A-Za-z]", word[0])
    return _HIDDEN if has_both else word[0]
