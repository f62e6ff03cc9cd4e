"""Two sizes of recogniser: the one that was chosen, and a smaller one for a machine that is late."""

import anyio

from discussion_helper.audio.frames import Samples
from discussion_helper.event_loop import start_in
from discussion_helper.stt.base import Recognised, Recogniser

__all__ = ["TwoSizes"]


class TwoSizes:
    """A `Recogniser` of two; it owns both. The small one is loaded when it is wanted for the first time.

    A call that has begun ends with the one that it began with.
    """

    def __init__(self, full: Recogniser, small: Recogniser) -> None:
        self.full = full
        self._small = small
        self._used = full

    async def use_full(self, on: bool) -> None:
        """Use the full one, or the small one once it is loaded. Raises as its `warmup`; then nothing has changed."""
        if not on:
            await self._small.warmup()
        self._used = self.full if on else self._small

    async def recognise(self, samples: Samples, *, voiced_s: float | None = None) -> Recognised:
        """As the one that is used."""
        return await self._used.recognise(samples, voiced_s=voiced_s)

    async def warmup(self) -> None:
        """Load the full one."""
        await self.full.warmup()

    async def aclose(self) -> None:
        """Release both; idempotent."""
        async with anyio.create_task_group() as tasks:
            start_in(tasks, self.full.aclose)
            start_in(tasks, self._small.aclose)
