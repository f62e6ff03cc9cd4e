"""An open loudspeaker: it renders a playback, block by block, into the room."""

import math
from collections.abc import Callable

import numpy as np

from discussion_helper.audio.analysis import AUDIBLE_DBFS, first_above
from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import DeviceLost, Played
from discussion_helper.audio.playback import Playback, Position
from discussion_helper.testing.room.interpolator import Interpolator
from discussion_helper.testing.room.scene import Loudspeaker
from discussion_helper.testing.room.surroundings import Clock, Stamps, Surroundings
from discussion_helper.testing.room.tape import GAIN_S, Rendered
from discussion_helper.testing.room.track import Track
from discussion_helper.testing.room.troubles import Stalled, Unplugged
from discussion_helper.testing.room.watched_playback import WatchedPlayback

__all__ = ["LoudspeakerStream"]

_HELD_S = 2.0
_SILENT_POWER = 1e-8


class LoudspeakerStream:
    """A `Sink`. What it plays goes into `room`, the loudspeaker's track, and `rendered` is told of each block."""

    def __init__(
        self,
        device: Loudspeaker,
        playback: WatchedPlayback,
        around: Surroundings,
        room: Track,
        *,
        opened_s: float,
        stamps: Stamps,
        rendered: Callable[[Rendered], object],
    ) -> None:
        self.name, self.rate = device.name, device.rate
        self.playback: Playback = playback
        self.underflows = 0
        self.due_s = opened_s
        """In room time."""
        self.free_s = math.inf
        """From when on another stream may play, once it is closed."""
        self._watched = playback
        self._device = device
        self._around = around
        self._room = room
        self._stamps = stamps
        self._rendered = rendered
        self._block = device.rate // 100
        self._true_rate = device.rate * (1.0 + device.ppm * 1e-6)
        same = device.rate == around.rate and not device.ppm
        self._own = None if same else Track(round(_HELD_S * device.rate))
        self._between = Interpolator(self._true_rate / around.rate)
        self._limit = 10.0 ** (device.clip_dbfs / 20.0)
        self._closed = False
        self._count = 0
        self._first = self._next = 0
        self._clock = Clock(self._true_rate, 0.0)
        self._anchor(opened_s)

    def close(self) -> None:
        """What it still holds is played, unless the reply was halted. Idempotent."""
        if not self._closed:
            self._closed = True
            self._around.block("loudspeaker")
        if self.playback.is_cut:
            self._break_off()
        self.free_s, self.due_s = min(self.free_s, self.due_s), math.inf

    def _break_off(self) -> None:
        """What it still holds is not played."""
        if self.due_s < math.inf:
            self._room.cut(math.ceil(self._around.now_s * self._around.rate))
            self.free_s, self.due_s = self._around.now_s, math.inf

    def step(self) -> None:
        """The callback."""
        if self._around.trouble(Unplugged, self.due_s, "loudspeaker"):
            self._lose()
        elif stalled := self._around.trouble(Stalled, self.due_s, "loudspeaker"):
            self.underflows += 1
            self._anchor(stalled.at_s + stalled.for_s)
        else:
            self._render()

    def _render(self) -> None:
        block = np.empty(self._block, np.float32)
        position = self.playback.render(block)
        start, self._count = self._count, self._count + len(block)
        if position is not None:
            self._note(position, block, start)
        self._emit(start, block, silent=position is None)
        if position is not None:
            at_s = self._stamps.of(self._clock.at(start))
            self._around.inbox.put(Played(Frame(block, self.rate, start), at_s, position))
        self.due_s = self._called_s + (self._count - self._clock.count) / self._true_rate

    def _emit(self, start: int, block: Samples, *, silent: bool) -> None:
        """Let it sound in the room, on the room's clock."""
        heard = block if self._limit >= 1.0 else np.clip(block, -self._limit, self._limit)
        if self._own is None:
            if not silent:
                self._room.write(self._first + start - self._clock.count, heard)
            return
        if not silent:
            self._own.write(start, heard)
        known = self._count - self._between.reach - 1
        until = math.floor(((known - self._clock.count) / self._true_rate + self._clock.time_s) * self._around.rate) + 1
        if until > self._next:
            place = self._clock.place(self._next, self._around.rate)
            if place < self._own.end + self._between.reach:
                self._room.write(self._next, self._between.read(self._own, place, until - self._next))
            self._next = until

    def _note(self, position: Position, block: Samples, start: int) -> None:
        given = self._watched.taken(position)
        gains = _gains(block, given, round(GAIN_S * self.rate))
        loud = first_above(block, AUDIBLE_DBFS)
        audible = -1 if loud is None else self._index(start + loud)
        now_s = self._around.now_s
        self._rendered(Rendered(self._index(start), now_s, position.generation, len(given), audible, gains))

    def _index(self, count: int) -> int:
        return round(self._clock.at(count) * self._around.rate)

    def _anchor(self, called_s: float) -> None:
        """The next block is rendered at `called_s`, and what follows goes on from there without a gap."""
        self._called_s = called_s
        self.due_s = called_s
        self._first = self._next = math.ceil((called_s + self._device.latency_s) * self._around.rate - 1e-5)
        self._clock = Clock(self._true_rate, self._first / self._around.rate, self._count)

    def _lose(self) -> None:
        self._break_off()
        self._around.inbox.put(DeviceLost("playback", f'"{self.name}" stopped by itself'))


def _gains(block: Samples, given: Samples, window: int) -> Samples:
    """What became of a reply in every window; NaN where it is silent itself, 0.0 where it has ended."""
    gains = np.zeros(-(-len(block) // window), np.float32)
    if not len(given):
        return gains
    edges = np.arange(0, len(given), window)
    heard, wanted = (np.add.reduceat(np.square(samples), edges) for samples in (block[: len(given)], given))
    loud = wanted > window * _SILENT_POWER
    gains[: len(edges)] = np.where(loud, np.sqrt(heard / np.where(loud, wanted, 1.0)), np.nan)
    return gains
