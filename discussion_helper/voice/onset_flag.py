"""The flag that somebody has begun to interrupt, as long as they go on."""

import anyio

__all__ = ["OnsetFlag"]


class OnsetFlag:
    """For the event loop's thread."""

    def __init__(self) -> None:
        self._raised = anyio.Event()

    def begin(self, *, lasts: bool) -> None:
        """Whoever waits for it goes on; it `lasts` as long as the turn, of which there may be nothing left."""
        self._raised.set()
        if not lasts:
            self.end()

    def end(self) -> None:
        """Who waits for one already goes on waiting for the same."""
        if self._raised.is_set():
            self._raised = anyio.Event()

    async def wait(self) -> None:
        """Return once it is raised, or at once."""
        await self._raised.wait()
