"""What goes wrong with devices."""

import math
from dataclasses import dataclass
from typing import Literal

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


@dataclass(frozen=True, slots=True)
class Hanging:
    """Who closes the device waits for `close_s` seconds until that returns; it delivers nothing any more."""

    which: Which
    at_s: float
    close_s: float = 1.0
    """As long as one of PortAudio's that hangs is waited for."""
    for_s: float = math.inf


@dataclass(frozen=True, slots=True)
class Zeros:
    """The microphone delivers exact zeros, as where there is no permission."""

    at_s: float
    for_s: float = math.inf


@dataclass(frozen=True, slots=True)
class WrongStamps:
    """The time stamps of a device are `by_s` too late."""

    which: Which
    by_s: float
    at_s: float = 0.0
    for_s: float = math.inf


Trouble = Unplugged | Stalled | Hanging | Zeros | WrongStamps


def is_on(trouble: Trouble, at_s: float) -> bool:
    """Whether it lasts at that time."""
    return trouble.at_s <= at_s < trouble.at_s + trouble.for_s
