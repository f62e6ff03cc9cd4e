"""Full stops: whether one that was written ends its sentence."""

import enum
import re
from collections.abc import Callable

from discussion_helper.responder.abbreviations import (
    BEFORE_NUMBER,
    MAYBE_FINAL,
    NEVER_FINAL,
    ORDINAL_ARTICLES,
    TITLES,
)

__all__ = ["Verdict", "at_rest", "full_stop", "is_address", "is_ellipsis", "question_mark"]

_LETTERED = re.compile(r"(?:[^\W\d_]{1,2}\.)+[^\W\d_]{1,2}")
_ANSWERS = frozenset({"no"})
"""Abbreviations that alone are an answer, and hardly ever begin one."""
_OPENING = "([{\"'“‘«„*_~>#"


class Verdict(enum.Enum):
    """What a possible end of an item turned out to be."""

    END = enum.auto()
    GO_ON = enum.auto()
    WAIT = enum.auto()


def full_stop(head: str, following: str) -> Verdict:
    """Judge the "." that ends `head`, white space having come after it.

    `following` is the first character after the white space, "" when it has not come yet.
    """
    line = head[head.rfind("\n") + 1 : -1]
    words = line.split()
    word = words[-1].lstrip(_OPENING) if words and not line[-1:].isspace() else ""
    before = words[-2] if len(words) > 1 else ""
    if word.isdigit():
        return _number(word, before, following)
    if len(word) == 1 and word.isalpha():
        return _letter(word, before, following)
    return _abbreviation(word, following)


def _number(word: str, before: str, following: str) -> Verdict:
    if not before or before in {"-", "*", "+", ">"}:
        return Verdict.GO_ON  # a list's number
    if len(word) > 2:
        return Verdict.END
    if before.lower() in ORDINAL_ARTICLES:
        return Verdict.GO_ON
    return _unless(following, str.islower)


def _letter(word: str, before: str, following: str) -> Verdict:
    """An initial ("J. Smith", "George W. Bush"), a list's letter, or a word ("So do I.", "vitamin C.")."""
    if word == "M":
        return Verdict.GO_ON  # a title in French
    if word == "I" and before:
        return Verdict.END
    if word.islower() or not before or before[:1].isupper() or before.endswith("."):
        return Verdict.GO_ON  # "z. B." is the commonest small letter
    return _unless(following, str.islower)


def _abbreviation(word: str, following: str) -> Verdict:
    lower = word.lower()
    if word in TITLES or lower in NEVER_FINAL:
        return Verdict.GO_ON
    if lower in MAYBE_FINAL:
        return _unless(following, lambda character: character.islower() or character.isdigit())
    if lower in BEFORE_NUMBER:
        return _unless(following, str.isdigit)
    return Verdict.GO_ON if _LETTERED.fullmatch(word) else Verdict.END


def at_rest(head: str, *, spaced: bool) -> bool:
    """Whether `head`, after which nothing comes for a while, may be spoken; `spaced`: white space has come after it.

    A number may go on at its stop or comma, an abbreviation with what it stands before.
    """
    if is_address(head) or not head:
        return False
    if head.endswith(".") and not is_ellipsis(head):
        if head[-2:-1].isdigit():
            return spaced and full_stop(head, "") is not Verdict.GO_ON
        return full_stop(head, "") is Verdict.END or head[:-1].strip(_OPENING).lower() in _ANSWERS
    return head[-1] in "!?…." or (head[-1] in ",;" and not head[-2:-1].isdigit())


def _unless(following: str, goes_on: Callable[[str], bool]) -> Verdict:
    if not following:
        return Verdict.WAIT
    return Verdict.GO_ON if goes_on(following) else Verdict.END


def question_mark(*, closed: bool, following: str) -> Verdict:
    """Judge "?" or "!" before white space; `closed` by a quote or bracket, a lower-case word goes on with it."""
    if not closed:
        return Verdict.END
    return _unless(following, str.islower)


def is_ellipsis(head: str) -> bool:
    """Whether `head` ends in an ellipsis."""
    return head.endswith(("…", ".."))


def is_address(text: str) -> bool:
    """Whether the last word of `text` looks like a URL, where "?" and "!" are ordinary characters."""
    word = text[max(map(text.rfind, " \n\t(")) + 1 :]
    return "://" in word or word.startswith("www.") or ("/" in word and "." in word)
