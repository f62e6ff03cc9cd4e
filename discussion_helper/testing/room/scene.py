"""A scene: a room, its two devices, who says what in it, and what goes wrong; all of it values."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import get_args

from discussion_helper.bounds import check_number, check_one_of
from discussion_helper.errors import SettingError
from discussion_helper.testing.room.echo import Echo
from discussion_helper.testing.room.limits import check_each, check_rate, check_seconds, check_seed, check_type
from discussion_helper.testing.room.line import Line
from discussion_helper.testing.room.noise import Colour
from discussion_helper.testing.room.troubles import Trouble

__all__ = ["LEAST_LATENCY_S", "Loudspeaker", "Microphone", "Scene"]

LEAST_LATENCY_S = 0.003
"""A filter between two clocks has to look so far ahead."""
_MOST_LATENCY_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Loudspeaker:
    """A loudspeaker with a clock of its own, `ppm` faster than the room's. Raises SettingError."""

    name: str = "loudspeaker"
    rate: int = 48_000
    latency_s: float = 0.02
    """From the rendering of a block to its first sample in the room."""
    ppm: float = 0.0
    clip_dbfs: float = 0.0
    """What is louder is cut off; the canceller's reference does not know of it."""
    jitter_s: float = 0.0
    """By which time stamps are wrong at most, each differently."""

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Microphone:
    """A microphone with a clock of its own, `ppm` faster than the room's. Raises SettingError."""

    name: str = "microphone"
    rate: int = 48_000
    latency_s: float = 0.01
    """From the last sample of a block in the room to its delivery."""
    ppm: float = 0.0
    clip_dbfs: float = 0.0
    jitter_s: float = 0.0

    def __post_init__(self) -> None:
        _check(self)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scene:
    """Equal scenes give equal samples, byte for byte, and equal events. Times are seconds of room time.

    Raises SettingError.
    """

    echo: Echo | Sequence[Echo] = ()
    """None, one, or several in the order of their `from_s`; before the first there is none."""
    reverberation_s: float = 0.25
    """Until the echo has faded by 60 dB."""
    wetness: float = 0.05
    """First reflections against the direct sound; 0.0 = a cable."""
    noise_dbfs: float | None = -65.0
    """Root mean square; None = digital silence."""
    noise_colour: Colour = "white"
    loudspeaker: Loudspeaker = field(default_factory=Loudspeaker)
    microphone: Microphone = field(default_factory=Microphone)
    lines: Sequence[Line] = ()
    troubles: Sequence[Trouble] = ()
    rate: int = 48_000
    """Hertz of the room itself: its tracks and the sounds of its lines."""
    keep_s: float = 300.0
    """So much of the tracks is kept, in seconds: 0.4 MB for each at most."""
    seed: int = 1

    def __post_init__(self) -> None:
        check_each("echo", self.echoes, Echo, fix="Use Echo(gain_db=...), or several of them in a list.")
        if any(later.from_s < earlier.from_s for earlier, later in pairwise(self.echoes)):
            raise SettingError("echo: they are out of order.", fix="Sort them by from_s.")
        check_number("reverberation_s", self.reverberation_s, 0.01, 10.0, unit="wetness=0.0 for none, or seconds")
        check_number("wetness", self.wetness, 0.0, 10.0, unit="a share")
        if self.noise_dbfs is not None:
            check_number("noise_dbfs", self.noise_dbfs, -200.0, 0.0, unit="None or decibels")
        check_one_of("noise_colour", self.noise_colour, get_args(Colour))
        check_type("loudspeaker", self.loudspeaker, Loudspeaker, fix="Use Loudspeaker(...).")
        check_type("microphone", self.microphone, Microphone, fix="Use Microphone(...).")
        check_each("lines", self.lines, Line, fix="Use a list of Line(...).")
        check_each(
            "troubles", self.troubles, get_args(Trouble), fix="Use a list of Unplugged(...), Stalled(...) and so on."
        )
        check_rate("rate", self.rate)
        least_s = 0.5 + self.loudspeaker.latency_s + self.microphone.latency_s
        check_number("keep_s", self.keep_s, least_s, 86_400.0, unit="seconds")
        check_seed(self.seed)

    @property
    def echoes(self) -> tuple[Echo, ...]:
        """All of them."""
        return tuple(self.echo) if isinstance(self.echo, Sequence) else (self.echo,)


def _check(device: Loudspeaker | Microphone) -> None:
    if not isinstance(device.name, str) or not device.name:
        raise SettingError(f"name: {device.name!r:.80} is no name.", fix="Use a text.")
    check_rate("rate", device.rate)
    check_number("latency_s", device.latency_s, LEAST_LATENCY_S, _MOST_LATENCY_S, unit="seconds")
    check_number("ppm", device.ppm, -100_000.0, 100_000.0, unit="parts per million")
    check_number("clip_dbfs", device.clip_dbfs, -120.0, 0.0, unit="decibels")
    check_seconds("jitter_s", device.jitter_s, most=1.0)
