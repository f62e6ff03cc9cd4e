"""What is said without wanting the floor, and what always takes it, by language.

Short listener's responses (backchannels, Yngve 1970), thanks and surprise among them, for whoever says no more than
that over the agent wants it to go on; and the words by which people stop each other. They stand in lexicon.toml; a
user's own are added to both.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files

from discussion_helper.policy import check_sayable

__all__ = ["Lexicon", "listed", "words_of"]

_HUMMED = re.compile(r"(?:[hmn]|uh|um|ah|eh|oh|äh)+|a?(?:h[aeiou]){2,}h?|a?hah?|heh")
"""What is hummed or laughed in any language, however a recogniser writes it: mm, mhm, hmm, uh-huh, haha, ha.

Of a word in which no letter follows itself. There is one way to read such a word, so that none takes long.
"""
_SAME = re.compile(r"(.)\1+")
_SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")


@cache
def listed() -> dict[str, dict[str, list[str]]]:
    """By language the phrases of "responses" and of "stop"."""
    parsed = tomllib.loads(files("discussion_helper.voice").joinpath("lexicon.toml").read_text("utf-8"))
    return {code: {kind: _parted(text) for kind, text in lists.items()} for code, lists in parsed.items()}


def _parted(text: str) -> list[str]:
    return [phrase.strip() for phrase in text.split(",")]


def words_of(text: str) -> list[str]:
    """The words of a text in one form: no marks, no capitals, compatible characters made equal."""
    plain = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    return ["".join(part) for part in re.findall(r"[^\W_](?:[^\W_]|'|[\u0300-\u036f\u0900-\u097f])*", plain)]


class Lexicon:
    """Of one language, or of all it knows; with a user's own words. A pure function of the text."""

    def __init__(
        self, language: str | None = None, *, backchannels: Iterable[str] = (), stop_words: Iterable[str] = ()
    ) -> None:
        """`language`: a code such as "en" or "de-AT"; None, or one that is not known, = all of them together.

        Raises SettingError for a phrase of which nothing can be said.
        """
        backchannels, stop_words = tuple(backchannels), tuple(stop_words)
        check_sayable("backchannels", backchannels)
        check_sayable("stop_words", stop_words)
        code = (language or "").replace("_", "-").split("-")[0].lower()
        known = listed()
        lists = [known[code]] if code in known else list(known.values())
        own = _phrases(backchannels)
        self._backchannels = _by_first(own | _phrases(phrase for each in lists for phrase in each["responses"]))
        self._stops = _by_first(_phrases([*stop_words, *(phrase for each in lists for phrase in each["stop"])]) - own)

    def is_backchannel(self, text: str) -> bool:
        """Nothing but listener responses: "mm-hmm", "yeah, right". False for no words at all."""
        words = _units(text)
        at = 0
        while at < len(words):
            length = _longest(self._backchannels, words, at)
            if not length and not _is_hummed(words[at]):
                return False
            at += length or 1
        return bool(words)

    def stops(self, text: str) -> bool:
        """A stop word is in it."""
        words = _units(text)
        return any(_longest(self._stops, words, at) for at in range(len(words)))

    def only_stops(self, text: str) -> bool:
        """Stop words and listener's responses, and nothing else: "no, stop", "okay, wait"."""
        words, at = _units(text), 0
        while at < len(words):
            length = _longest(self._stops, words, at) or _longest(self._backchannels, words, at)
            if not length and not _is_hummed(words[at]):
                return False
            at += length or 1
        return self.stops(text)

    def count(self, text: str) -> int:
        """Words that are neither listener responses nor hummed; a character each where a script has no spaces."""
        words = _units(text)
        at = counted = 0
        while at < len(words):
            length = _longest(self._backchannels, words, at)
            counted += not length and not _is_hummed(words[at])
            at += length or 1
        return counted


def _is_hummed(word: str) -> bool:
    return _HUMMED.fullmatch(_SAME.sub(r"\1", word)) is not None


def _phrases(phrases: Iterable[str]) -> frozenset[tuple[str, ...]]:
    return frozenset(units for phrase in phrases if (units := tuple(_units(phrase))))


def _units(text: str) -> list[str]:
    """Words; the characters of those that are written without spaces."""
    return [unit for word in words_of(text) for unit in (list(word) if _SPACELESS.search(word) else [word])]


def _by_first(phrases: Iterable[tuple[str, ...]]) -> dict[str, list[tuple[str, ...]]]:
    """By their first word, the longest ones first."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for phrase in sorted(phrases, key=len, reverse=True):
        found.setdefault(phrase[0], []).append(phrase)
    return found


def _longest(phrases: Mapping[str, list[tuple[str, ...]]], words: list[str], at: int) -> int:
    """Words of the longest phrase that begins there."""
    found = (len(phrase) for phrase in phrases.get(words[at], ()) if tuple(words[at : at + len(phrase)]) == phrase)
    return next(found, 0)
