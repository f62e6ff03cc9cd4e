"""Which sessions write to a stored thread: who else may, and whether it may be deleted."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from discussion_helper.registry import Sessions
from discussion_helper.text.stream import Stream
from discussion_helper.web.problems import Problem

__all__ = ["Writers"]


class Writers:
    """One session by voice at a time, and the one in writing; while it has any, a thread is not deleted."""

    def __init__(self, sessions: Sessions[Any]) -> None:
        self._sessions = sessions
        self._opening: Counter[str] = Counter()
        self._speaking: set[str] = set()
        self._deleting: set[str] = set()

    @contextmanager
    def opening(self, thread_id: str | None, *, by_voice: bool) -> Iterator[None]:
        """While a session on that thread, if on any, is opened. Raises Problem."""
        if thread_id is None:
            yield
            return
        if thread_id in self._deleting:
            raise Problem(409, "This thread is being deleted.", fix="Leave thread_id out.")
        if by_voice:
            self._check_silent(thread_id)
            self._speaking.add(thread_id)
        self._opening[thread_id] += 1
        try:
            yield
        finally:
            self._opening -= Counter([thread_id])
            if by_voice:
                self._speaking.discard(thread_id)

    @contextmanager
    def deleting(self, thread_id: str) -> Iterator[None]:
        """While that thread is deleted. Raises Problem where a session is open on it, of whatever kind."""
        for session in self._of(thread_id):
            raise Problem(409, "A session is open on this thread.", fix=f"DELETE /sessions/{session.id} first.")
        if self._opening[thread_id] or thread_id in self._deleting:
            raise Problem(409, "This thread is being opened or deleted.", fix="Try again in a moment.")
        self._deleting.add(thread_id)
        try:
            yield
        finally:
            self._deleting.discard(thread_id)

    def _check_silent(self, thread_id: str) -> None:
        """Two that answer the same words by voice would each know half of what was said."""
        for session in self._of(thread_id):
            if not isinstance(session, Stream):
                fix = f"Go on in that one, or DELETE /sessions/{session.id} first."
                raise Problem(409, "A session by voice is open on this thread.", fix=fix)
        if thread_id in self._speaking:
            raise Problem(409, "A session by voice is being opened on this thread.", fix="Look at GET /sessions.")

    def _of(self, thread_id: str) -> Iterator[Any]:
        for session in map(self._sessions.get, self._sessions.ids()):
            if session is not None and thread_id in (session.id, getattr(session, "kept_in", "")):
                yield session
