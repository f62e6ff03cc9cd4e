"""The manager: opens streams on stored threads, one for each thread."""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from typing import Any, Self

import anyio

from discussion_helper.event_loop import start_in
from discussion_helper.registry import Sessions
from discussion_helper.text.errors import SessionError, SessionNotFoundError
from discussion_helper.text.inbox import INBOX
from discussion_helper.text.providers.base import Provider
from discussion_helper.text.react import react
from discussion_helper.text.sinks import DRAIN_LIMIT_S, Sink, Sinks
from discussion_helper.text.step import BUFFER, Step
from discussion_helper.text.stream import Stream
from discussion_helper.text.threads.base import Thread, ThreadStore, checked_metadata, new_id
from discussion_helper.text.worker import LET_GO_S, SAVE_LIMIT_S, TurnProcessor

__all__ = ["CLOSE_LIMIT_S", "Manager", "StepFactory"]

CLOSE_LIMIT_S = LET_GO_S + SAVE_LIMIT_S + LET_GO_S + DRAIN_LIMIT_S + 1.0
"""How long closing everything may take: a turn and then a save that do not let go, and then sinks that hang."""

_MOST_UNSAID = 1000
"""Threads of closed streams in which nothing was said: the oldest is forgotten for another one."""

StepFactory = Callable[[Thread], Step | Awaitable[Step]]
"""Makes the step of one stream; called once for each."""


