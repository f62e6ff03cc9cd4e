"""A suite of checks, run on one part after the other."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from discussion_helper.testing.conformance.bench import Bench, Make
from discussion_helper.testing.conformance.calls import said
from discussion_helper.testing.conformance.limits import Limits
from discussion_helper.testing.conformance.report import Finding, NotConforming, Report
from discussion_helper.testing.conformance.rule import Broken, Rule, Unchecked

__all__ = ["Check", "Suite", "run"]

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Check:
    """How a rule is looked at. `needs`: the rules, by the part of the name behind the port, that it stands on."""

    rule: Rule
    look: Callable[[Bench[Any]], Awaitable[None]]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suite(Generic[P]):
    """The checks of one port. It is called with what makes a part, and looks at every rule of it."""

    port: str
    checks: tuple[Check, ...]

    async def __call__(
        self,
        make: Make[P],
        *,
        make_dead: Make[P] | None = None,
        make_slow: Make[P] | None = None,
        limits: Limits | None = None,
        raises: bool = True,
    ) -> Report:
        """Whether what `make()` gives is what its port says. Several are made, some in other threads.

        `make_dead` and `make_slow` make one that cannot work, and one that takes a minute for a call; without them
        those rules are told as unchecked. Raises NotConforming with the report, unless `raises` is False.
        """
        bench = Bench(make, limits=limits or Limits(), make_dead=make_dead, make_slow=make_slow)
        return await run(self.port, self.checks, bench, raises=raises)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """In the order in which they are looked at."""
        return tuple(check.rule for check in self.checks)


async def run(port: str, checks: Sequence[Check], bench: Bench[Any], *, raises: bool) -> Report:
    """Look at every rule. A rule that stands on a broken one is not looked at: one fault has one name.

    Raises NotConforming if one is broken and `raises`.
    """
    kept: list[Rule] = []
    broken: list[Finding] = []
    unchecked: list[Finding] = []
    part = "a part that cannot be made"
    try:
        for check in checks:
            missing = [need for need in check.needs if f"{port}.{need}" not in {rule.name for rule in kept}]
            if missing:
                unchecked.append(Finding(check.rule, f"it stands on {port}.{missing[0]}"))
                continue
            try:
                part = type(bench.part).__qualname__
                await check.look(bench)
                kept.append(check.rule)
            except Unchecked as reason:
                unchecked.append(Finding(check.rule, str(reason)))
            except Exception as error:
                broken.append(Finding(check.rule, str(error) if isinstance(error, Broken) else f"{said(error)}"))
                await bench.renew()
    finally:
        await bench.renew()
    report = Report(port, part, tuple(kept), tuple(broken), tuple(unchecked))
    if raises and broken:
        raise NotConforming(report)
    return report
