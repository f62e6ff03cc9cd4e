"""The tuning: the numbers of the detectors and of the end of a turn that somebody may want to try."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from discussion_helper.errors import SettingError
from discussion_helper.shown import shown

__all__ = ["LONGEST_S", "RANGES", "TUNING_NAMES", "Range", "Tuning"]

LONGEST_S = 3_600.0
"""Of the times: who talks for an hour without a pause is on the radio."""
_FOLLOWS = {"vad.threshold": "vad.release", "endpoint.silence_s": "endpoint.early_s"}
"""What may not be above which."""


@dataclass(frozen=True, slots=True)
class Range:
    """What a number may be, from `least` to `most`; `words` say it, with the unit."""

    words: str
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Tuning:
    """The defaults are those of the parts, where each is explained. Raises SettingError.

    A field is named as in the settings file and in `replay --set`, with a full stop for its first underscore:
    `vad_threshold` is `vad.threshold`.
    """

    vad_threshold: float = 0.5
    """Probability at which the neural detector hears a voice begin."""
    vad_release: float = 0.35
    """Probability below which the voice has stopped; not above `vad_threshold`."""
    endpoint_silence_s: float = 0.5
    """Seconds without voice that end a turn when nothing else is known of it, neither how it sounds and reads nor how
    its speaker pauses; fewer than `endpoint_max_turn_s`. Of the other waits it is the measure."""
    endpoint_early_s: float = 0.05
    """Seconds after which work begins that is thrown away if the user goes on; not more than `endpoint_silence_s`."""
    endpoint_max_turn_s: float = 60.0
    """Seconds after which a turn is cut."""
    interim_every_s: float = 0.7
    """Seconds of voice between two readings of a turn that goes on; 0 = it is read in its pauses and at its end."""
    wake_threshold: float = 0.5
    """Probability at which a wake word was said."""
    duck_over_db: float = 8.0
    """Decibels above the expected echo at which the agent is turned down."""
    endpoint_sure_s: float = 0.3
    """Seconds without voice that end a turn which sounds and reads complete."""
    endpoint_longest_s: float = 2.5
    """Seconds without voice that end every turn, however unfinished it seems."""
    endpoint_patient: float = 1.0
    """So many times as long as usual a silent speaker is waited for."""

    def __post_init__(self) -> None:
        for name, value in self.as_mapping().items():
            self._check(name, value)
        _check_order("vad.release", self.vad_release, "vad.threshold", self.vad_threshold)
        _check_order("endpoint.early_s", self.endpoint_early_s, "endpoint.silence_s", self.endpoint_silence_s)
        if not self.endpoint_silence_s < self.endpoint_max_turn_s:
            what = f"endpoint.silence_s: {self.endpoint_silence_s} is not below endpoint.max_turn_s."
            raise SettingError(what, fix=f"Use less than {self.endpoint_max_turn_s}, or a longer turn.")

    def _check(self, name: str, value: object) -> None:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SettingError(f"{name}: {shown(value)} is no number.", fix="Use a number.")
        if not RANGES[name].least <= value <= RANGES[name].most:
            raise SettingError(f"{name}: {shown(value)} is out of range.", fix=f"Use {RANGES[name].words}.")

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> "Tuning":
        """From outside, by the names of the settings file. Raises SettingError naming what is unknown or wrong."""
        return cls().changed(values)

    def as_mapping(self) -> dict[str, float]:
        """By the names of the settings file."""
        return {name: getattr(self, field) for name, field in _FIELDS.items()}

    def changed(self, values: Mapping[str, Any]) -> "Tuning":
        """With these, by their names, all at once.

        A lower threshold lowers the release with it where that is not named as well, and a shorter silence what is
        early. Raises SettingError.
        """
        for name in values:
            if name not in _FIELDS:
                raise SettingError(f"{name}: there is no such number.", fix=f"Use {', '.join(TUNING_NAMES)}.")
        changes = {_FIELDS[name]: value for name, value in values.items()}
        for leader, follower in _FOLLOWS.items():
            value = values.get(leader)
            if follower not in values and isinstance(value, int | float) and value < getattr(self, _FIELDS[follower]):
                changes[_FIELDS[follower]] = value
        return replace(self, **changes)


_FIELDS: Mapping[str, str] = {field.name.replace("_", ".", 1): field.name for field in fields(Tuning)}
TUNING_NAMES: tuple[str, ...] = tuple(_FIELDS)
"""Of the fields, as they stand in the settings file."""

_ABOVE_0 = math.ulp(0.0)
_SHARE = Range("a number between 0 and 1", _ABOVE_0, math.nextafter(1.0, 0.0))
_SECONDS = Range(f"seconds above 0, and no more than {LONGEST_S:g}", _ABOVE_0, LONGEST_S)
RANGES: Mapping[str, Range] = {
    **dict.fromkeys(("vad.threshold", "vad.release", "wake.threshold"), _SHARE),
    **dict.fromkeys(("endpoint.silence_s", "endpoint.early_s", "endpoint.max_turn_s"), _SECONDS),
    **dict.fromkeys(("endpoint.sure_s", "endpoint.longest_s"), _SECONDS),
    "endpoint.patient": Range("a factor from 0.2 to 10", 0.2, 10.0),
    "interim.every_s": Range(f"seconds from 0 (never) to {LONGEST_S:g}", 0.0, LONGEST_S),
    "duck.over_db": Range("decibels from 0 to 60", 0.0, 60.0),
}
"""Of each number, whatever the others are."""


def _check_order(lower: str, least: float, upper: str, most: float) -> None:
    if least > most:
        raise SettingError(f"{lower}: {least} is above {upper}.", fix=f"Use {most} or less, or a higher {upper}.")
