"""The clock of a device's stream, told on the clock of the process."""

__all__ = ["StreamClock"]

_SANE_S = 2.0
"""No buffer is this long: a time stamp further away is nonsense."""
_STEP_S = 0.1
"""A callback that late would have lost its block: more than that is a clock that was set."""
_SLEW = 5e-4
"""The rate at which NTP slews a clock at most, 500 ppm."""
_JUMP_S = 0.05
"""Stamps scatter less than that (measured: 17 ms through PulseAudio): more is a stream that stood still."""
_WINDOW = 500
"""Blocks that a time is averaged over: 5 s in blocks of 10 ms."""


class StreamClock:
    """Tells when a sample of a stream is at the converter, on the clock of `time.monotonic`.

    `current` and `now` are what the stream's clock and ours showed at the start; `current` is 0.0 if the host would not
    say. Two things are evened out, so that times go on as evenly as the samples do:

    The stream's clock may be any. The offset to ours is followed, for some hosts take the wall clock, which is slewed
    and set. A callback reads our clock late, by the time it took to get to run, and never early: the smallest offset
    seen is the true one, apart from a slow rise.

    A host's stamps scatter by milliseconds, but samples follow each other at the converter's rate: the time of sample 0
    is averaged over the stamps of many blocks. It starts anew when the stream stood still.
    """

    def __init__(self, rate: int, current: float, now: float) -> None:
        self._rate = rate
        self._offset = now - current if current > 0.0 else None
        self._seen = now
        self._origin = 0.0
        self._count = 0

    def at(self, sample: int, event: float, current: float, now: float, *, usual: float) -> float:
        """When `sample` is at the converter: the host says at `event`, while both clocks show `current` and `now`.

        `usual` is how far from now it should be; that counts when the host talks nonsense.
        """
        origin = self._told(event, current, now, usual) - sample / self._rate
        if not self._count or abs(origin - self._origin) > _JUMP_S:
            self._origin, self._count = origin, 0
        self._count = min(self._count + 1, _WINDOW)
        self._origin += (origin - self._origin) / self._count
        return self._origin + sample / self._rate

    def restart(self) -> None:
        """Samples were lost or came too late: the next stamp counts alone."""
        self._count = 0

    def _told(self, event: float, current: float, now: float, usual: float) -> float:
        if not (event > 0.0 and current > 0.0 and abs(event - current) < _SANE_S):
            return now + usual
        offset = now - current
        if self._offset is not None and offset < self._offset + _STEP_S:
            offset = min(offset, self._offset + _SLEW * (now - self._seen))
        self._offset, self._seen = offset, now
        return event + offset
