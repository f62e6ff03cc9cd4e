"""The interpreter of a process that holds talks: threads that get their turn soon, and no long collections."""

import gc
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

from discussion_helper.background import LET_GO_S, Background

if TYPE_CHECKING:
    from discussion_helper.app import Talk
    from discussion_helper.session import Session
    from discussion_helper.settings import Settings

    Opener = Callable[[Settings], AbstractAsyncContextManager[Talk]]

__all__ = ["SWITCH_S", "PromptInterpreter"]

SWITCH_S = 0.001
"""How long a thread may keep the interpreter's lock that another one wants; Python's own is 5 ms.

Beside a thread that computes in Python, on two cores with 8 to 12 busy threads on them, a wait for the lock took 2 to
4 ms instead of 11 to 17, the event loop was 14 ms late instead of 24 to 27, and a block of the microphone 20 to 48
instead of 48 to 99 (P99, each the median of 5 or 7 rounds in turn, `python -m benchmarks.lateness --python`). 0.5 and
0.1 ms gained nothing more. It costs threads that compute in Python 3 %; those of the models do not hold the lock.
"""


class PromptInterpreter:
    """Settings of the whole process while it is entered, for the command that owns it; leaving brings back the old.

    It may be entered several times, also again: the last one to leave it does that. Threads give up the interpreter's
    lock after `switch_s` (see SWITCH_S), and until `settle` nothing is collected: a collection stops all threads.
    Loading a talk's models makes 73,000 objects that stay, and looking through them took 57 to 150 ms, once while they
    were loaded and again from time to time. Frozen, they are left alone: 0.2 ms, in as much memory (609 MB).
    Collections of young objects, 1 a second while the models work, take 0.4 ms. All measured with
    `python -m benchmarks.loading`.
    """

    def __init__(self, *, switch_s: float = SWITCH_S) -> None:
        self._switch_s = self._before_s = switch_s
        self._collects = False
        self._settled = False
        self._entered = 0

    def __enter__(self) -> Self:
        if not self._entered:
            self._before_s, self._collects = sys.getswitchinterval(), gc.isenabled()
            sys.setswitchinterval(self._switch_s)
            gc.disable()
        self._entered += 1
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._entered -= 1
        if self._entered:
            return
        sys.setswitchinterval(self._before_s)
        if self._collects:
            gc.enable()
        if self._settled:
            self._settled = False
            gc.unfreeze()

    def settle(self) -> None:
        """What is to stay is loaded: from now on the collector looks at what comes later alone. Idempotent."""
        if self._entered and not self._settled:
            self._settled = True
            gc.collect()  # what loading has left behind would be kept for good
            gc.freeze()
            if self._collects:
                gc.enable()

    def watching(self, opener: "Opener") -> "Opener":
        """`opener`, whose talks it is entered for, and settles for once their parts are ready."""

        @asynccontextmanager
        async def opened(settings: "Settings") -> "AsyncIterator[Talk]":
            with self:
                async with opener(settings) as talk:
                    settling = Background(lambda: self._settle_with(talk.session), name="settling").start()
                    try:
                        yield talk
                    finally:
                        await settling.stop(within_s=LET_GO_S)

        return opened

    async def _settle_with(self, session: "Session") -> None:
        await session.ready()
        self.settle()
