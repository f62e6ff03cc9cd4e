"""Rules: rewritings of a text, each tried only where one of its characters occurs."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

__all__ = ["Rule", "has_digits", "rewrite"]

_DIGIT = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Rule:
    """Every match of `written` becomes `spoken`, a template or a function of the match.

    `needs` are characters of which every match has at least one: looking for them first saves most of the time,
    since most clauses have no sign at all.
    """

    needs: str
    written: str
    spoken: str | Callable[[re.Match[str]], str]
    _pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_pattern", re.compile(self.written))

    def apply(self, text: str) -> str:
        """`text`, rewritten."""
        return self._pattern.sub(self.spoken, text) if any(map(text.__contains__, self.needs)) else text


def rewrite(text: str, rules: Iterable[Rule]) -> str:
    """`text` after every rule in turn."""
    for rule in rules:
        text = rule.apply(text)
    return text


def has_digits(text: str) -> bool:
    """Whether a digit of any script is in `text`."""
    return _DIGIT.search(text) is not None
