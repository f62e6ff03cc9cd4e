"""Threads that outlive the process: what the stores on disk have in common."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Self
from weakref import WeakKeyDictionary, WeakValueDictionary

import anyio

from discussion_helper.errors import SettingError
from discussion_helper.text.errors import SaveError, ThreadCorruptError, ThreadNotFoundError
from discussion_helper.text.state import State, Turn
from discussion_helper.text.threads.base import (
    Thread,
    ThreadInfo,
    checked_id,
    checked_metadata,
    info_of,
    is_storable,
    new_id,
    requested_id,
)
from discussion_helper.text.threads.codec import dumped, turn_data
from discussion_helper.text.threads.shelf import GoneError, Loaded, LostError, OvertakenError, Shelf
from discussion_helper.text.threads.writer import Writer

__all__ = ["DurableThreads"]

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Kept:
    """What is durable of a thread in memory."""

    turns: int
    metadata: dict[str, str]
    encoded: list[bytes] = field(default_factory=list)


class DurableThreads:
    """A `ThreadStore` over a `Shelf`. `async with` opens it; used otherwise, every method raises RuntimeError.

    A thread is in memory as long as somebody holds it, and whoever asks for it then gets the same object.
    """

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf
        self._writer: Writer | None = None
        self._live: WeakValueDictionary[str, Thread] = WeakValueDictionary()
        self._kept: WeakKeyDictionary[Thread, _Kept] = WeakKeyDictionary()
        self._alone: WeakValueDictionary[str, anyio.Lock] = WeakValueDictionary()
        self._warned: set[str] = set()

    @property
    def problems(self) -> dict[str, str]:
        """What was found to be unreadable so far, by its name, and why; `list` and `find` look at everything."""
        return dict(self._shelf.problems)

    # -- open and closed

    async def __aenter__(self) -> Self:
        """Raises StoreBusyError, SaveError and ThreadCorruptError."""
        if self._writer is not None:
            raise RuntimeError("the store is open")
        self._writer = Writer()
        try:
            await self._writer.run(self._shelf.open)
        except BaseException:
            await self.aclose()
            raise
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """See ThreadStore. What was begun is finished first."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with anyio.CancelScope(shield=True):
                await writer.run(self._shelf.close)
            self._live.clear()
            self._kept.clear()

    def _running(self) -> Writer:
        if self._writer is None:
            raise RuntimeError("the store is not open; use it inside `async with`")
        return self._writer

    def _lock(self, thread_id: str) -> anyio.Lock:
        """Held while a thread comes into memory, or goes."""
        return self._alone.setdefault(thread_id, anyio.Lock())

    # -- coming and going

    async def create(self, *, thread_id: str | None = None, metadata: dict[str, str] | None = None) -> Thread:
        """See ThreadStore."""
        wanted = new_id() if thread_id is None else requested_id(thread_id)
        thread = Thread(wanted, metadata=checked_metadata(metadata or {}))
        lock = self._lock(thread.id)
        async with lock:
            if not await self._running().run(partial(self._shelf.create, info_of(thread))):
                raise SettingError(f"thread_id: {thread.id} is taken.", fix="Use another one, or none.")
            self._keep(thread, [])
        return thread

    async def get(self, thread_id: str) -> Thread:
        """See ThreadStore."""
        lock = self._lock(checked_id(thread_id))
        async with lock:
            held = self._live.get(thread_id)
            if held is not None:
                return held
            try:
                loaded = await self._running().run(partial(self._shelf.load, thread_id))
            except ThreadCorruptError:
                self._warn()
                raise
            if loaded is None:
                raise ThreadNotFoundError(thread_id)
            return self._kept_as_loaded(loaded)

    def _kept_as_loaded(self, loaded: Loaded) -> Thread:
        info = loaded.info
        thread = Thread(info.id, State(loaded.turns), info.created_at, info.updated_at, dict(info.metadata))
        self._keep(thread, loaded.encoded)
        return thread

    def _keep(self, thread: Thread, encoded: list[bytes]) -> None:
        self._kept[thread] = _Kept(len(thread.state), dict(thread.metadata), encoded)
        self._live[thread.id] = thread

    def _let_go(self, thread: Thread | None) -> None:
        if thread is not None:
            self._kept.pop(thread, None)
            if self._live.get(thread.id) is thread:
                del self._live[thread.id]

    async def delete(self, thread_id: str) -> bool:
        """See ThreadStore."""
        try:
            lock = self._lock(checked_id(thread_id))
        except ThreadNotFoundError:
            return False
        async with lock:
            held = self._live.get(thread_id)
            async with held.lock if held is not None else anyio.Lock():
                delete = partial(self._shelf.delete, thread_id)
                return await self._running().run(delete, then=lambda _: self._let_go(held))

    # -- writing

    async def append(self, thread: Thread, turn: Turn) -> None:
        """See ThreadStore."""
        async with thread.lock:
            await self._write(thread, (turn,))

    async def save(self, thread: Thread) -> None:
        """See ThreadStore."""
        async with thread.lock:
            kept = self._kept_of(thread)
            if len(thread.state) > kept.turns or thread.metadata != kept.metadata:
                await self._write(thread, ())

    def _kept_of(self, thread: Thread) -> _Kept:
        self._running()
        kept = self._kept.get(thread)
        if kept is None:
            what = f"Thread {thread.id} is not this store's any more: deleted, or changed by another process."
            raise LostError(what, fix="Open it again, in one process at a time.")
        return kept

    async def _write(self, thread: Thread, new: tuple[Turn, ...]) -> None:
        """Make durable what is only in memory, and then `new`; memory gets `new` behind that."""
        kept = self._kept_of(thread)
        late = thread.state.since(kept.turns)
        encoded = self._encoded(thread, (*late, *new), kept.turns)
        info = self._changed(thread)

        def is_durable(_: None) -> None:
            kept.turns += len(late)
            for turn in new:
                thread.state.insert(kept.turns, turn)
                kept.turns += 1
            kept.metadata, thread.updated_at = info.metadata, info.updated_at
            if self._shelf.whole:
                kept.encoded += encoded

        wanted = (0, [*kept.encoded, *encoded]) if self._shelf.whole else (kept.turns, encoded)
        try:
            await self._running().run(partial(self._shelf.write, info, *wanted), then=is_durable)
        except (GoneError, OvertakenError):
            self._let_go(thread)
            raise

    def _encoded(self, thread: Thread, turns: Sequence[Turn], start: int) -> list[bytes]:
        try:
            return [dumped(turn_data(turn, f"turns[{start + n}]")) for n, turn in enumerate(turns)]
        except SettingError as cause:
            raise SaveError(f"Thread {thread.id}: {cause.what}", fix=cause.fix) from cause

    def _changed(self, thread: Thread) -> ThreadInfo:
        try:
            return ThreadInfo(thread.id, thread.created_at, datetime.now(UTC), checked_metadata(thread.metadata))
        except SettingError as cause:
            raise SaveError(f"Thread {thread.id}: {cause.what}", fix=cause.fix) from cause

    # -- looking around

    async def list(self) -> list[ThreadInfo]:
        """See ThreadStore."""
        await self._survey()
        infos = await self._running().run(self._shelf.infos)
        self._warn()
        return sorted(infos, key=lambda info: info.updated_at, reverse=True)

    async def find(self, key: str, value: str) -> Thread | None:
        """See ThreadStore."""
        if not is_storable(key) or not is_storable(value):
            return None
        await self._survey()
        found = await self._running().run(partial(self._shelf.find, key, value))
        try:
            return None if found is None else await self.get(found)
        except ThreadNotFoundError:  # deleted since
            return None

    async def _survey(self) -> None:
        while not await self._running().run(self._shelf.survey):
            pass  # in pieces, so that turns can be stored in between
        self._warn()

    def _warn(self) -> None:
        problems = self._shelf.problems
        for name in problems.keys() - self._warned:
            _log.warning("%s", problems[name])
        self._warned |= problems.keys()
