"""The tuning: the numbers of the detectors and of the end of a turn that somebody may want to try."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from discussion_helper.bounds import check_number
from discussion_helper.errors import SettingError
from discussion_helper.turn.activity import Hysteresis
from discussion_helper.turn.endpointing import SilenceEndpointer
from discussion_helper.voice.ducking import MOST_OVER_DB, OVER_DB, DuckRule

__all__ = ["Tuning"]


@dataclass(frozen=True, slots=True)
class Tuning:
    """The defaults are those of the parts, where each is explained. Raises SettingError."""

    vad_on: float = 0.5
    """Probability at which the neural detector hears a voice begin."""
    vad_off: float = 0.35
    """Probability below which the voice has stopped."""
    silence_s: float = 0.5
    """Seconds without voice that end a turn."""
    early_s: float = 0.2
    """Seconds after which work begins that is thrown away if the user goes on."""
    max_turn_s: float = 60.0
    """Seconds after which a turn is cut."""
    duck_over_db: float = OVER_DB
    """Decibels above the expected echo at which the agent is turned down."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise SettingError(f"{field.name}: {value!r} is no number.", fix="Use a number.")
        check_number("duck_over_db", self.duck_over_db, 0.0, MOST_OVER_DB, unit="decibels")
        self.hysteresis()
        self.endpointer()

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> "Tuning":
        """From outside. Raises SettingError naming what is unknown or wrong."""
        known = {field.name for field in fields(cls)}
        for name in values:
            if name not in known:
                raise SettingError(f"{name}: there is no such number.", fix=f"Use {', '.join(sorted(known))}.")
        return cls(**values)

    def hysteresis(self) -> Hysteresis:
        """When a voice starts and stops."""
        return Hysteresis(on=self.vad_on, off=self.vad_off)

    def endpointer(self) -> SilenceEndpointer:
        """When a turn ends."""
        return SilenceEndpointer(silence_s=self.silence_s, early_s=self.early_s, max_turn_s=self.max_turn_s)

    def duck_rule(self) -> DuckRule:
        """When the agent is turned down."""
        return DuckRule(over_db=self.duck_over_db)
