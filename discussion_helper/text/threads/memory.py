"""Threads in memory: they end with the process."""

from datetime import UTC, datetime
from typing import Self

from discussion_helper.errors import SettingError
from discussion_helper.text.errors import ThreadNotFoundError
from discussion_helper.text.state import Turn
from discussion_helper.text.threads.base import Thread, ThreadInfo, info_of, new_id, requested_id

__all__ = ["MemoryThreads"]


class MemoryThreads:
    """A `ThreadStore`."""

    def __init__(self) -> None:
        self._threads: dict[str, Thread] = {}

    async def create(self, *, thread_id: str | None = None, metadata: dict[str, str] | None = None) -> Thread:
        """See ThreadStore."""
        made = Thread(new_id() if thread_id is None else requested_id(thread_id), metadata=dict(metadata or {}))
        if made.id in self._threads:
            raise SettingError(f"thread_id: {made.id} is taken.", fix="Use another one, or none.")
        self._threads[made.id] = made
        return made

    async def get(self, thread_id: str) -> Thread:
        """See ThreadStore."""
        try:
            return self._threads[thread_id]
        except (KeyError, TypeError):
            raise ThreadNotFoundError(str(thread_id)[:80]) from None

    async def find(self, key: str, value: str) -> Thread | None:
        """See ThreadStore."""
        return next((thread for thread in self._threads.values() if thread.metadata.get(key) == value), None)

    async def append(self, thread: Thread, turn: Turn) -> None:
        """See ThreadStore."""
        async with thread.lock:
            thread.state.append(turn)
            thread.updated_at = datetime.now(UTC)

    async def save(self, thread: Thread) -> None:
        """See ThreadStore."""
        async with thread.lock:
            thread.updated_at = datetime.now(UTC)

    async def delete(self, thread_id: str) -> bool:
        """See ThreadStore."""
        return self._threads.pop(thread_id, None) is not None

    async def list(self) -> list[ThreadInfo]:
        """See ThreadStore."""
        return sorted(map(info_of, self._threads.values()), key=lambda info: info.updated_at, reverse=True)

    async def aclose(self) -> None:
        """Nothing to release."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()
