"""Speed rows: how fast the models are alone, which on a machine that others share is another figure every hour."""

from dataclasses import dataclass

from discussion_helper.commands.doctor_speed import measure_speeds
from discussion_helper.settings import Settings

__all__ = ["SpeedRow", "speed_rows"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedRow:
    """One model, with nothing else to do beside it."""

    when: str
    """Before or behind which run."""
    part: str
    model: str
    ms_per_s: float
    """Time that it takes for each second of speech: the real time factor in thousandths."""
    first_ms: float | None
    """Until the first words of an answer; None of another part."""


def speed_rows(settings: Settings, when: str) -> list[SpeedRow]:
    """Takes 5 s. Those that can be measured."""
    return [
        SpeedRow(
            when=when,
            part=speed.part,
            model=speed.model,
            ms_per_s=round(1e3 * speed.factor, 1),
            first_ms=None if speed.first_s is None else round(1e3 * speed.first_s, 1),
        )
        for speed in measure_speeds(settings, speaks=True, answers=True)
        if speed.factor is not None
    ]
