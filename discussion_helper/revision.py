"""Revision: which entries a turn takes the place of that goes on with one which had been taken to be over too early."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

__all__ = ["Said", "places_revised", "without"]


class Said(NamedTuple):
    """What matters of a turn here, wherever it is kept."""

    by_user: bool
    text: str
    unheard: bool = False
    """A reply that was cut before anything was heard of it."""


def places_revised(turns: Sequence[Said], text: str) -> list[int]:
    """Where the user's newest turn of this text stands, and the replies behind it of which nothing was heard.

    None where nobody said that: it has been revised.
    """
    newest = max((at for at, turn in enumerate(turns) if turn.by_user and turn.text == text), default=None)
    if newest is None:
        return []
    return [newest, *(at for at in range(newest + 1, len(turns)) if turns[at].unheard)]


def without(count: int, places: Iterable[int]) -> list[int]:
    """The places that are left of so many."""
    gone = set(places)
    return [at for at in range(count) if at not in gone]
