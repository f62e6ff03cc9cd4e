"""What goes wrong with devices. Each raises SettingError for what cannot be."""

import math
from dataclasses import dataclass
from typing import Literal

from discussion_helper.bounds import check_number
from discussion_helper.testing.room.limits import LONGEST_S, check_lasting, check_rate, check_seconds, check_which

__all__ = ["Hanging", "Stalled", "Trouble", "Unplugged", "Which", "WrongStamps", "Zeros", "is_on"]

Which = Literal["microphone", "loudspeaker"]


@dataclass(frozen=True, slots=True)
class Unplugged:
    """The device goes away at `at_s` and cannot be opened for `for_s` seconds."""

    which: Which
    at_s: float
    for_s: float = math.inf
    rate: int | None = None
    """Of the microphone that is there afterwards, in hertz; None = the same."""

    def __post_init__(self) -> None:
        _check(self)
        if self.rate is not None:
            check_rate("rate", self.rate)


@dataclass(frozen=True, slots=True)
class Stalled:
    """The device stands still for `for_s` seconds, without a word.

    A loudspeaker is silent and goes on from where it was. Blocks of a microphone are lost, or come all at once
    afterwards.
    """

    which: Which
    at_s: float
    for_s: float
    lost: bool = True

    def __post_init__(self) -> None:
        _check(self)
        check_seconds("for_s", self.for_s)


@dataclass(frozen=True, slots=True)
class Hanging:
    """Who closes the device waits for `close_s` seconds until that returns; it delivers nothing any more."""

    which: Which
    at_s: float
    close_s: float = 1.0
    """As long as one of PortAudio's that hangs is waited for."""
    for_s: float = math.inf

    def __post_init__(self) -> None:
        _check(self)
        check_seconds("close_s", self.close_s)


@dataclass(frozen=True, slots=True)
class Zeros:
    """The microphone delivers exact zeros, as where there is no permission."""

    at_s: float
    for_s: float = math.inf

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True, slots=True)
class WrongStamps:
    """The time stamps of a device are `by_s` too late."""

    which: Which
    by_s: float
    at_s: float = 0.0
    for_s: float = math.inf

    def __post_init__(self) -> None:
        _check(self)
        check_number("by_s", self.by_s, -LONGEST_S, LONGEST_S, unit="seconds")


Trouble = Unplugged | Stalled | Hanging | Zeros | WrongStamps


def is_on(trouble: Trouble, at_s: float) -> bool:
    """Whether it lasts at that time."""
    return trouble.at_s <= at_s < trouble.at_s + trouble.for_s


def _check(trouble: Trouble) -> None:
    if not isinstance(trouble, Zeros):
        check_which(trouble.which)
    check_seconds("at_s", trouble.at_s)
    check_lasting("for_s", trouble.for_s)
