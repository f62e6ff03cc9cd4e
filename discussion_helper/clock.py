"""The clock of one session."""

import asyncio
import time
from collections.abc import Callable

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


def _reading() -> Callable[[], float]:
    """What reads the clock that runs here. Most loops read the process's, and need not be looked for every time."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return now
    return time.monotonic if type(loop).time is asyncio.BaseEventLoop.time else now


class SessionClock:
    """Seconds since the session started; stands still before the start and after the end."""

    def __init__(self) -> None:
        self._read = now
        self._zero: float | None = None
        self._end: float | None = None

    def start(self) -> None:
        """Time runs from here; idempotent."""
        if self._zero is None:
            self._read = _reading()
            self._zero = self._read()

    def stop(self) -> None:
        """Time stands still from here; idempotent."""
        if self._end is None:
            self._end = self._read()

    def now(self) -> float:
        """Seconds since the start."""
        if self._zero is None:
            return 0.0
        return (self._read() if self._end is None else self._end) - self._zero

    def of(self, monotonic_s: float) -> float:
        """A time of the event loop's clock on this clock, never before the start."""
        return 0.0 if self._zero is None else max(0.0, monotonic_s - self._zero)
