"""Bounds: numbers and names that come from outside are in range, or told by the field's name."""

from collections.abc import Sequence

from discussion_helper.errors import SettingError
from discussion_helper.shown import shown

__all__ = ["check_number", "check_one_of", "check_whole"]


def check_number(name: str, value: object, least: float, most: float, *, unit: str) -> None:
    """Raises SettingError unless it is a number from `least` to `most`, which NaN is not. `unit`: as "seconds"."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise SettingError(f"{name}: {shown(value)} is out of range.", fix=f"Use {unit} from {least:g} to {most:g}.")


def check_whole(name: str, value: object, least: int, most: int, *, unit: str = "a whole number") -> None:
    """The same for a whole number."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise SettingError(f"{name}: {shown(value)} is out of range.", fix=f"Use {unit} from {least} to {most}.")


def check_one_of(name: str, value: object, choices: Sequence[str]) -> None:
    """Raises SettingError unless it is one of the texts."""
    if not isinstance(value, str) or value not in choices:
        raise SettingError(f"{name}: {shown(value)} is not known.", fix=f"Use one of {', '.join(choices)}.")
