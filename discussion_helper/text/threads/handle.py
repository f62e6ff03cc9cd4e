"""A stored thread that somebody writes to, fetched anew where another process has written to it."""

from discussion_helper.text.errors import ThreadNotFoundError
from discussion_helper.text.state import Turn
from discussion_helper.text.threads.base import Thread, ThreadStore
from discussion_helper.text.threads.shelf import GoneError, LostError, OvertakenError

__all__ = ["ThreadHandle"]


class ThreadHandle:
    """`thread` is the object that the store knows."""

    def __init__(self, store: ThreadStore, thread: Thread) -> None:
        """The store stays open for as long as this is used."""
        self._store = store
        self.thread = thread

    async def append(self, turn: Turn) -> None:
        """Make a turn durable. What another process wrote before a user's turn is then in the state too.

        The turn of an agent that was answering something else meanwhile is refused. Raises SaveError, also for a
        thread that was deleted, and StoreBusyError.
        """
        try:
            await self._store.append(self.thread, turn)
        except (LostError, OvertakenError) as lost:  # nothing was written
            if turn.role != "user":
                raise
            try:
                self.thread = await self._store.get(self.thread.id)
            except ThreadNotFoundError:
                raise GoneError(f"Thread {self.thread.id} was deleted.", fix="Make a new one.") from lost
            await self._store.append(self.thread, turn)

    async def save(self) -> None:
        """Make durable whatever of it is not. Raises SaveError and StoreBusyError."""
        await self._store.save(self.thread)
