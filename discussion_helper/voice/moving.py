"""Moving a talk to other devices: all of them are closed before any is opened."""

import anyio

__all__ = ["CLOSED_S", "Together"]

CLOSED_S = 3.0
"""More than closing takes, of a device that hangs."""


class Together:
    """Waits for several devices to be closed: PortAudio looks for devices only when none is open."""

    def __init__(self, count: int) -> None:
        self._left = count
        self._all = anyio.Event()

    async def closed(self) -> None:
        """One more is closed; return when all are, or after 3 s: one may have been closed for good meanwhile."""
        self._left -= 1
        if self._left <= 0:
            self._all.set()
        with anyio.move_on_after(CLOSED_S):
            await self._all.wait()
