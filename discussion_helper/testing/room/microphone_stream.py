"""An open microphone: it delivers what is in the room, block by block."""

import math

import numpy as np

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Captured, DeviceLost
from discussion_helper.testing.room.acoustics import Acoustics
from discussion_helper.testing.room.interpolator import Interpolator
from discussion_helper.testing.room.scene import Microphone
from discussion_helper.testing.room.surroundings import Clock, Stamps, Surroundings
from discussion_helper.testing.room.troubles import Stalled, Unplugged, Zeros

__all__ = ["MicrophoneStream"]


class MicrophoneStream:
    """A `Source`."""

    def __init__(
        self,
        device: Microphone,
        around: Surroundings,
        room: Acoustics,
        *,
        opened_s: float,
        stamps: Stamps,
        rate: int | None = None,
    ) -> None:
        """`rate`: another one than usual."""
        self.name, self.rate = device.name, rate or device.rate
        self.overflows = 0
        self._device = device
        self._around = around
        self._room = room
        self._stamps = stamps
        self._block = self.rate // 100
        true_rate = self.rate * (1.0 + device.ppm * 1e-6)
        self._first = math.ceil(opened_s * around.rate - 1e-5)
        self._clock = Clock(true_rate, self._first / around.rate)
        same = self.rate == around.rate and not device.ppm
        self._between = None if same else Interpolator(around.rate / true_rate)
        self._closed = False
        self._count = 0
        self._held: list[Captured] = []
        self.due_s = self._due_s()
        """In room time."""

    def close(self) -> None:
        """Deliver nothing more. Idempotent."""
        if not self._closed:
            self._closed = True
            self._around.block("microphone")
        self.due_s = math.inf

    def step(self) -> None:
        """The callback."""
        if self._around.trouble(Unplugged, self.due_s, "microphone"):
            self.due_s = math.inf
            self._around.inbox.put(DeviceLost("capture", f'"{self.name}" stopped by itself'))
            return
        stalled = self._around.trouble(Stalled, self.due_s, "microphone")
        if stalled and stalled.lost:
            self.overflows += 1
            self._count += self._block
        else:
            self._held.append(self._next())
        if not stalled:
            self._deliver()
        self.due_s = self._due_s()

    def _next(self) -> Captured:
        start, self._count = self._count, self._count + self._block
        at_s = self._clock.at(start)
        dumb = self._around.trouble(Zeros, at_s, "microphone")
        samples = np.zeros(self._block, np.float32) if dumb else self._heard(start)
        return Captured(Frame(samples, self.rate, start), self._stamps.of(at_s))

    def _heard(self, start: int) -> Samples:
        if self._between is None:
            return self._room.read(self._first + start, self._block).copy()
        place = self._first + start * self._between.step
        return self._room.between(self._between, place, self._block)

    def _deliver(self) -> None:
        for block in self._held:
            self._around.inbox.put(block)
        self._held.clear()

    def _due_s(self) -> float:
        """When the next block is complete and has come through."""
        return self._clock.at(self._count + self._block) + self._device.latency_s
