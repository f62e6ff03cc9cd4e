"""A client's clock, told on the clock of this process."""

import math

__all__ = ["FAR_S", "MOVED_S", "WINDOW_S", "RemoteClock"]

WINDOW_S = 2.0
"""In so long some frame comes without a wait on its way."""
MOVED_S = 0.25
"""So much later than before, all of them: the client's clock is another one now."""
FAR_S = 1.0
"""No buffer and no way is that long."""
_SLEW = 5e-4
"""Two crystals differ by less, 500 ppm."""


class RemoteClock:
    """Tells when something was at a client, on our clock, by the client's clock; one for both directions of it.

    A frame arrives late by its way, and never early: the smallest offset seen is the true one but for the shortest
    way, apart from a slow rise. A clock that stood still or jumped ahead is followed at once, one that jumped back in
    the middle of what it tells within 4 s.
    """

    def __init__(self) -> None:
        self._offset = math.inf
        self._seen = 0.0
        self._lately = math.inf
        self._until = -math.inf

    def arrived(self, at: float, now: float) -> None:
        """What is over at `at` on the client's clock was told of to us at `now`."""
        offset = now - at
        if now - self._seen > WINDOW_S:  # it may have stood still, as that of a page that was put to sleep
            self._offset = math.inf
        risen = self._offset + _SLEW * max(0.0, now - self._seen)
        self._offset, self._seen = min(offset, risen), now
        if now >= self._until:
            if math.isfinite(self._lately) and self._lately > self._offset + MOVED_S:
                self._offset = self._lately
            self._lately, self._until = math.inf, now + WINDOW_S
        self._lately = min(self._lately, offset)

    def of(self, at: float, now: float) -> float:
        """That moment on our clock, which shows `now`; that where it would be far from it, or nothing arrived yet."""
        told = at + self._offset
        return told if abs(told - now) < FAR_S else now
