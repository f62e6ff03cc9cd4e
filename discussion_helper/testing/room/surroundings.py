"""What the devices of a room share: where their blocks go, and what goes wrong with them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from discussion_helper.audio.inbox import Inbox
from discussion_helper.errors import DeviceError
from discussion_helper.testing.room.scene import Loudspeaker, Microphone
from discussion_helper.testing.room.troubles import Hanging, Trouble, Unplugged, Which, WrongStamps, is_on

__all__ = ["Clock", "Stamps", "Surroundings"]

T = TypeVar("T", bound=Trouble)


@dataclass(slots=True)
class Surroundings:
    """Of one room. `clock` is the event loop's, on which its time 0 is `zero_s`."""

    rate: int
    clock: Callable[[], float]
    zero_s: float
    inbox: Inbox
    troubles: list[Trouble] = field(default_factory=list)
    blocked_s: float = 0.0
    """For so long the call under way, of what blocks, does not return."""

    @property
    def now_s(self) -> float:
        """Room time; without what the clock has rounded, so that it is the very number that was waited for."""
        return round(self.clock() - self.zero_s, 10)

    def trouble(self, kind: type[T], at_s: float, which: Which) -> T | None:
        """One of that kind that a device has at that time."""
        for it in self.troubles:
            if isinstance(it, kind) and is_on(it, at_s) and getattr(it, "which", which) == which:
                return it
        return None

    def block(self, which: Which) -> None:
        """The call under way closes that device."""
        hanging = self.trouble(Hanging, self.now_s, which)
        if hanging is not None:
            self.blocked_s = hanging.close_s

    def check_there(self, name: str, at_s: float, which: Which) -> None:
        """Raises DeviceError where the device is unplugged."""
        if self.trouble(Unplugged, at_s, which) is not None:
            raise DeviceError(f'"{name}" is not there.')


@dataclass(slots=True)
class Clock:
    """Of a device: its sample `count` is in the room at `time_s`, and from there on `rate` samples a second are."""

    rate: float
    time_s: float
    count: int = 0

    def at(self, count: int) -> float:
        """When a sample is in the room."""
        return self.time_s + (count - self.count) / self.rate

    def place(self, index: int, room_rate: int) -> float:
        """Where in the device's samples the room's sample `index` is."""
        return self.count + (index / room_rate - self.time_s) * self.rate


class Stamps:
    """The time stamps of a device, on the clock of the event loop."""

    def __init__(self, around: Surroundings, which: Which, device: Loudspeaker | Microphone, seed: int) -> None:
        self._around = around
        self._which: Which = which
        self._jitter_s = device.jitter_s
        self._random = np.random.default_rng(seed)

    def of(self, at_s: float) -> float:
        """What the device says of a moment of room time."""
        wrong = self._around.trouble(WrongStamps, at_s, self._which)
        jitter_s = float(self._random.uniform(-self._jitter_s, self._jitter_s)) if self._jitter_s else 0.0
        return self._around.zero_s + at_s + jitter_s + (wrong.by_s if wrong else 0.0)
