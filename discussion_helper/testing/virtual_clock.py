"""An asyncio event loop whose clock jumps: whole conversations in microseconds, timeouts included.

Trio has `trio.testing.MockClock(autojump_threshold=0)` for the same purpose. No real thread may take part: the clock
would jump over whatever it is doing, unless it is held meanwhile.
"""

import asyncio
import math
import selectors
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from operator import itemgetter
from typing import Any, Protocol

__all__ = ["HELD_S", "START_S", "VirtualTimeLoop", "World"]

HELD_S = 45.0
"""Real seconds that a thread may work while the clock is held: less than the usual limit of a test."""
_NO_TIME = "what waits for time, as simulated parts do, needs no clock that is held, and would wait for ever"
START_S = 70_000.0
"""Where the clock begins. From 2**16 to 2**17 s every time is a multiple of the same 1.5e-11 s, so that sums and
differences of times are the same to the last bit whenever something begins, in the first 17 h. Near zero they are not,
and that bit has it whether a timer or the block of a device comes first, where both are due at once: a reply would be
heard 10 ms later after another talk on the same loop than alone."""


class World(Protocol):
    """What goes on beside the loop, as devices do, whenever the loop has nothing left to do at this time.

    It reaches the loop by `call_soon_threadsafe` alone, as another thread would.
    """

    @property
    def due_s(self) -> float:
        """When it goes on, on the loop's clock; infinity = it does not by itself."""
        ...

    def step(self) -> None:
        """Go on: it is `due_s` now."""
        ...


class _JumpingSelector(selectors.BaseSelector):
    """Never waits: what would be waited for is added to the clock instead."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self.now = START_S
        self.holds = 0
        self.worlds: list[World] = []

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._selector.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._selector.unregister(fileobj)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = self._selector.select(0)
        if ready or (timeout is not None and timeout <= 0):
            return ready
        if self.holds:
            return self._wait()
        return self._jump(math.inf if timeout is None else self.now + timeout)

    def _jump(self, end: float) -> list[tuple[selectors.SelectorKey, int]]:
        """To the loop's next timer, or to where a world has something for it."""
        while self.worlds:
            due_s, world = min(((world.due_s, world) for world in self.worlds), key=itemgetter(0))
            if due_s > end or due_s == math.inf:
                break
            self.now = max(self.now, due_s)
            world.step()
            if ready := self._selector.select(0):
                return ready
        if end == math.inf:
            raise RuntimeError("virtual time: every task waits for something that no timer will bring")
        self.now = end
        return []

    def _wait(self) -> list[tuple[selectors.SelectorKey, int]]:
        ready = self._selector.select(HELD_S)
        if not ready:
            raise RuntimeError(f"virtual time: it is held, and no thread has come back for {HELD_S:.0f} s: {_NO_TIME}")
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
        """Virtual seconds; `START_S` when the loop was made."""
        return self._jumping.now

    @contextmanager
    def held(self) -> Generator[None]:
        """Inside the block virtual time stands still, and what real threads do is waited for, as long as it takes."""
        self._jumping.holds += 1
        try:
            yield
        finally:
            self._jumping.holds -= 1

    @contextmanager
    def beside(self, world: World) -> Generator[None]:
        """Inside the block `world` goes on in the same time."""
        self._jumping.worlds.append(world)
        try:
            yield
        finally:
            self._jumping.worlds.remove(world)
