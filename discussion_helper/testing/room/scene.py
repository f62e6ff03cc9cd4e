"""A scene: a room, its two devices, who says what in it, and what goes wrong; all of it values."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from discussion_helper.errors import SettingError
from discussion_helper.testing.room.echo import Echo
from discussion_helper.testing.room.line import Line
from discussion_helper.testing.room.noise import Colour
from discussion_helper.testing.room.troubles import Trouble

__all__ = ["LEAST_LATENCY_S", "Loudspeaker", "Microphone", "Scene"]

LEAST_LATENCY_S = 0.003
"""A filter between two clocks has to look so far ahead."""


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
    """Equal scenes give equal samples, byte for byte, and equal events. Times are seconds of room time."""

    echo: Echo | Sequence[Echo] = ()
    """None, one, or several in the order of their `from_s`."""
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

    @property
    def echoes(self) -> tuple[Echo, ...]:
        """All of them."""
        return (self.echo,) if isinstance(self.echo, Echo) else tuple(self.echo)


def _check(device: Loudspeaker | Microphone) -> None:
    if device.rate < 8_000:
        raise SettingError(f"rate: {device.rate} Hz is no rate of a device.", fix="Use 8000 or more.")
    if device.latency_s < LEAST_LATENCY_S:
        raise SettingError(f"latency_s: {device.latency_s} s is too short.", fix=f"Use {LEAST_LATENCY_S} or more.")
