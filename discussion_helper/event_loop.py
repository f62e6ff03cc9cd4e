"""The event loop that runs here, on asyncio or trio: whose it is, whether it ends, how a task begins on it."""

import asyncio
import contextvars
import math
import sys
import threading
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from typing import Any, TypeVarTuple

from anyio.abc import TaskGroup

__all__ = ["LoopAffinity", "cancelled_from_outside", "loop_ends", "spawn", "start_in"]

Ts = TypeVarTuple("Ts")


class LoopAffinity:
    """The thread and the event loop that something belongs to."""

    __slots__ = ("_asyncio", "_loop", "_thread")

    def __init__(self) -> None:
        """Raises RuntimeError where no event loop runs."""
        self._thread, self._loop = threading.get_ident(), _loop()
        if self._loop is None:
            raise RuntimeError("it must be used from a running event loop (inside async code)")
        self._asyncio = self._loop if isinstance(self._loop, asyncio.AbstractEventLoop) else None

    def check(self, name: str) -> None:
        """Raises RuntimeError in another thread or on another event loop: event loops do not wake each other."""
        # Asked for every event, and which loop runs takes asyncio a system call before Python 3.12. Whether it runs
        # says the same: a thread runs one at a time, unless trio is another's guest or runs inside it.
        alone = self._asyncio if "trio" not in sys.modules else None
        runs = _loop() is self._loop if alone is None else alone.is_running()
        if not runs or threading.get_ident() != self._thread:
            raise RuntimeError(f"{name} runs on another event loop; call it there (anyio.from_thread.run)")


def loop_ends() -> bool:
    """Whether the event loop is on its way down, as code sees it that no scope of its own cancels.

    On asyncio a task can be cancelled by anybody who has it; at the end of the loop all of them are.
    """
    return cancelled_from_outside() and (_trio() is not None or all(task.cancelling() for task in asyncio.all_tasks()))


def cancelled_from_outside() -> bool:
    """Whether the running task is being cancelled, by what is no scope of its own."""
    trio = _trio()
    if trio is not None:  # a Cancelled may be an old one that somebody kept and raised again
        return bool(trio.current_effective_deadline() == -math.inf)
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _loop() -> object:
    """The event loop that runs in this thread, also inside a callback of that loop; None = none does."""
    trio = _trio()
    if trio is not None:
        return trio.lowlevel.current_trio_token()
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _trio() -> Any:
    """The module, where this code runs on trio; imported by whoever does."""
    trio = sys.modules.get("trio")
    return trio if trio is not None and trio.lowlevel.in_trio_run() else None


def spawn(main: Callable[[], Coroutine[Any, Any, None]], name: str, context: contextvars.Context | None) -> object:
    """Start a task of the running event loop. Raises RuntimeError without one; then nothing was created."""
    trio = _trio()
    if trio is not None:
        copied = contextvars.copy_context() if context is None else context
        return trio.lowlevel.spawn_system_task(main, name=name, context=copied)
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        raise RuntimeError(f"{name} must be started from a running event loop (inside async code)") from None
    return loop.create_task(main(), name=name, context=context)


def start_in(tasks: TaskGroup, main: Callable[[*Ts], Coroutine[Any, Any, object]], *args: *Ts) -> None:
    """As `tasks.start_soon(main, *args)`, but a task that never takes a step leaves nothing that was not awaited.

    An asyncio loop that ends cancels its tasks, also one that has yet to begin. What anyio (4.14 to 4.16) gives it is a
    coroutine of its own around the task's, which was made, is dropped, and gives a RuntimeWarning.
    """
    tasks.start_soon(_Unmade, partial(main, *args), name=getattr(main, "__qualname__", None))


class _Unmade(Coroutine[Any, Any, object]):
    """A coroutine that is made once it is awaited."""

    def __init__(self, make: Callable[[], Coroutine[Any, Any, object]]) -> None:
        self._make = make
        self._made: Coroutine[Any, Any, object] | None = None

    def _coroutine(self) -> Coroutine[Any, Any, object]:
        if self._made is None:
            self._made = self._make()
        return self._made

    def __await__(self) -> Generator[Any, Any, object]:
        return self._coroutine().__await__()

    def send(self, value: Any) -> Any:
        return self._coroutine().send(value)

    def throw(self, *error: Any) -> Any:
        return self._coroutine().throw(*error)

    def close(self) -> None:
        if self._made is not None:
            self._made.close()
