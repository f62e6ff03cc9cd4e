"""A text stream: one thread, one queue of events, and the handle on the worker that processes them in order."""

from collections.abc import Callable
from contextvars import Context
from typing import Any, Self

import anyio

from discussion_helper.background import Background
from discussion_helper.event import Event
from discussion_helper.event_loop import LoopAffinity
from discussion_helper.events import EventHub, Subscription
from discussion_helper.text.errors import EventDroppedError, SessionClosedError
from discussion_helper.text.inbox import INBOX, Inbox, Item
from discussion_helper.text.inputs import InputEvent, InterruptEvent
from discussion_helper.text.outputs import ClosedEvent, OutputEvent, Phase, check_output, stamped
from discussion_helper.text.providers.base import Provider
from discussion_helper.text.step import BUFFER, Step
from discussion_helper.text.subscriptions import Subscriptions
from discussion_helper.text.threads.base import Thread, ThreadStore
from discussion_helper.text.transcript import Transcript
from discussion_helper.text.worker import TurnProcessor, Worker
from discussion_helper.title import title_of
from discussion_helper.types import Conversation, Floor
from discussion_helper.waiters import Waiters

__all__ = ["Stream"]


class Stream:
    """A `Running`: what waits, runs, and is told. For the event loop's thread.

    An event that fails fails alone. Cancelling a caller of `process` ends its wait and nothing else.
    """

    def __init__(
        self,
        thread: Thread,
        step: Step,
        provider: Provider,
        processor: TurnProcessor,
        store: ThreadStore,
        *,
        inbox: int = INBOX,
        buffer: int = BUFFER,
        overflow: str = "drop",
        closed: Callable[["Stream"], object] | None = None,
        is_stored: bool = True,
    ) -> None:
        """`inbox`: events that may wait. `buffer`, `overflow`: of watchers who name none. `closed` is told of the end.

        `is_stored`: the thread is; else its first turn stores it.
        Raises SettingError for an overflow other than "drop" and "block", RuntimeError for a step that has a stream.
        """
        self._subscriptions = Subscriptions(step.hub, buffer, overflow)
        self._step = step.claimed()
        self._tell_closed = closed
        self._inbox = Inbox(thread.id, capacity=inbox)
        self._worker = Worker(
            *(thread, step, provider, processor, store),
            inbox=self._inbox,
            on_phase=self._note_phase,
            attend=self._attend,
            lost=self._end,
            is_stored=is_stored,
        )
        self._working: Background[None] | None = None
        self._affinity: LoopAffinity | None = None  # known at its first use: there may be no event loop yet
        self._ended = False
        self._news = Waiters()
        self._closing = False
        self._transcript = Transcript()
        self.started = False

    @property
    def thread(self) -> Thread:
        """As the store knows it: another object once another process has written to it."""
        return self._worker.thread

    @property
    def is_stored(self) -> bool:
        """One in which nothing was said yet may not be."""
        return self._worker.is_stored

    async def keep(self) -> None:
        """Store the thread, if it is not. Raises SaveError."""
        await self._worker.keep()

    @property
    def id(self) -> str:
        """The thread's."""
        return self._worker.thread.id

    @property
    def ended(self) -> bool:
        """Closed, and everything released."""
        return self._ended

    @property
    def open(self) -> bool:
        """Takes events: nobody has asked for its end."""
        return not self._closing

    @property
    def busy(self) -> bool:
        """An event is being processed."""
        return self._worker.item is not None

    @property
    def hub(self) -> EventHub[OutputEvent]:
        """Where its output is published: to follow it in another form, or to resume."""
        return self._step.hub

    @property
    def pending(self) -> int:
        """Events that wait."""
        return len(self._inbox)

    # -- a Running

    def start(self) -> Self:
        """Take events. The worker begins with the first of them and ends with the last: an idle stream has no task.

        Raises SessionClosedError, and RuntimeError off a running event loop or on another one.
        """
        self._check_open()
        if not self.started:
            self.started = True
            self._step.clock.start()
        return self

    @property
    def floor(self) -> Floor:
        """THINKING while the model is asked, SPEAKING while it answers."""
        return Floor.IDLE if self.ended else self._transcript.floor

    @property
    def conversation(self) -> Conversation:
        """The thread as a transcript."""
        return self._transcript.of(self.thread, self.floor)

    @property
    def title(self) -> str:
        """What it is called in a list, see `title_of`."""
        return title_of(self._transcript.utterances_of(self.thread, self._step.untold), self.id)

    @property
    def state(self) -> dict[str, Any]:
        """All that a watcher needs to catch up: what it was not told yet is not in it, and comes as an event.

        `live`: `agent` is what the model has said so far of a turn that is not complete, and `thinking_since_s` when it
        was asked, while nothing has come.
        """
        return {
            "id": self.id,
            "title": self.title,
            "kind": "text",
            "running": self.started and not self._closing,
            "pending": self.pending,
            "elapsed_s": round(self._step.clock.now(), 3),
            **self._transcript.of(self.thread, self.floor, self._step.untold).as_dict(),
            "live": {"agent": "".join(self._step.saying), "thinking_since_s": self._transcript.thinking_since_s},
        }

    def events(self, *kinds: str) -> Subscription[Event]:
        """Follow as any session is followed. No kinds = the coarse ones, "*" = all. Raises SettingError."""
        self._check_known_loop()
        return self._subscriptions.events(*kinds, floor=self.floor)

    async def interrupt(self) -> bool:
        """Stop what runs and forget what waits; True if there was something."""
        if self._closing or not (self.busy or self.pending):
            return False
        self.submit(InterruptEvent())
        return True

    async def stop(self) -> Conversation:
        """Close it; idempotent."""
        await self.aclose()
        return self.conversation

    async def wait(self) -> Conversation:
        """Wait for the end. Cancelling this wait never ends the stream. Raises RuntimeError inside its own turn."""
        self._refuse_own_turn("wait")
        await self._end_of_it()
        return self.conversation

    async def _end_of_it(self) -> None:
        if not self._ended:
            self.check_here()
            await self._news.wait()

    # -- events in

    def submit(self, event: InputEvent) -> None:
        """Queue an event and return at once; an InterruptEvent empties the queue and cancels the turn first.

        Raises SessionClosedError and QueueFullError; RuntimeError in another thread or on another event loop.
        """
        self.enqueue(event)

    async def process(self, event: InputEvent, *, withdraw_on_cancel: bool = False) -> None:
        """Queue an event and wait until it is over, and durable.

        Raises ProcessError with the cause chained, TurnCancelledError, EventDroppedError, SessionClosedError and
        QueueFullError; RuntimeError inside a turn of this stream, which would wait for itself. Cancelling this wait
        leaves the event where it is; `withdraw_on_cancel` takes it out if it still waits.
        """
        self._refuse_own_turn("process")
        item = self.enqueue(event)
        try:
            await item.answer_of()
        except anyio.get_cancelled_exc_class():
            if withdraw_on_cancel and self._inbox.withdraw(item):
                item.answer(EventDroppedError(event.kind))
            raise

    def _refuse_own_turn(self, call: str) -> None:
        if self._worker.is_here():
            raise RuntimeError(f"{call}() inside a turn of this stream would wait for itself; use submit()")

    def enqueue(self, event: InputEvent) -> Item:
        """`submit` for who wants to know later what becomes of it: see `Item.answer_of`."""
        self._check_open()
        item = Item.of(event)
        if isinstance(event, InterruptEvent):
            for dropped in self._inbox.take_all():
                dropped.answer(EventDroppedError(dropped.event.kind))
        self._inbox.put(item)
        if isinstance(event, InterruptEvent):
            self._worker.cancel()
        self.start()
        self._worker.begin()
        return item

    def cancel(self) -> None:
        """Cancel the running turn; what waits is processed. Nothing when idle. Raises SessionClosedError."""
        self._check_open()
        self._worker.cancel()

    def check_here(self) -> None:
        """Raises RuntimeError in another thread or on another event loop than the one of its first use."""
        if self._affinity is None:
            self._affinity = LoopAffinity()
        self._affinity.check("a stream")

    def _check_known_loop(self) -> None:
        """It can be followed before it has one."""
        if self._affinity is not None:
            self._affinity.check("a stream")

    def _check_open(self) -> None:
        self.check_here()
        if self._closing:
            raise SessionClosedError(self.id)

    # -- events out

    async def emit(self, event: OutputEvent) -> None:
        """Give any event with a kind and a context to the watchers, also while a turn runs. It changes no state.

        A checkpoint every few events, before the event is given (see `events.PACE`): a loop of emits holds up neither
        those who read nor a cancellation. Raises SettingError for what is no event; SessionClosedError, also when the
        stream closes while this waits for a watcher.
        """
        if self._affinity is None or self._closing:
            self._check_open()
        else:
            self._affinity.check("a stream")
        step, hub = self._step, self._step.hub
        if hub.sequence >= hub.pause_at or hub.waited_for:
            await self._turn_to_emit(event)
        (step.give if step.observed else hub.publish)(stamped(event, step.clock.now()))

    async def _turn_to_emit(self, event: OutputEvent) -> None:
        check_output(event)
        hub = self._step.hub
        if hub.sequence >= hub.pause_at:
            await hub.pause()
        if hub.waited_for:
            await hub.room_for(event)
        if self._closing:
            raise SessionClosedError(self.id)

    def subscribe(
        self, *kinds: str, buffer: int | None = None, overflow: str | None = None
    ) -> Subscription[OutputEvent]:
        """Follow the output from this call on. No kinds = all; an artifact's event has the artifact's kind.

        Full, it loses the newest event that tells no state of affairs ("drop"), or makes `emit` wait ("block").
        Raises SettingError for another overflow, and for a buffer below 1.
        """
        self._check_known_loop()
        return self._subscriptions.output(*kinds, buffer=buffer, overflow=overflow)

    # -- the worker

    def _attend(self) -> None:
        """Have a worker. Its context is empty: whoever submits first has no part in what comes later."""
        if self._working is None:
            self._working = Background(self._run, name="a stream's worker", context=Context()).start()

    async def _run(self) -> None:
        usable = False
        try:
            usable = await self._worker.run()
        finally:
            # Nothing is awaited since the last look into the inbox: the next event finds that there is no worker.
            self._working = None
            if self._closing or not usable:
                self._end()

    def _note_phase(self, phase: Phase) -> None:
        self._transcript.note(phase, self._step.clock.now())
        if phase in ("cancelled", "done"):
            self._step.saying.clear()

    # -- the end

    async def aclose(self) -> None:
        """Cancel the turn, wait until it has wound down and was saved, release the watchers; idempotent.

        Events that wait are answered with SessionClosedError. From inside a turn it does not wait, and its caller
        is cancelled with the turn. Raises RuntimeError in another thread or on another event loop.
        """
        if not self._ended:
            self.check_here()
        self._closing = True
        self._inbox.close()
        self._worker.cancel()  # before the release: an emit of the turn that waits is cancelled, and loses nothing
        self._step.hub.release()
        if self._worker.idle:
            self._end()
        if self._worker.is_here():
            await anyio.lowlevel.checkpoint()
        else:
            await self._end_of_it()

    def _end(self) -> None:
        if self.ended:
            return
        self._closing = True
        for item in filter(None, (self._worker.item, *self._inbox.take_all())):
            item.answer(SessionClosedError(self.id))
        self._step.hub.close(ClosedEvent(self._step.clock.now()))
        self._step.clock.stop()
        self._ended = True
        self._news.wake()
        if self._tell_closed is not None:
            self._tell_closed(self)
