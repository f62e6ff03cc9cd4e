"""The worker of one stream: takes queued events one by one, and sees each of them through to its end."""

import logging
from collections.abc import Awaitable, Callable
from contextvars import ContextVar

import anyio

from discussion_helper.background import Background, CancelledWithin
from discussion_helper.text.artifacts import Text
from discussion_helper.text.errors import ProcessError, SaveError, TurnCancelledError, UnsupportedEventError
from discussion_helper.text.inbox import Inbox, Item
from discussion_helper.text.inputs import InterruptEvent, UserMessageEvent
from discussion_helper.text.outputs import ErrorEvent, Phase
from discussion_helper.text.providers.base import Provider
from discussion_helper.text.state import State
from discussion_helper.text.step import Step
from discussion_helper.text.threads.base import Thread, ThreadStore
from discussion_helper.text.threads.handle import ThreadHandle
from discussion_helper.text.threads.shelf import GoneError

__all__ = ["LET_GO_S", "SAVE_LIMIT_S", "TurnProcessor", "Worker"]

LET_GO_S = 5.0
"""How long a cancelled turn may take to wind down, before the stream goes on without it."""
SAVE_LIMIT_S = 5.0
"""How long saving may take, also when the stream is closing."""

TurnProcessor = Callable[[Step, State, Provider], Awaitable[object]]
"""Answers what is in the state, to the end of the whole pipeline, tools included. Must not swallow cancellation."""

_PROCESSING: ContextVar[frozenset[str]] = ContextVar("threads whose turn this code is part of", default=frozenset())
_log = logging.getLogger(__name__)


class Worker:
    """`run` is a task of its stream. An event that fails fails alone; what ends the task answers everybody."""

    def __init__(
        self,
        thread: Thread,
        step: Step,
        provider: Provider,
        processor: TurnProcessor,
        store: ThreadStore,
        *,
        inbox: Inbox,
        on_phase: Callable[[Phase], object],
    ) -> None:
        """`on_phase` is told of the phases of every event."""
        self._handle = ThreadHandle(store, thread)
        self._step = step
        self._provider = provider
        self._processor = processor
        self._inbox = inbox
        self._on_phase = on_phase
        self._acting = step
        self._turn: Background[bool] | None = None
        self.item: Item | None = None
        """What is being processed."""

    @property
    def thread(self) -> Thread:
        """As the store knows it."""
        return self._handle.thread

    def is_here(self) -> bool:
        """Whether the calling code is part of a turn of this worker, and must not wait for its end."""
        return self.thread.id in _PROCESSING.get()

    async def run(self) -> None:
        """Process events until the inbox is closed, or the thread was deleted: nothing in it could be kept."""
        while await self._process():
            self.item = None
        self.item = None

    def cancel(self) -> None:
        """Cancel the turn that runs, if one does."""
        if self._turn is not None and self.item is not None:
            self._turn.cancel()

    async def _process(self) -> bool:
        """See the next event through; False when no other one follows."""
        # The task of the turn is there before its event: no wake-up of this one comes between them.
        self._turn = Background(self._next, name="a turn").start()
        error = await self._outcome(self._turn)
        item, self._turn = self.item, None
        if item is None:
            return False
        self._acting.over = True
        error = await self._saved(error)
        await self._tell_end(self._step.within(item.context, on_phase=self._on_phase), error)
        item.answer(error if error is None or isinstance(error, ProcessError) else ProcessError(error))
        return not isinstance(error, GoneError)

    async def _next(self) -> bool:
        """True when it ended by itself."""
        _PROCESSING.set(_PROCESSING.get() | {self.thread.id})
        item = await self._inbox.next()
        if item is not None:
            # Nothing is awaited between taking the item and here: whoever cancels finds the turn.
            self.item = item
            self._acting = self._step.within(item.context, record=self._handle.append, on_phase=self._on_phase)
            await self._act(item, self._acting)
        return True

    async def _act(self, item: Item, step: Step) -> None:
        match item.event:
            case UserMessageEvent(content):
                await step.submit(self.thread.state, "user", Text(content))
                await self._processor(step, self.thread.state, self._provider)
            case InterruptEvent():
                pass
            case event:
                raise UnsupportedEventError(event.kind)

    async def _outcome(self, turn: Background[bool]) -> BaseException | None:
        """What the turn failed with; TurnCancelledError when it was cancelled and did not end well all the same."""
        try:
            await turn.ending()
            if not await turn.ends(within_s=LET_GO_S):
                _log.warning("a turn of thread %s does not let go; it is left behind", self.thread.id)
        except BaseException:  # the event loop ends
            turn.cancel()
            raise
        if turn.error is not None and not (turn.cancelled and isinstance(turn.error, CancelledWithin)):
            return turn.error
        return None if turn.result else TurnCancelledError()

    async def _saved(self, error: BaseException | None) -> BaseException | None:
        failure = SaveError(f"save thread: it took longer than {SAVE_LIMIT_S:g} s.", fix="See to the store.")
        with anyio.move_on_after(SAVE_LIMIT_S, shield=True):
            try:
                await self._handle.save()
                return error
            except Exception as cause:
                failure = SaveError(f"save thread: {cause}")
                failure.__cause__ = cause
        if error is not None:
            error.add_note(str(failure))
        return error or failure

    async def _tell_end(self, step: Step, error: BaseException | None) -> None:
        if isinstance(error, TurnCancelledError):
            step.waits = False  # who wants it to stop is not to wait for a watcher who does not read
            await step.phase("cancelled")
        elif error is not None:
            await step.emit(ErrorEvent(error, step.context, step.clock.now()))
        await step.phase("done")
