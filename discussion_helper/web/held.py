"""A session inside the context that opened it, as one that holds devices: entered and left in the same task."""

from contextlib import AbstractAsyncContextManager, suppress

import anyio

from discussion_helper.background import Background
from discussion_helper.session import Session

__all__ = ["LEAVE_S", "Held"]

LEAVE_S = 5.0
"""How long the context may take to be left."""


class Held:
    """Its context lasts as long as its session."""

    def __init__(self, opening: AbstractAsyncContextManager[Session]) -> None:
        """Nothing is opened before `open`."""
        self._opening = opening
        self._session: Session | None = None
        self._begun = anyio.Event()
        self._holding: Background[None] = Background(self._hold, name="a session's devices")

    @property
    def over(self) -> bool:
        """The context was left."""
        return not self._holding.running

    async def open(self) -> Session:
        """Enter the context; the session is started. Raises what entering raises."""
        self._holding.start()
        try:
            await self._begun.wait()
            if self._session is None:
                await self._holding.wait()
        except BaseException:
            await self._holding.stop(within_s=LEAVE_S)
            raise
        assert self._session is not None
        return self._session

    async def _hold(self) -> None:
        try:
            async with self._opening as session:
                self._session = session.start()
                self._begun.set()
                with suppress(Exception):  # the session's watchers are told of it
                    await session.wait()
        finally:
            self._begun.set()

    async def aclose(self) -> None:
        """End the session, and wait until its context was left."""
        if self._session is not None:
            await self._session.stop()
        await self._holding.ends(within_s=LEAVE_S)
