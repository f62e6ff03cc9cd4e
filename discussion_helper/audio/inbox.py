"""The inbox of the audio thread: what devices and other threads hand it, in one order."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Literal

from discussion_helper.audio.frames import Frame
from discussion_helper.audio.playback import Position

__all__ = ["Call", "Captured", "Closed", "DeviceLost", "Inbox", "Item", "Played"]

_PLUG = "Connect it again, or choose another one with --device."


@dataclass(frozen=True, slots=True)
class Captured:
    """A block from the microphone. `at_s`: when its first sample was at the ADC, on the clock of `time.monotonic`."""

    frame: Frame
    at_s: float


@dataclass(frozen=True, slots=True)
class Played:
    """A block for the loudspeaker, as it left: after gain and fades.

    `frame.start` counts samples since the stream was opened, `at_s` is when the first one is at the DAC, on the clock
    of `time.monotonic`, and `position` is how far the reply is after the block.
    """

    frame: Frame
    at_s: float
    position: Position


@dataclass(frozen=True, slots=True)
class DeviceLost:
    """A device went away, or its stream broke off.

    `fix` is what the person at the keyboard can do about it, `returns` whether it is worth opening it again.
    """

    which: Literal["capture", "playback"]
    reason: str
    fix: str = _PLUG
    returns: bool = True


@dataclass(frozen=True, slots=True)
class Call:
    """Something to run on the audio thread. `about`: the same as a value, for who records it, if it matters."""

    fn: Callable[[], object]
    about: object = None


@dataclass(frozen=True, slots=True)
class Closed:
    """The inbox was closed and everything before that was taken out."""


Item = Captured | Played | DeviceLost | Call


class Inbox:
    """Many threads put, one takes.

    `capacity` bounds the audio in it, in blocks: 600 are 2 s of a microphone in blocks of 10 ms and a loudspeaker in
    blocks of 5 ms. A block that
    finds it full is dropped and counted, and shows as a gap in the sample indices of its stream. Calls and lost
    devices have `reserve` places of their own beyond that, so that no flood of audio can keep them out. `clock` is the
    one of the items' times.
    """

    def __init__(self, *, capacity: int = 600, reserve: int = 256, clock: Callable[[], float] = time.monotonic) -> None:
        # SimpleQueue.put neither waits nor allocates a lock, and may be re-entered by a signal handler.
        self._queue: SimpleQueue[tuple[Item | Closed, float]] = SimpleQueue()
        self._capacity = capacity
        self._limit = capacity + reserve
        self._clock = clock
        self._closed = False
        self._drained = False
        self.put_at_s = 0.0
        """When what `get` gave last was put in, on its clock. For the audio thread alone."""
        self.most = 0
        """The most that waited in it at once, all kinds together; of puts at the same moment one may go uncounted."""
        # One count for each thread that writes it: += from two threads could lose one.
        self._dropped_captured = 0
        self._dropped_played = 0

    @property
    def dropped(self) -> int:
        """Blocks of audio that found the inbox full."""
        return self._dropped_captured + self._dropped_played

    @property
    def waiting(self) -> int:
        """How many items are in it."""
        return self._queue.qsize()

    def put(self, item: Item) -> bool:
        """Hand over `item`. Never waits, logs or raises; safe in a device callback. False if it was not taken.

        That is: a block of audio when `capacity` is reached, anything when the reserve is used up as well (the audio
        thread has then stood still for seconds), and anything after `close()`.
        """
        if self._closed:
            return False
        waiting = self._queue.qsize()
        if waiting >= (self._capacity if isinstance(item, Captured | Played) else self._limit):
            self._count(item)
            return False
        self._queue.put((item, self._clock()))
        if waiting >= self.most:
            self.most = waiting + 1
        return True

    def get(self, timeout: float | None = None) -> Item | Closed | None:
        """Wait for the next item, at most `timeout` seconds; None if nothing came. For the audio thread alone.

        After `close()` it still gives what was there before, then `Closed()`, for ever.
        """
        if self._drained:
            return Closed()
        try:
            item, self.put_at_s = self._queue.get(timeout=timeout)
        except Empty:
            return None
        self._drained = isinstance(item, Closed)
        return item

    def close(self) -> None:
        """Take nothing more, and let `get` answer `Closed()`. Idempotent; from any thread."""
        if not self._closed:
            self._closed = True
            self._queue.put((Closed(), self._clock()))

    def _count(self, item: Item) -> None:
        if isinstance(item, Captured):
            self._dropped_captured += 1
        elif isinstance(item, Played):
            self._dropped_played += 1
