"""A provider that is made with the first message: nothing is looked for or loaded before."""

from collections.abc import AsyncIterator, Callable

import anyio

from discussion_helper.iteration import closing
from discussion_helper.text.artifacts import Artifact
from discussion_helper.text.providers.base import Option, Provider
from discussion_helper.text.state import State

__all__ = ["CLOSE_S", "DeferredProvider"]

CLOSE_S = 0.25
"""How long the real one's iterator may take to close."""


class DeferredProvider:
    """Until it can be made every message fails with the reason, and the next one tries again."""

    def __init__(self, make: Callable[[], Provider]) -> None:
        """`make` is called in a thread. What it raises fails the message."""
        self._make = make
        self._made: Provider | None = None
        self._making = anyio.Lock()

    async def invoke(self, state: State, *options: Option) -> AsyncIterator[Artifact]:
        """What the real one answers. Raises what making it raises."""
        provider = await self._provider()
        async with closing(provider.invoke(state, *options), within_s=CLOSE_S) as artifacts:
            async for artifact in artifacts:
                yield artifact

    async def _provider(self) -> Provider:
        async with self._making:
            if self._made is None:
                self._made = await anyio.to_thread.run_sync(self._make)
            return self._made

    async def aclose(self) -> None:
        """Release the real one, if there is one."""
        if self._made is not None:
            await self._made.aclose()
