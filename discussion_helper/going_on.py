"""Going on: how a user asks for the rest of a reply that was cut, and which rest that is.

The phrases stand in going_on.toml. Those of all languages count together, since none means something else in another,
and a phrase that is not the whole of the turn does not count: whoever says more is asking something.
"""

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from functools import cache
from importlib.resources import files

from discussion_helper.types import Message

__all__ = ["GO_ON", "LONGEST_TURN", "asks_to_go_on", "languages", "rest_of", "with_rest_said"]

GO_ON = "Go on."
"""What a model is told where nobody said so; models know it, whatever the language that they are to answer in."""

LONGEST_TURN = 80
"""Characters of a turn that can be such a phrase."""
_SPACELESS = re.compile(r"([\u3040-\u30ff\u3400-\u9fff])")

_Phrases = frozenset[tuple[str, ...]]


@cache
def languages() -> dict[str, dict[str, list[str]]]:
    """By language the phrases of "go_on" and of "beside"."""
    parsed = tomllib.loads(files("discussion_helper").joinpath("going_on.toml").read_text("utf-8"))
    return {code: {kind: _parted(text) for kind, text in lists.items()} for code, lists in parsed.items()}


def asks_to_go_on(text: str) -> bool:
    """The user says nothing but "go on", in any of the languages; courtesies around it count as nothing."""
    words = _words(text) if len(text) <= LONGEST_TURN else []
    return any(_is_made_of(words, asking, beside) for asking, beside in _lists())


def rest_of(messages: Sequence[Message]) -> str:
    """What was not heard of the agent's newest turn, if it was interrupted; else "". A mere "stop" may follow it."""
    newest = next((message for message in reversed(messages) if message["role"] == "assistant"), None)
    return newest.get("unheard", "") if newest is not None and newest.get("interrupted") else ""


def with_rest_said(messages: Sequence[Message]) -> list[Message]:
    """The same once the rest was said: nothing of the agent's newest turn is unheard. The last turn is a user's."""
    told = list(messages)
    newest = max((at for at, message in enumerate(told) if message["role"] == "assistant"), default=-1)
    if newest >= 0:
        turn = told[newest]
        told[newest] = {"role": "assistant", "content": f"{turn['content']} {turn.get('unheard', '')}".strip()}
    return told if newest < len(told) - 1 else [*told, {"role": "user", "content": GO_ON}]


@cache
def _lists() -> tuple[tuple[_Phrases, _Phrases], ...]:
    return tuple((_phrases(lists["go_on"]), _phrases(lists["beside"])) for lists in languages().values())


def _parted(text: str) -> list[str]:
    return [phrase.strip() for phrase in text.split(",")]


def _phrases(phrases: Sequence[str]) -> _Phrases:
    return frozenset(tuple(_words(phrase)) for phrase in phrases)


def _words(text: str) -> list[str]:
    """In one form: no marks, no capitals; characters of scripts without spaces are words."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    kept = "".join(each if unicodedata.category(each)[0] in "LMN" else " " for each in plain)
    return _SPACELESS.sub(r" \1 ", kept).split()


def _is_made_of(words: list[str], asking: _Phrases, beside: _Phrases) -> bool:
    """All the words are phrases of the two kinds, at least one of them of the first."""
    reached = {(0, False)}
    for at in range(len(words)):
        for asked in (False, True):
            if (at, asked) in reached:
                for end in range(at + 1, len(words) + 1):
                    phrase = tuple(words[at:end])
                    reached |= {(end, True)} if phrase in asking else set()
                    reached |= {(end, asked)} if phrase in beside else set()
    return (len(words), True) in reached
