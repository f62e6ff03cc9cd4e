"""A port as its suite sees it: how a part is called, and with what."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from discussion_helper.testing.conformance.rule import Rule

__all__ = ["ANSWERS", "Port"]

ANSWERS = "answers"
"""The rule on which all others stand: an ordinary call gives what the port says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """`call(part, given)` is one whole call. `given`: three different things to call it with.

    `fits(result, given)` raises Broken for a result that is of another call, or none at all.
    """

    name: str
    call: Callable[[Any, Any], Awaitable[Any]]
    given: tuple[Any, Any, Any]
    fits: Callable[[Any, Any], None]
    stands_on: tuple[str, ...] = (ANSWERS,)
    """The rules that `fits` asks for."""

    def rule(self, name: str, expects: str, fix: str) -> Rule:
        """A rule of this port."""
        return Rule(f"{self.name}.{name}", expects, fix)
