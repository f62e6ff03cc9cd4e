"""A task with a handle: started synchronously, waited for without being cancelled, stopped within a limit.

This is the one place that starts a task outside a task group. The handle is its owner.
"""

import asyncio
import contextvars
import sys
from collections.abc import Awaitable, Callable
from typing import Generic, Self, TypeVar

import anyio

__all__ = ["Background", "unwrapped"]

T = TypeVar("T")


def unwrapped(error: BaseException) -> BaseException:
    """The error inside exception groups of one."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


class Background(Generic[T]):
    """Runs `main()` once, beside its caller, on asyncio or trio.

    A task that swallows its cancellation cannot be killed in Python; `stop` then gives up on it after
    its limit and says so, and the event loop's own end takes it down.
    """

    def __init__(self, main: Callable[[], Awaitable[T]], *, name: str = "background") -> None:
        self._main = main
        self._name = name
        self._scope: anyio.CancelScope | None = None  # made by the task: there may be no event loop yet
        self._cancelled = False
        self._finished = anyio.Event()
        self._outcome: list[T] = []
        self._error: BaseException | None = None
        self._task: object = None  # asyncio keeps only weak references to its tasks
        self.started = False

    @property
    def running(self) -> bool:
        """Started and not finished."""
        return self.started and not self._finished.is_set()

    @property
    def error(self) -> BaseException | None:
        """What it failed with, unwrapped."""
        return self._error

    def start(self) -> Self:
        """Begin. Raises RuntimeError off a running event loop, or the second time; then nothing was started."""
        if self.started:
            raise RuntimeError(f"{self._name} was started before; make a new one")
        self._task = _spawn(self._run, self._name)
        self.started = True
        return self

    async def _run(self) -> None:
        try:
            with anyio.CancelScope() as self._scope:
                if not self._cancelled:
                    self._outcome.append(await self._main())
        except BaseException as error:  # kept for wait(); only the event loop's own cancellation goes on
            self._error = unwrapped(error)
            if isinstance(error, anyio.get_cancelled_exc_class()):
                raise
        finally:
            self._finished.set()

    async def finished(self) -> None:
        """Wait for the end, however it ends. Cancelling this wait leaves the task running."""
        if not self.started:
            raise RuntimeError(f"{self._name} was not started; call start() first")
        await self._finished.wait()

    async def wait(self) -> T:
        """Wait for the result; re-raises what the task failed with. Cancelling this wait leaves the task running.

        Raises RuntimeError when the task was stopped before it had a result.
        """
        await self.finished()
        if self._error is not None:
            raise self._error
        if not self._outcome:
            raise RuntimeError(f"{self._name} was stopped before it had a result")
        return self._outcome[0]

    def cancel(self) -> None:
        """Ask it to end; idempotent."""
        self._cancelled = True
        if self._scope is not None:
            self._scope.cancel()

    async def stop(self, *, within_s: float) -> bool:
        """Cancel, and wait for the end at most `within_s` seconds, shielded. False = it is still running."""
        self.cancel()
        with anyio.move_on_after(within_s, shield=True):
            await self.finished()
        return not self.running


def _spawn(main: Callable[[], Awaitable[None]], name: str) -> object:
    """Start a coroutine as a task of the running event loop; nothing is created when there is none."""
    trio = sys.modules.get("trio")  # imported by whoever runs on it
    if trio is not None and trio.lowlevel.in_trio_run():
        return trio.lowlevel.spawn_system_task(main, name=name, context=contextvars.copy_context())
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        raise RuntimeError(f"{name} must be started from a running event loop (inside async code)") from None
    return loop.create_task(_as_coroutine(main), name=name)


async def _as_coroutine(main: Callable[[], Awaitable[None]]) -> None:
    await main()
