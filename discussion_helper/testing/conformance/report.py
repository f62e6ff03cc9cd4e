"""What a suite found out about a part."""

from dataclasses import dataclass

from discussion_helper.testing.conformance.rule import Rule

__all__ = ["Finding", "NotConforming", "Report"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule, and what was seen of it: how it was broken, or why it was not looked at."""

    rule: Rule
    seen: str

    def __str__(self) -> str:
        return f"{self.rule.name}: {self.seen.rstrip('.')}. Expected: {self.rule.expects} Fix: {self.rule.fix}"


@dataclass(frozen=True, slots=True)
class Report:
    """`port` is what the part was to be, `part` its type. The rules are in the order in which they were looked at."""

    port: str
    part: str
    kept: tuple[Rule, ...]
    broken: tuple[Finding, ...]
    unchecked: tuple[Finding, ...]

    @property
    def conforms(self) -> bool:
        """No rule is broken; some may be unchecked."""
        return not self.broken

    def __str__(self) -> str:
        counts = f"{len(self.kept)} kept, {len(self.broken)} broken, {len(self.unchecked)} unchecked"
        lines = [f"{self.part} as a {self.port}: {counts}"]
        lines += [f"  broken     {finding}" for finding in self.broken]
        lines += [f"  unchecked  {finding.rule.name}: {finding.seen}" for finding in self.unchecked]
        return "\n".join(lines)


class NotConforming(AssertionError):
    """The part breaks rules; the text is the report, which `report` is."""

    def __init__(self, report: Report) -> None:
        super().__init__(str(report))
        self.report = report
