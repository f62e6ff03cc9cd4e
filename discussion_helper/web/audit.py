"""What somebody may want to know afterwards: who opened a microphone, who was let in, who was not."""

import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

import anyio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from discussion_helper.background import LET_GO_S, Background
from discussion_helper.session import Session
from discussion_helper.web.encoding import Answer
from discussion_helper.web.entries import Entries

__all__ = ["LONGEST", "NAME", "Audit", "Microphone"]

LONGEST = 200
"""Characters of what a client says of itself."""
NAME = "discussion_helper.audit"
"""Of the log: one line for each entry, at the level INFO."""
_STATES: Mapping[str, bool] = {"open": True, "muted": False, "lost": False}
"""Of a microphone; True = it hears."""
_log = logging.getLogger(NAME)


class Audit:
    """The last entries, the newest first, and a line of the log for each. No token and no password is in any."""

    def __init__(self) -> None:
        self._entries = Entries()
        self._remote: dict[str, Microphone] = {}
        self.routes = [Route("/audit", self._list, methods=["GET"])]

    def note(self, kind: str, **details: str | None) -> None:
        """Something happened. What is None is left out; the others are cut to LONGEST characters of one line."""
        told = {name: _line(text) for name, text in details.items() if text is not None}
        self._entries.add({"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "kind": kind, **told})
        _log.info("%s%s", kind, "".join(f" {name}={text}" for name, text in told.items()))

    @property
    def entries(self) -> list[Mapping[str, Any]]:
        """The newest first."""
        return self._entries.newest_first

    @asynccontextmanager
    async def local(self, opening: AbstractAsyncContextManager[Session], by: str) -> AsyncIterator[Session]:
        """What `opening` gives: a session on this machine's microphone, which is open meanwhile; `by` asked for it."""
        microphone = None
        try:
            async with opening as session:
                microphone = Microphone(self, where="local", session=session.id, by=by)
                microphone.is_now(True)
                following = Background(partial(microphone.follow, session), name="the audit of a microphone").start()
                try:
                    yield session
                finally:
                    await following.stop(within_s=LET_GO_S)
        finally:
            if microphone is not None:
                microphone.is_now(False)

    @contextmanager
    def remote(self, session_id: str, by: str, name: str) -> Iterator["Microphone"]:
        """That of a client, which has the session's place inside the block: closed there, `by` whom it is."""
        microphone = Microphone(self, where="remote", session=session_id, by=by, name=name)
        self._remote[session_id] = microphone
        try:
            yield microphone
        finally:
            microphone.is_now(False)
            if self._remote.get(session_id) is microphone:  # else another client has taken it
                del self._remote[session_id]

    def muted(self, session_id: str, on: bool, by: str) -> None:
        """Somebody beside its client closed the microphone of a session at one, or opened it again."""
        if (microphone := self._remote.get(session_id)) is not None:
            microphone.is_now(not on, by=by)

    async def _list(self, _: Request) -> Response:
        return Answer(self.entries)


class Microphone:
    """Of one session: this machine's, opened and closed as the session tells, or a client's. Closed at first."""

    def __init__(self, audit: Audit, **about: str) -> None:
        """`about`: what stands in each entry."""
        self._audit = audit
        self._about = about
        self._is_open = False

    def is_now(self, is_open: bool, **other: str) -> None:
        """Note it, if it is news. `other`: of this entry alone, in the place of what stands in each."""
        if is_open is not self._is_open:
            self._is_open = is_open
            self._audit.note("microphone_opened" if is_open else "microphone_closed", **(self._about | other))

    async def follow(self, session: Session) -> None:
        """Until the session ends."""
        events = session.events("device")
        try:
            async for event in events:
                state = _STATES.get(event.data.get("state", ""))
                if state is not None and event.data.get("which") == "microphone":
                    self.is_now(state)
        finally:
            with anyio.CancelScope(shield=True):
                await events.aclose()


def _line(text: str) -> str:
    """Nobody writes a second line into the log."""
    return "".join(sign if sign.isprintable() else "?" for sign in text[:LONGEST])
