"""A suite of checks, run on one part after the other."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from discussion_helper.testing.conformance.bench import Bench
from discussion_helper.testing.conformance.calls import said
from discussion_helper.testing.conformance.report import Finding, NotConforming, Report
from discussion_helper.testing.conformance.rule import Broken, Rule, Unchecked

__all__ = ["Check", "run"]


@dataclass(frozen=True, slots=True)
class Check:
    """How a rule is looked at. `needs`: the rules, by the part of the name behind the port, that it stands on."""

    rule: Rule
    look: Callable[[Bench[Any]], Awaitable[None]]
    needs: tuple[str, ...] = ()


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
