"""An asyncio event loop whose clock jumps: whole conversations in microseconds, timeouts included.

Trio has `trio.testing.MockClock(autojump_threshold=0)` for the same purpose. No real thread may take part:
the clock would jump over whatever it is doing.
"""

import asyncio
import selectors
from collections.abc import Mapping
from typing import Any

__all__ = ["VirtualTimeLoop"]


class _JumpingSelector(selectors.BaseSelector):
    """Never waits: what would be waited for is added to the clock instead."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self.now = 0.0

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._selector.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._selector.unregister(fileobj)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = self._selector.select(0)
        if not ready and timeout is None:
            raise RuntimeError("virtual time: every task waits for something that no timer will bring")
        if not ready and timeout is not None and timeout > 0:
            self.now += timeout
        return ready

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._selector.get_map()

    def close(self) -> None:
        self._selector.close()


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Use it as a loop factory: `anyio.run(main, backend_options={"loop_factory": VirtualTimeLoop})`."""

    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return self._jumping.now
