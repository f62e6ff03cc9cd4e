"""Those who wait for a change."""

import anyio

__all__ = ["Waiters"]


class Waiters:
    """All of them are woken together, and look again; who comes later waits for the next change."""

    __slots__ = ("_changed",)

    def __init__(self) -> None:
        self._changed: anyio.Event | None = None  # made by who waits: before that there may be no event loop

    def wake(self) -> None:
        """Something has changed."""
        changed, self._changed = self._changed, None
        if changed is not None:
            changed.set()

    async def wait(self) -> None:
        """Wait for the next change."""
        if self._changed is None:
            self._changed = anyio.Event()
        await self._changed.wait()
