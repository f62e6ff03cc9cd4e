"""A task with a handle: started synchronously, waited for without being cancelled, stopped within a limit.

This is the one place that starts a task outside a task group. The handle is its owner.
"""

import contextvars
from collections.abc import Awaitable, Callable
from typing import Generic, Self, TypeVar

import anyio
from anyio.lowlevel import checkpoint

from discussion_helper.event_loop import LoopAffinity, cancelled_from_outside, spawn
from discussion_helper.failures import Carried
from discussion_helper.waiters import Waiters

__all__ = ["LET_GO_S", "TURNS_OWED", "Background", "CancelledWithin", "isolated", "unwrapped"]

T = TypeVar("T")

LET_GO_S = 0.05
"""How long a call of a part may take to end once it was cancelled, before its caller goes on without it."""
TURNS_OWED = 10
"""Rounds of the event loop that a task gets in any case before it counts as late."""


class CancelledWithin(RuntimeError):
    """A cancellation came out of a task that nobody had cancelled: something inside it was."""


def unwrapped(error: BaseException) -> BaseException:
    """The error inside exception groups of one."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


class Background(Generic[T]):
    """Runs `main()` once, beside its caller, on asyncio or trio.

    A task that swallows its cancellation cannot be killed in Python; `stop` then gives up on it after
    its limit and says so, and the event loop's own end takes it down. Until then anyio cancels it again
    at every turn of an asyncio loop, which costs CPU.
    """

    def __init__(
        self,
        main: Callable[[], Awaitable[T]],
        *,
        name: str = "background",
        shield: bool = False,
        context: contextvars.Context | None = None,
    ) -> None:
        """`shield`: the end of the event loop does not cut it short on trio; on asyncio nothing can keep that off.

        `context`: what the task's context variables are; without it, a copy of the starter's.
        """
        self._main = main
        self._name = name
        self._shield = shield
        self._context = context
        self._scope: anyio.CancelScope | None = None  # made by the task: there may be no event loop yet
        self._cancelled = False
        self._over = False
        self._news = Waiters()
        self._outcome: list[T] = []
        self._error: BaseException | None = None
        self._task: object = None  # asyncio keeps only weak references to its tasks
        self._affinity: LoopAffinity | None = None
        self.started = False

    @property
    def running(self) -> bool:
        """Started and not finished."""
        return self.started and not self._over

    @property
    def cancelled(self) -> bool:
        """Whether it was asked to end."""
        return self._cancelled

    @property
    def error(self) -> BaseException | None:
        """What it failed with, unwrapped."""
        return self._error

    @property
    def result(self) -> T | None:
        """What it returned; None before that."""
        return self._outcome[0] if self._outcome else None

    def start(self) -> Self:
        """Begin. Raises RuntimeError off a running event loop, or the second time; then nothing was started."""
        if self.started:
            raise RuntimeError(f"{self._name} was started before; make a new one")
        self._task, self._affinity = spawn(self._run, self._name, self._context), LoopAffinity()
        self.started = True
        return self

    async def _run(self) -> None:
        try:
            with anyio.CancelScope(shield=self._shield) as self._scope:
                if not self._cancelled:
                    self._outcome.append(await self._main())
        except anyio.get_cancelled_exc_class() as cancellation:
            self._explain(cancellation)
        except BaseException as error:  # kept for wait()
            failure = unwrapped(error)
            if isinstance(failure, anyio.get_cancelled_exc_class()):
                self._explain(failure)
            else:
                self._error = failure
        finally:
            self._over = True
            self._news.wake()

    def _explain(self, cancellation: BaseException) -> None:
        """A cancellation that came through: ours, dressed differently; the event loop's, which goes on; or none."""
        if self._cancelled:
            return
        if cancelled_from_outside():
            raise cancellation
        self._error = CancelledWithin(f"{self._name} was cancelled from within")
        self._error.__cause__ = cancellation

    async def finished(self) -> None:
        """Wait for the end, however it ends. Cancelling this wait leaves the task running."""
        if not self.started:
            raise RuntimeError(f"{self._name} was not started; call start() first")
        self.check_here()
        if self._over:
            await checkpoint()
        while not self._over:
            await self._news.wait()

    async def ending(self) -> None:
        """Wait until it ends, or is asked to."""
        while self.running and not self._cancelled:
            await self._news.wait()

    async def ends(self, *, within_s: float) -> bool:
        """Wait for the end at most `within_s` seconds, shielded. False = it is still running."""
        if self._over:
            return True
        with anyio.move_on_after(within_s, shield=True):
            await self.finished()
        with anyio.CancelScope(shield=True):  # time in which the event loop was held up is not the task's
            for _ in range(TURNS_OWED):
                if self.running:
                    await checkpoint()
        return not self.running

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
        self.check_here()
        self._cancelled = True
        if self._scope is not None:
            self._scope.cancel()
        self._news.wake()

    async def stop(self, *, within_s: float) -> bool:
        """Cancel, and wait for the end at most `within_s` seconds, shielded. False = it is still running."""
        self.cancel()
        return await self.ends(within_s=within_s)

    def check_here(self) -> None:
        """Raises RuntimeError in another thread or on another event loop than a running task's own.

        Waiting there would never end: event loops do not wake each other.
        """
        if self.running and self._affinity is not None:
            self._affinity.check(self._name)


async def isolated(call: Callable[[], Awaitable[T]], *, name: str, within_s: float = LET_GO_S) -> T:
    """Await a call of a part in a task of its own, so that nothing it does with cancellation reaches the caller.

    A call that does not end within `within_s` of being cancelled is left behind. One that lets out a cancellation
    of its own raises CancelledWithin, one that raises what is no Exception Carried. Otherwise it is `await call()`.
    """
    calling = Background(call, name=name).start()
    try:
        await calling.finished()
    except BaseException:
        await calling.stop(within_s=within_s)
        if calling.error is None:
            raise
    error = calling.error
    if error is not None:
        raise error if isinstance(error, Exception) else Carried(error)
    return await calling.wait()