class Manager:
    """Wraps a registry of sessions, which may hold others too, and a store of threads.

    Leaving it as a context closes its streams; the store belongs to whoever made it.
    """

    def __init__(
        self,
        store: ThreadStore,
        provider: Provider,
        step_factory: StepFactory,
        processor: TurnProcessor = react,
        *,
        sessions: Sessions[Any] | None = None,
        buffer: int = BUFFER,
        overflow: str = "drop",
        inbox: int = INBOX,
    ) -> None:
        """`buffer`, `overflow`: of watchers who name none. `inbox`: events that may wait in one stream."""
        self.store = store
        self.sessions: Sessions[Any] = Sessions() if sessions is None else sessions
        """Where the streams are, among the other sessions."""
        self._provider = provider
        self._step_factory = step_factory
        self._processor = processor
        self._bounds: dict[str, Any] = {"buffer": buffer, "overflow": overflow, "inbox": inbox}
        self._streams: dict[str, Stream] = {}
        self._opening: dict[str, tuple[anyio.Lock, int]] = {}
        self._unsaid: dict[str, Thread] = {}
        self._sinks = Sinks()
        self._closed = False

    # -- opening

    async def create(self, *, metadata: dict[str, str] | None = None) -> Stream:
        """A stream on a new thread. Raises SaveError, and SessionError when the step cannot be made or it is closed."""
        self._check_open()
        thread = await self.store.create(metadata=metadata)
        try:
            return await self._opened(thread)
        except BaseException:
            with anyio.move_on_after(CLOSE_LIMIT_S, shield=True):
                await self.store.delete(thread.id)
            raise

    async def begin(self, *, metadata: dict[str, str] | None = None) -> Stream:
        """As `create`, of a thread that is stored with its first turn: of who says nothing nothing is kept.

        Its id is good for `attach` all the same, for as long as this manager remembers it. Raises SessionError, and
        SettingError for wrong metadata.
        """
        self._check_open()
        return await self._opened(Thread(new_id(), metadata=checked_metadata(metadata or {})), is_stored=False)

    async def stored(self, thread_id: str) -> Thread:
        """The thread; one in which nothing was said yet is stored for that. Raises as `attach`, and SaveError."""
        held, unsaid = self._streams.get(thread_id), self._unsaid.pop(thread_id, None)
        if held is not None:
            await held.keep()
        elif unsaid is not None:
            await self.store.create(thread_id=thread_id, metadata=unsaid.metadata)
        return await self.store.get(thread_id)

    async def attach(self, thread_id: str, *, metadata: dict[str, str] | None = None) -> Stream:
        """The open stream of a stored thread, or a new one; only one for however many ask at the same time.

        `metadata`: added to that of a thread that is not open; what is stored has it from the next turn on.
        Raises ThreadNotFoundError, ThreadCorruptError, and SessionError when the step cannot be made.
        """
        async with self._alone(thread_id):
            self._check_open()
            held = self._streams.get(thread_id)
            if held is not None and held.open:
                return held
            if held is not None:
                await held.wait()  # two writers on one thread there must not be
            thread = self._unsaid.get(thread_id) or await self.store.get(thread_id)
            thread.metadata.update(metadata or {})
            return await self._opened(thread, is_stored=thread_id not in self._unsaid)

    async def _opened(self, thread: Thread, *, is_stored: bool = True) -> Stream:
        step = await self._step_for(thread)
        self._check_open()
        options: dict[str, Any] = {"closed": self._forget, "is_stored": is_stored, **self._bounds}
        stream = Stream(thread, step, self._provider, self._processor, self.store, **options)
        self._unsaid.pop(thread.id, None)
        self.sessions.add(stream)
        self._streams[thread.id] = stream
        self._sinks.follow(stream)
        return stream.start()

    async def _step_for(self, thread: Thread) -> Step:
        try:
            made = self._step_factory(thread)
            step = await made if inspect.isawaitable(made) else made
        except Exception as cause:
            raise SessionError(f"create step: {cause}") from cause
        if not isinstance(step, Step):
            raise SessionError(f"create step: the factory gave {step!r}.", fix="Have it return a Step.")
        return step

    def _check_open(self) -> None:
        if self._closed:
            raise SessionError("The manager is closed.", fix="Make another one.")

    @asynccontextmanager
    async def _alone(self, thread_id: str) -> AsyncIterator[None]:
        lock, users = self._opening.get(thread_id, (anyio.Lock(), 0))
        self._opening[thread_id] = lock, users + 1
        try:
            async with lock:
                yield
        finally:
            _, users = self._opening[thread_id]
            if users == 1:
                del self._opening[thread_id]
            else:
                self._opening[thread_id] = lock, users - 1

    def _forget(self, stream: Stream) -> None:
        if self._streams.get(stream.id) is stream:
            del self._streams[stream.id]
        if not stream.is_stored:
            self._unsaid[stream.id] = stream.thread
            if len(self._unsaid) > _MOST_UNSAID:
                del self._unsaid[next(iter(self._unsaid))]

    # -- those that are open

    def get(self, session_id: str) -> Stream:
        """An open stream. Raises SessionNotFoundError."""
        stream = self._streams.get(session_id)
        if stream is None or not stream.open:
            raise SessionNotFoundError(session_id)
        return stream

    def list(self) -> list[Stream]:
        """The open ones, in the order in which they were opened."""
        return [stream for stream in self._streams.values() if stream.open]

    def register_sink(self, kinds: Collection[str], sink: Sink) -> Callable[[], None]:
        """Have `sink(stream_id, event)` called for these kinds (none = all) of every stream, from here on.

        Returns its remover, which is idempotent. A sink may be a plain or an async function.
        """
        return self._sinks.register(kinds, sink, tuple(self._streams.values()))

    async def drain_sinks(self) -> None:
        """Wait until the sinks have had what the streams have given so far."""
        await self._sinks.drain()

    # -- closing

    async def close(self, session_id: str) -> None:
        """Close a stream; its thread stays stored. Raises SessionNotFoundError, also the second time."""
        await self.get(session_id).aclose()

    async def aclose(self) -> None:
        """Close all streams at the same time, and open no more; idempotent.

        Raises RuntimeError in another thread or on another event loop than theirs; they stay open then.
        """
        for stream in self._streams.values():
            stream.check_here()
        self._closed = True
        async with anyio.create_task_group() as tasks:
            for stream in tuple(self._streams.values()):
                start_in(tasks, stream.aclose)
        await self._sinks.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        with anyio.move_on_after(CLOSE_LIMIT_S, shield=True):
            await self.aclose()
