"""The clock of one session."""

import asyncio
import time

import anyio

__all__ = ["SessionClock", "now"]


def now() -> float:
    """Monotonic seconds: the running event loop's clock (virtual in tests), else the process's."""
    try:
        return asyncio.get_running_loop().time()  # what anyio asks for too, in a tenth of the time
    except RuntimeError:
        pass
    try:
        return anyio.current_time()
    except anyio.NoEventLoopError:
        return time.monotonic()


class SessionClock:
    """Seconds since the session started; stands still before the start and after the end."""

    def __init__(self) -> None:
        self._zero: float | None = None
        self._end: float | None = None

    def start(self) -> None:
        """Time runs from here; idempotent."""
        if self._zero is None:
            self._zero = now()

    def stop(self) -> None:
        """Time stands still from here; idempotent."""
        if self._end is None:
            self._end = now()

    def now(self) -> float:
        """Seconds since the start."""
        if self._zero is None:
            return 0.0
        return (now() if self._end is None else self._end) - self._zero

    def of(self, monotonic_s: float) -> float:
        """A time of the event loop's clock on this clock, never before the start."""
        return 0.0 if self._zero is None else max(0.0, monotonic_s - self._zero)
