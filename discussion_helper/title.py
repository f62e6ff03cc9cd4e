"""What a session is called in a list: the first words that were said in it."""

import re
from collections.abc import Iterable

from discussion_helper.types import Utterance

__all__ = ["LONGEST_TITLE", "one_line", "title_of"]

LONGEST_TITLE = 60
"""Characters."""
_READ = 100 * LONGEST_TITLE
_SPACE = re.compile(
    "[\u0000-\u0020\u007f-\u00a0\u115f\u1160\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000\u3164\uffa0]+"
)
"""Of all scripts, with letters that are drawn as one."""
_UNSEEN = re.compile("[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb]")
"""What has no shape and parts no letters; some of it turns the rest of a line round."""
_BLANK = re.compile("[ \u034f\u17b4\u17b5\u180b-\u180f\u200c\u200d\ufe00-\ufe0f\U000e0000-\U000e0fff]*")
"""What has no shape of its own: it belongs to the letters and pictures beside it."""
_LONG_WORD = re.compile("[!-~]{20,}")
_LAST_WORD = re.compile(f"(^|[^!-~])[!-~]{{1,{LONGEST_TITLE - 1}}}$")
_HIDDEN = "…"
_ID_CHARACTERS = 8


def title_of(utterances: Iterable[Utterance], session_id: str) -> str:
    """One line of up to LONGEST_TITLE characters: the user's first words, else the agent's, else how the id begins.

    A list is seen by whoever looks over a shoulder: what looks like a key stands as "…" there, which is a word of 20
    characters and more with letters and digits. `title.js` of the page says the same.
    """
    of_agent = ""
    for utterance in utterances:
        words = one_line(utterance.text)
        if words and utterance.speaker == "user":
            return words
        of_agent = of_agent or words
    return of_agent or session_id[:_ID_CHARACTERS]


def one_line(text: str) -> str:
    """Its first LONGEST_TITLE characters in one line, without what looks like a key; "" where nothing can be seen."""
    line = _SPACE.sub(" ", _UNSEEN.sub("", text[:_READ]))
    if len(text) > _READ:
        line = _LAST_WORD.sub(rf"\1{_HIDDEN}", line)  # how it goes on is not looked at
    line = _LONG_WORD.sub(_shown, line.strip(" "))[:LONGEST_TITLE].strip(" ")
    return "" if _BLANK.fullmatch(line) else line


def _shown(word: re.Match[str]) -> str:
    has_both = re.search("[0-9]", word[0]) and re.search("[A-Za-z]", word[0])
    return _HIDDEN if has_both else word[0]
