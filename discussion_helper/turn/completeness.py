"""Completeness: whether a text, as far as it was recognised, sounds finished. By the text alone.

The words of each language stand in completeness.toml, where it is said what each list is for.
"""

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

__all__ = ["Completeness", "completeness_languages"]

_WORD = re.compile(r"[^\W_](?:[^\W_]|['’-](?=[^\W_]))*['’]?")
_CLAUSE = re.compile(r"[.!?;:,…]+\s*|\s+[–—-]\s+")
_GOES_ON = re.compile(r"(?:\.\.+|…|[,;:–—-])\s*$")
"""Marks by which a recogniser shows that something is missing."""
_DICTATED = 9
"""So many digits make a whole number, in most countries a telephone's."""

_NEVER, _HARDLY, _DICTATES, _UNMARKED, _MARKED, _NUMBER, _ASKED, _SURE = 0.03, 0.15, 0.3, 0.5, 0.7, 0.87, 0.9, 0.97
"""What the rules give. `_MARKED`: a full stop says little, for recognisers put one wherever the sound ends."""
_DOUBTED = 1.0
"""Doubt, as in `voice/words.py`, above which that little counts for nothing, as in a text that is made up. Nine in ten
ends of recorded turns, and pauses in them, have less; with any bar from 0.9 to 1.2 the cuts are the same, and without
one they vary by a turn of 42 with what the recogniser happens to make of a name."""


@dataclass(frozen=True, slots=True)
class _Words:
    goes_on: frozenset[str]
    leans: frozenset[str]
    hums: frozenset[str]
    stubs: frozenset[str]
    openings: frozenset[str]
    whole: frozenset[str]
    asks: frozenset[str]
    numbers: frozenset[str]


@cache
def _tables() -> Mapping[str, _Words]:
    text = files("discussion_helper.turn").joinpath("completeness.toml").read_text("utf-8")
    return {code: _Words(**{kind: _listed(one) for kind, one in lists.items()}) for code, lists in _loaded(text)}


def _loaded(text: str) -> list[tuple[str, dict[str, str]]]:
    return list(tomllib.loads(text).items())


def _listed(text: str) -> frozenset[str]:
    return frozenset(_plain(" ".join(phrase.split())) for phrase in text.split(","))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", text).casefold().replace("’", "'")


def completeness_languages() -> tuple[str, ...]:
    """Codes of the languages that there are words for."""
    return tuple(_tables())


class Completeness:
    """Of the texts of one language. A pure function, which takes some microseconds."""

    def __init__(self, language: str | None) -> None:
        """`language`: a code such as "en" or "de-AT". Of one that is not known, and of None, it has no opinion."""
        code = (language or "").replace("_", "-").split("-")[0].lower()
        self._words = _tables().get(code)

    def of(self, text: str, *, doubt: float = 0.0) -> float | None:
        """From 0.0, the speaker surely goes on, to 1.0, surely finished; None where there is nothing to judge by.

        `doubt`: the recogniser's. Where it is great, only what shows plainly counts.
        """
        words = _WORD.findall(_plain(text))
        if self._words is None or not words:
            return None
        score = _judged(text.strip(), words, self._words)
        return None if doubt > _DOUBTED and score in (_UNMARKED, _MARKED) else score


def _judged(text: str, words: list[str], known: _Words) -> float:
    """The first rule that applies."""
    last, asked = words[-1], text.endswith(("?", "¿"))
    if last in known.hums:
        return _NEVER if len(words) > 1 or not asked else _HARDLY
    if _is_whole(words, known) and not _trails_off(text):
        return _SURE
    if _trails_off(text):
        return _HARDLY
    if _ends_in(words, known.goes_on):
        return _HARDLY if asked else _NEVER
    if _is_stub(_last_clause(text), known):
        return _HARDLY
    if asked:
        return _ASKED
    if last in known.leans:
        return _UNMARKED if _is_question(words, known) else _DICTATES if text.endswith(".") else _HARDLY
    if _are_numbers(words, known):
        return _DICTATES if _dictates(words) else _NUMBER
    return _MARKED if text.endswith((".", "!", "。")) or _is_question(words, known) else _UNMARKED


def _trails_off(text: str) -> bool:
    return _GOES_ON.search(text) is not None


def _is_whole(words: list[str], known: _Words) -> bool:
    """All of it is an answer or a command that needs no more: "no", "okay, thanks"."""
    at = 0
    while at < len(words):
        ends = [end for end in range(len(words), at, -1) if " ".join(words[at:end]) in known.whole]
        if not ends:
            return False
        at = ends[0]
    return True


def _ends_in(words: list[str], phrases: frozenset[str]) -> bool:
    return any(" ".join(words[-count:]) in phrases for count in range(1, min(3, len(words)) + 1))


def _last_clause(text: str) -> list[str]:
    """Its words; a clause that is behind the last mark only to be empty is the one before it."""
    clauses = [_WORD.findall(_plain(part)) for part in _CLAUSE.split(text)]
    return next((words for words in reversed(clauses) if words), [])


def _is_stub(clause: list[str], known: _Words) -> bool:
    """It lacks its object; or it is nothing but the way into a sentence, and no answer."""
    first = 0
    while first < len(clause) and clause[first] in known.openings | known.hums:
        first += 1
    rest = " ".join(clause[first:])
    return rest in known.stubs or (not rest and " ".join(clause) not in known.whole)


def _is_question(words: list[str], known: _Words) -> bool:
    return words[0] in known.asks and len(words) > 2


def _are_numbers(words: list[str], known: _Words) -> bool:
    """Nothing but digits, number words and letters."""
    return all(word in known.numbers or word.isdigit() or len(word) == 1 for word in words)


def _dictates(words: list[str]) -> bool:
    """Several, one by one, and no whole number yet. One word, or a short number, is an answer: "seven", "2026"."""
    digits = sum(len(word) if word.isdigit() else 1 for word in words)
    return digits < _DICTATED and (len(words) > 1 or digits > 4)
