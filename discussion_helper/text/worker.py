"""The worker of one stream: takes queued events one by one, and sees each of them through to its end."""

import logging
from collections.abc import Awaitable, Callable
from contextvars import Context, ContextVar
from dataclasses import replace

import anyio

from discussion_helper.background import Background, CancelledWithin
from discussion_helper.event_loop import loop_ends
from discussion_helper.failures import told
from discussion_helper.text.artifacts import Text
from discussion_helper.text.errors import ProcessError, SaveError, TurnCancelledError, UnsupportedEventError
from discussion_helper.text.inbox import Inbox, Item
from discussion_helper.text.inputs import InterruptEvent, UserMessageEvent
from discussion_helper.text.outputs import ErrorEvent, LifecycleEvent, Phase
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
"""How long saving may take, also when the stream is closing; after LET_GO_S more it is left behind."""

TurnProcessor = Callable[[Step, State, Provider], Awaitable[object]]
"""Answers what is in the state, to the end of the whole pipeline, tools included. Must not swallow cancellation."""

_INSIDE: ContextVar[object] = ContextVar("the turn, or saving, that this code is part of", default=None)
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
        attend: Callable[[], object],
        lost: Callable[[], object],
        is_stored: bool = True,
    ) -> None:
        """`on_phase` is told of the phases of every event.

        `attend` is called when a turn is over or cancelled, and `run` is to see to the rest, unless it does already.
        `lost` is called when the event loop ends before that.
        """
        self._handle = ThreadHandle(store, thread, is_stored=is_stored)
        self._step = step
        self._provider = provider
        self._processor = processor
        self._inbox = inbox
        self._on_phase = on_phase
        self._attend = attend
        self._lost = lost
        self._acting = step
        self._turn: Background[bool] | None = None
        self._inside: object = None
        self._hurried = False
        self._waiting: anyio.CancelScope | None = None
        self.item: Item | None = None
        """What is being processed."""

    @property
    def thread(self) -> Thread:
        """As the store knows it."""
        return self._handle.thread

    @property
    def is_stored(self) -> bool:
        """A thread in which nothing was said yet may not be."""
        return self._handle.is_stored

    async def keep(self) -> None:
        """Store the thread, if it is not. Raises SaveError and StoreBusyError."""
        await self._handle.come()

    def is_here(self) -> bool:
        """Whether the calling code is part of the turn that runs, and must not wait for its end.

        A task that was begun in a turn which is over by now is not, nor is a stream that was first used there.
        """
        return self._inside is not None and self._inside is _INSIDE.get()

    def begin(self) -> None:
        """Start the task of the next event, if none has begun. What follows it needs another one, from its end on."""
        if self._turn is None and self.item is None:
            self._turn = Background(self._next, name="a turn", context=Context()).start()

    @property
    def idle(self) -> bool:
        """Nothing has begun."""
        return self._turn is None and self.item is None

    async def run(self) -> bool:
        """Process events until none waits; the first one has begun.

        False when no other one may follow, because the thread was deleted: nothing in it could be kept.
        """
        while True:
            usable = await self._process()
            self.item = None
            if not usable or not self._inbox.ready:
                return usable
            self.begin()

    def cancel(self) -> None:
        """Cancel the turn that runs, if one does; the rest of its event waits for no watcher."""
        if self.item is None:
            return
        self._hurried, self._acting.waits = True, False
        if self._turn is not None:
            self._turn.cancel()
            self._attend()
        if self._waiting is not None:
            self._waiting.cancel()

    async def _process(self) -> bool:
        """See the next event through; False when no other one may follow."""
        assert self._turn is not None
        error = await self._outcome(self._turn)
        item, self._turn = self.item, None
        if item is None:  # it was taken back before it began
            return True
        self._acting.over, self._inside = True, None
        try:
            error = await self._tell_end(item, await self._saved(error))
        except Exception as failure:  # no event ends the stream, whatever its parts do
            _log.exception("the end of an event of thread %s failed", self.thread.id)
            error = error or failure
        item.answer(error if error is None or isinstance(error, ProcessError) else ProcessError(error))
        return not isinstance(error, GoneError)

    async def _next(self) -> bool:
        """True when it ended by itself."""
        inside = self._enter()
        try:
            return await self._begun()
        finally:
            if self._inside is inside:  # it is not one that was left behind
                self._inside = None
                if self._turn is not None and not self._turn.cancelled:
                    (self._lost if loop_ends() else self._attend)()

    async def _begun(self) -> bool:
        item = self._inbox.take()
        if item is None:
            return True
        # Nothing is awaited between taking the item and its turn: whoever cancels finds it.
        self.item = item
        self._hurried = isinstance(item.event, InterruptEvent)  # who wants a stop waits for no watcher either
        self._acting = self._step.within(item.context, record=self._handle.append, on_phase=self._on_phase)
        await self._act(item, self._acting)
        return True

    def _enter(self) -> object:
        """What runs in this task, or is begun there, is part of the stream's work until that is over."""
        self._inside = inside = object()
        _INSIDE.set(inside)
        return inside

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
        # A task of its own: whatever it raises fails the event alone, and one that does not let go is left behind.
        saving = Background(self._save, name="saving a thread", context=Context()).start()
        if not await saving.ends(within_s=SAVE_LIMIT_S) and not await saving.stop(within_s=LET_GO_S):
            _log.warning("saving thread %s does not let go; it is left behind", self.thread.id)
        self._inside = None
        if saving.result:
            return error
        cause = saving.error
        if cause is None:
            failure = SaveError(f"save thread: it took longer than {SAVE_LIMIT_S:g} s.", fix="See to the store.")
        else:
            failure = SaveError(f"save thread: {told(cause)}")
            failure.__cause__ = cause
        if error is not None:
            error.add_note(str(failure))
        return error or failure

    async def _save(self) -> bool:
        self._enter()
        await self._handle.save()
        return True

    async def _tell_end(self, item: Item, error: BaseException | None) -> BaseException | None:
        """Tell how it ended, and that; what the event fails with then."""
        step = self._step.within(item.context, on_phase=self._on_phase)
        if isinstance(error, TurnCancelledError):
            self._hurried = True
            await self._tell(step, step.entered("cancelled"))
        elif error is not None:
            await self._tell(step, ErrorEvent(error, step.context, step.clock.now()))
        leave = await self._tell(step, step.entered("done"))
        return error or leave

    async def _tell(self, step: Step, event: LifecycleEvent | ErrorEvent) -> BaseException | None:
        """Give it to the watchers once they have room, if nobody is in a hurry; what an observer wants to end with."""
        if step.hub.waited_for and not self._hurried:
            with anyio.CancelScope() as self._waiting:
                await step.hub.room_for(event)
            self._waiting, event = None, replace(event, at_s=step.clock.now())
        try:
            step.give(event)
        except (KeyboardInterrupt, SystemExit) as leave:  # an observer's; the event loop's own comes elsewhere
            _log.exception("an observer of %s failed", event.kind)
            return leave
        return None
