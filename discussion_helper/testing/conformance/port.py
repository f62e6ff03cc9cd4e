"""A port as its suite sees it: how a part is called, and with what."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from discussion_helper.testing.conformance.bench import Bench
from discussion_helper.testing.conformance.rule import Rule
from discussion_helper.testing.conformance.suite import Check, Suite

__all__ = ["ANSWERS", "Named", "Port"]

ANSWERS = "answers"
"""The rule on which all others stand: an ordinary call gives what the port says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """Makes the rules of one port, with its name before theirs."""

    name: str

    def rule(self, name: str, expects: str, fix: str) -> Rule:
        """A rule of this port."""
        return Rule(f"{self.name}.{name}", expects, fix)

    def check(
        self,
        name: str,
        look: Callable[[Bench[Any]], Awaitable[None]],
        expects: str,
        fix: str,
        needs: tuple[str, ...] = (ANSWERS,),
    ) -> Check:
        """How a rule of this port is looked at."""
        return Check(self.rule(name, expects, fix), look, needs)

    def suite(self, *checks: Check) -> Suite[Any]:
        """All of them."""
        return Suite(self.name, checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Port(Named):
    """`call(part, given)` is one whole call. `given`: three different things to call it with.

    `fits(result, given)` raises Broken for a result that is of another call, or none at all.
    """

    call: Callable[[Any, Any], Awaitable[Any]]
    given: tuple[Any, Any, Any]
    fits: Callable[[Any, Any], None]
    stands_on: tuple[str, ...] = (ANSWERS,)
    """The rules that `fits` asks for."""
