"""What somebody may want to know afterwards: who opened a microphone, who was let in, who was not."""

import logging
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from discussion_helper.session import Session
from discussion_helper.web.encoding import Answer

__all__ = ["KEPT", "LONGEST", "NAME", "Audit"]

KEPT = 1000
"""Entries; older ones are in the log alone."""
LONGEST = 200
"""Characters of what a client says of itself."""
NAME = "discussion_helper.audit"
"""Of the log: one line for each entry, at the level INFO."""
_log = logging.getLogger(NAME)


class Audit:
    """The last entries, the newest first, and a line of the log for each. No token and no password is in any."""

    def __init__(self) -> None:
        self._entries: deque[Mapping[str, Any]] = deque(maxlen=KEPT)
        self.routes = [Route("/audit", self._list, methods=["GET"])]

    def note(self, kind: str, **details: str | None) -> None:
        """Something happened. What is None is left out; the others are cut to LONGEST characters of one line."""
        told = {name: _line(text) for name, text in details.items() if text is not None}
        self._entries.appendleft({"at": datetime.now(UTC).isoformat(timespec="milliseconds"), "kind": kind, **told})
        _log.info("%s%s", kind, "".join(f" {name}={text}" for name, text in told.items()))

    @property
    def entries(self) -> list[Mapping[str, Any]]:
        """The newest first."""
        return list(self._entries)

    @asynccontextmanager
    async def local(self, opening: AbstractAsyncContextManager[Session], by: str) -> AsyncIterator[Session]:
        """What `opening` gives: a session on this machine's microphone, which is open meanwhile; `by` asked for it."""
        told: dict[str, str] = {}
        try:
            async with opening as session:
                told = {"where": "local", "session": session.id, "by": by}
                self.note("microphone_opened", **told)
                yield session
        finally:
            if told:
                self.note("microphone_closed", **told)

    async def _list(self, _: Request) -> Response:
        return Answer(self.entries)


def _line(text: str) -> str:
    """Nobody writes a second line into the log."""
    return "".join(sign if sign.isprintable() else "?" for sign in text[:LONGEST])
