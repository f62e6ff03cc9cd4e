"""A wish for a device, which takes a while to open: only the newest wish counts, and none that was taken back."""

from collections.abc import Callable
from typing import TypeVar

import anyio

from discussion_helper.voice.ports import Device, Runner

__all__ = ["Wished"]

D = TypeVar("D", bound=Device)


class Wished:
    """For the event loop's thread."""

    def __init__(self, run: Runner) -> None:
        """`run` runs what blocks."""
        self._run = run
        self._newest: object | None = None

    async def opened(self, opener: Callable[[], D]) -> D | None:
        """The device. One that is open only when nobody wants it any more is closed again: None. Raises DeviceError."""
        mine = self._newest = object()
        device = await self._run(opener)
        if self._newest is mine:
            return device
        with anyio.CancelScope(shield=True):
            await self._run(device.close)
        return None

    def take_back(self) -> None:
        """It is not wanted any more."""
        self._newest = None
