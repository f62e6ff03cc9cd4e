"""A thread that somebody writes to: stored with its first turn, fetched anew where another process wrote to it."""

from discussion_helper.errors import SettingError
from discussion_helper.text.errors import ThreadNotFoundError
from discussion_helper.text.state import Turn
from discussion_helper.text.threads.base import Thread, ThreadStore
from discussion_helper.text.threads.shelf import GoneError, LostError, OvertakenError

__all__ = ["ThreadHandle"]


class ThreadHandle:
    """`thread` is the object that the store knows."""

    def __init__(self, store: ThreadStore, thread: Thread, *, is_stored: bool = True) -> None:
        """The store stays open for as long as this is used. `is_stored`: it is there already."""
        self._store = store
        self.thread = thread
        self.is_stored = is_stored

    async def append(self, turn: Turn) -> None:
        """Make a turn durable. What another process wrote before a user's turn is then in the state too.

        The turn of an agent that was answering something else meanwhile is refused. Raises SaveError, also for a
        thread that was deleted, and StoreBusyError.
        """
        await self.come()
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
        """Make durable whatever of it is not; a thread without turns stays out. Raises SaveError and StoreBusyError."""
        if self.is_stored or len(self.thread.state):
            await self.come()
            await self._store.save(self.thread)

    async def come(self) -> None:
        """Into the store, with the state that others have in their hands."""
        if self.is_stored:
            return
        new = self.thread
        try:
            made = await self._store.create(thread_id=new.id, metadata=new.metadata)
        except SettingError:  # it is taken: by an earlier try, whose time was up
            made = await self._store.get(new.id)
        if not len(made.state):
            made.state = new.state
        self.thread, self.is_stored = made, True
