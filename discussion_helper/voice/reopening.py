"""Opening devices that went away again."""

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

import anyio

from discussion_helper.background import Background
from discussion_helper.errors import DeviceError
from discussion_helper.event_loop import start_in
from discussion_helper.voice.ports import Runner

__all__ = ["GIVE_UP_S", "LET_GO_S", "PAUSE_S", "Reopening", "opened_again"]

T = TypeVar("T")

PAUSE_S = 1.0
"""PortAudio tells nobody when a device comes; trying takes some milliseconds."""
GIVE_UP_S = 30.0
"""To find the plug and push it in again. Then the talk is over, for whoever runs it by a program wants to know."""
LET_GO_S = 0.3
"""How long closing waits for an attempt that hangs in the sound system."""


async def opened_again(
    open_device: Callable[[], T],
    *,
    run: Runner = anyio.to_thread.run_sync,
    pause_s: float = PAUSE_S,
    give_up_s: float = GIVE_UP_S,
) -> T | None:
    """Try to open it, which blocks and raises DeviceError, every `pause_s` seconds; None after `give_up_s` seconds.

    What is opened is returned also if this was cancelled meanwhile: somebody has to close it.
    """
    with anyio.move_on_after(give_up_s):
        while True:
            await anyio.sleep(pause_s)
            try:
                return await run(open_device)
            except DeviceError:
                continue
    return None


@dataclass(slots=True, eq=False)
class _Work:
    run: Callable[[Callable[[], bool]], Awaitable[None]]
    scope: anyio.CancelScope | None = None
    stopped: bool = False
    done: anyio.Event = field(default_factory=anyio.Event)

    def is_wanted(self) -> bool:
        return not self.stopped

    def stop(self) -> None:
        self.stopped = True
        if self.scope is not None:
            self.scope.cancel()


class Reopening:
    """Runs the work on lost devices, one piece for each at a time, in a task of its own.

    A loss is told in a callback of the event loop, where no task can be started. For the event loop's thread.
    """

    def __init__(self) -> None:
        self._works: dict[str, _Work] = {}
        self._waiting: deque[_Work] = deque()
        self._news = anyio.Event()
        self._worker: Background[None] = Background(self._run, name="opening devices again")

    def start(self) -> None:
        """Be ready."""
        self._worker.start()

    def begin(self, which: str, run: Callable[[Callable[[], bool]], Awaitable[None]]) -> None:
        """Work on a device that nobody works on. `run` is given what tells whether it is wanted still."""
        work = self._works[which] = _Work(run)
        self._waiting.append(work)
        self._news.set()

    def works_on(self, which: str) -> bool:
        """Somebody tries to open it again."""
        work = self._works.get(which)
        return work is not None and not work.stopped and not work.done.is_set()

    async def wait(self, which: str) -> None:
        """Return when nobody works on it, or is to stop."""
        while self.works_on(which):
            await self._works[which].done.wait()

    async def stop(self, which: str) -> None:
        """Try no more; what an attempt that hangs opens later is not wanted. Idempotent, takes 0.3 s at most."""
        if self.works_on(which):
            work = self._works[which]
            work.stop()
            with anyio.move_on_after(LET_GO_S, shield=True):
                await work.done.wait()

    async def close(self) -> None:
        """End, within 0.3 s."""
        for work in self._works.values():
            work.stop()
        if self._worker.started:
            await self._worker.stop(within_s=LET_GO_S)

    async def _run(self) -> None:
        async with anyio.create_task_group() as tasks:
            while True:
                await self._news.wait()
                self._news = anyio.Event()
                while self._waiting:
                    start_in(tasks, self._do, self._waiting.popleft())

    async def _do(self, work: _Work) -> None:
        try:
            with anyio.CancelScope() as work.scope:
                if not work.stopped:
                    await work.run(work.is_wanted)
        finally:
            work.done.set()
