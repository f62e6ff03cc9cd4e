"""How the audio of each run's talk was doing."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["HealthRow", "health_row"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthRow:
    """Of one talk, from its start to the end of its run; `voice/health.py` says what each is. Times in ms."""

    run: str
    blocks: int
    late_p99_ms: float
    late_worst_ms: float
    woken_p99_ms: float
    dropped: int
    overflows: int
    underflows: int
    queued_most: int
    losses: int


def health_row(run: str, health: Mapping[str, Any]) -> HealthRow:
    """The row of what a talk told."""
    times = {f"{name}_ms": round(health[f"{name}_s"] * 1e3, 2) for name in ("late_p99", "late_worst", "woken_p99")}
    counts = {name: health[name] for name in ("blocks", "dropped", "overflows", "underflows", "queued_most", "losses")}
    return HealthRow(run=run, **times, **counts)
