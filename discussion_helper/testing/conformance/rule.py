"""A rule that a part keeps: what is expected of it, and what to do where it is not so."""

from dataclasses import dataclass

__all__ = ["Broken", "Rule", "Unchecked", "expect"]


@dataclass(frozen=True, slots=True)
class Rule:
    """`name` is the port and what is so, as "synthesiser.empty-text-is-silent"; `fix` is one imperative sentence."""

    name: str
    expects: str
    fix: str


class Broken(Exception):
    """A rule is broken; the text says what was seen."""


class Unchecked(Exception):
    """A rule cannot be looked at; the text says what is missing."""


def expect(is_so: bool, seen: str) -> None:
    """Raises Broken unless it is so."""
    if not is_so:
        raise Broken(seen)
