"""A thread for a session in which nothing was said yet: it is stored with its first turn."""

from collections.abc import Mapping

import anyio

from discussion_helper.text.spoken import SpokenThread
from discussion_helper.text.threads.base import ThreadStore, new_id
from discussion_helper.types import Utterance

__all__ = ["NewThread"]


class NewThread:
    """Fits `discussion_helper.parts.Thread`. Of a session in which nobody says anything nothing is kept."""

    def __init__(self, store: ThreadStore, metadata: Mapping[str, str]) -> None:
        """The store stays open for as long as this is used."""
        self.id = new_id()
        self._store = store
        self._metadata = dict(metadata)
        self._spoken: SpokenThread | None = None
        self._creating = anyio.Lock()

    async def append(self, utterance: Utterance) -> None:
        """See `SpokenThread`."""
        async with self._creating:
            if self._spoken is None:
                made = await self._store.create(thread_id=self.id, metadata=self._metadata)
                self._spoken = SpokenThread(self._store, made)
        await self._spoken.append(utterance)
