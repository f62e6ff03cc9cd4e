"""Threads in memory: they end with the process."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Self

from discussion_helper.errors import SettingError
from discussion_helper.text.errors import SaveError, ThreadNotFoundError
from discussion_helper.text.state import Turn
from discussion_helper.text.threads.base import (
    Thread,
    ThreadInfo,
    checked_metadata,
    info_of,
    is_storable,
    new_id,
    requested_id,
)
from discussion_helper.text.threads.shelf import LostError

__all__ = ["MemoryThreads"]


@dataclass(slots=True)
class _Saved:
    """A thread, and what was saved of it."""

    thread: Thread
    info: ThreadInfo
    turns: int = 0


class MemoryThreads:
    """A `ThreadStore`. Needs no opening."""

    def __init__(self) -> None:
        self._threads: dict[str, _Saved] = {}

    async def create(self, *, thread_id: str | None = None, metadata: dict[str, str] | None = None) -> Thread:
        """See ThreadStore."""
        wanted = new_id() if thread_id is None else requested_id(thread_id)
        made = Thread(wanted, metadata=checked_metadata(metadata or {}))
        if made.id in self._threads:
            raise SettingError(f"thread_id: {made.id} is taken.", fix="Use another one, or none.")
        self._threads[made.id] = _Saved(made, info_of(made))
        return made

    async def get(self, thread_id: str) -> Thread:
        """See ThreadStore."""
        try:
            return self._threads[thread_id].thread
        except (KeyError, TypeError):
            raise ThreadNotFoundError(str(thread_id)[:80]) from None

    async def find(self, key: str, value: str) -> Thread | None:
        """See ThreadStore."""
        found = (saved.thread for saved in self._threads.values() if saved.info.metadata.get(key) == value)
        return next(found, None) if is_storable(key) and is_storable(value) else None

    async def append(self, thread: Thread, turn: Turn) -> None:
        """See ThreadStore."""
        saved, metadata = self._saved(thread), _storable(thread)
        thread.state.append(turn)  # nothing is awaited: nobody gets in between, and the lock is not needed
        self._note(saved, metadata)

    async def save(self, thread: Thread) -> None:
        """See ThreadStore."""
        saved = self._saved(thread)
        if len(thread.state) != saved.turns or thread.metadata != saved.info.metadata:
            self._note(saved, _storable(thread))

    def _saved(self, thread: Thread) -> _Saved:
        saved = self._threads.get(thread.id)
        if saved is None or saved.thread is not thread:
            raise LostError(f"Thread {thread.id} is not this store's any more.", fix="Get it from the store again.")
        return saved

    def _note(self, saved: _Saved, metadata: dict[str, str]) -> None:
        thread = saved.thread
        thread.updated_at = datetime.now(UTC)
        saved.turns = len(thread.state)
        saved.info = ThreadInfo(thread.id, thread.created_at, thread.updated_at, metadata)

    async def delete(self, thread_id: str) -> bool:
        """See ThreadStore."""
        return self._threads.pop(thread_id, None) is not None

    async def list(self) -> list[ThreadInfo]:
        """See ThreadStore."""
        infos = (replace(saved.info, metadata=dict(saved.info.metadata)) for saved in self._threads.values())
        return sorted(infos, key=lambda info: info.updated_at, reverse=True)

    async def aclose(self) -> None:
        """Nothing to release."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()


def _storable(thread: Thread) -> dict[str, str]:
    try:
        return checked_metadata(thread.metadata)
    except SettingError as cause:
        raise SaveError(f"Thread {thread.id}: {cause.what}", fix=cause.fix) from cause
