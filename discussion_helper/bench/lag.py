"""The lag of an event loop: how late it wakes a task that asked for a moment."""

from collections import deque
from collections.abc import Sequence

import anyio

__all__ = ["KEPT", "PERIOD_S", "LagMeter", "with_missed"]

PERIOD_S = 0.02
"""How often it is measured: often enough to see what holds the loop up, and 0.3 % of a core."""
KEPT = 60_000
"""Measurements held: 20 minutes."""


class LagMeter:
    """Run it as a task of the loop that is measured."""

    def __init__(self) -> None:
        self._lags: deque[tuple[float, float]] = deque(maxlen=KEPT)

    async def run(self) -> None:
        """Measure until cancelled."""
        due = anyio.current_time() + PERIOD_S
        while True:
            await anyio.sleep_until(due)
            now = anyio.current_time()
            self._lags.append((due, now - due))
            due = max(due, now) + PERIOD_S

    def take(self) -> list[tuple[float, float]]:
        """Those since the last call: when it was to wake, on the loop's clock, and how late it was, both in seconds."""
        taken = list(self._lags)
        self._lags.clear()
        return taken


def with_missed(lags: Sequence[float]) -> list[float]:
    """Add what would have been measured while the loop was held up: without it one long stop would count as one."""
    return [lag - missed * PERIOD_S for lag in lags for missed in range(int(lag / PERIOD_S) + 1)]
