"""Hints: names and words that are likely to be said, such as those of people and products."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from discussion_helper.errors import SettingError

__all__ = ["LONGEST", "MOST", "MOST_CHARACTERS", "Hints"]

MOST = 50
LONGEST = 60
MOST_CHARACTERS = 400
"""Of all of them: some 120 of the 223 tokens that Whisper may be told before a turn."""


@dataclass(frozen=True, slots=True)
class Hints:
    """Names and words in the spelling that is wanted. Raises SettingError naming `hints`."""

    phrases: tuple[str, ...] = ()
    prompt: str = field(init=False, default="")
    """What the model is told was said before; "" for nothing."""
    _words: frozenset[str] = field(init=False, default=frozenset())

    def __post_init__(self) -> None:
        phrases = _checked(self.phrases)
        object.__setattr__(self, "phrases", phrases)
        if phrases:
            object.__setattr__(self, "prompt", f"{', '.join(phrases)}.")
            object.__setattr__(self, "_words", frozenset(_words(self.prompt)))

    def are_all_of(self, text: str) -> bool:
        """Whether a text holds words, and none but theirs."""
        words = _words(text)
        return bool(words) and self._words.issuperset(words)


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.casefold())


def _checked(phrases: Sequence[str]) -> tuple[str, ...]:
    if isinstance(phrases, str) or not all(isinstance(phrase, str) for phrase in phrases):
        raise SettingError("hints: it is no list of texts.", fix='Use texts: ("Aachen", "Piper").')
    given = tuple(dict.fromkeys(" ".join(phrase.split()) for phrase in phrases))
    for phrase in given:
        if not _words(phrase) or len(phrase) > LONGEST or not phrase.isprintable():
            what = f"hints: {phrase[:LONGEST]!r} is no name or word of at most {LONGEST} characters."
            raise SettingError(what, fix="Write each name or word as it is to be spelt.")
    if len(given) > MOST or sum(map(len, given)) > MOST_CHARACTERS:
        what = f"hints: there are more than {MOST}, or more than {MOST_CHARACTERS} characters of them."
        raise SettingError(what, fix="Keep those that are said most.")
    return given
