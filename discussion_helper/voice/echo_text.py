"""Whether a turn is the agent's own words come back through the microphone."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

__all__ = ["LEAST_WORDS", "SHARE", "is_echo"]

LEAST_WORDS = 4
"""Fewer words than this are said by people who repeat what they heard ("tomorrow at nine?")."""
SHARE = 0.8
"""Of the turn's words, in the order the agent said them. A recogniser mishears one word in five of an echo."""


def is_echo(text: str, spoken: Iterable[str]) -> bool:
    """True when nearly all words of `text` stand in the same order in what the agent said."""
    heard, said = _words(text), _words(" ".join(spoken))
    if len(heard) < LEAST_WORDS or not said:
        return False
    blocks = SequenceMatcher(None, heard, said, autojunk=False).get_matching_blocks()
    span = [block for block in blocks if block.size]
    if not span:
        return False
    # The words must lie close together in what was said: common words are found everywhere.
    reach = span[-1].b + span[-1].size - span[0].b
    return sum(block.size for block in span) >= SHARE * len(heard) and reach <= 1.5 * len(heard)


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
