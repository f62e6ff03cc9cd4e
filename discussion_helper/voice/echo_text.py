"""Whether a turn is the agent's own words come back through the microphone."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

__all__ = ["LATELY_S", "LEAST_WORDS", "SHARE", "is_echo", "is_fragment", "overlap_of"]

LATELY_S = 3.0
"""Before a turn: what was heard of the agent earlier comes back as nobody's echo, and whoever says it quotes it."""

LEAST_WORDS = 4
"""Fewer words than this are said by people who repeat what they heard ("tomorrow at nine?"), or who choose one of two
things that they were offered, at once: their words cannot tell them from an echo, so only their sound does
(`audio/own_voice.py`)."""
SHARE = 0.8
"""Of the turn's words, in the order the agent said them. A recogniser mishears one word in five of an echo."""


def is_echo(text: str, spoken: Iterable[str]) -> bool:
    """True when nearly all words of `text` stand in the same order in what the agent said."""
    return overlap_of(text, spoken) >= SHARE


def overlap_of(text: str, spoken: Iterable[str]) -> float:
    """The share of the words of `text` that stand in the same order, close together, in what the agent said.

    0.0 for fewer than four words.
    """
    heard, said = _words(text), _words(" ".join(spoken))
    if len(heard) < LEAST_WORDS or not said:
        return 0.0
    blocks = SequenceMatcher(None, heard, said, autojunk=False).get_matching_blocks()
    span = [block for block in blocks if block.size]
    if not span:
        return 0.0
    # The words must lie close together in what was said: common words are found everywhere.
    reach = span[-1].b + span[-1].size - span[0].b
    return sum(block.size for block in span) / len(heard) if reach <= 1.5 * len(heard) else 0.0


def is_fragment(text: str, spoken: Iterable[str]) -> bool:
    """True for one to three words that the agent said one after the other."""
    heard, said = _words(text), _words(" ".join(spoken))
    length = len(heard)
    return 0 < length < LEAST_WORDS and any(heard == said[at : at + length] for at in range(len(said)))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
