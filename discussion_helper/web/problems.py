"""What goes wrong with a request, as an answer: a status, what happened, and the fix."""

import logging
from collections.abc import Callable, Mapping

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discussion_helper.errors import DiscussionError, SettingError
from discussion_helper.text.errors import (
    EventDroppedError,
    SessionClosedError,
    SessionNotFoundError,
    ThreadCorruptError,
    ThreadNotFoundError,
)
from discussion_helper.web.encoding import Answer

__all__ = ["Catching", "Problem", "answer_of", "answer_to_error", "answer_to_http"]

_STATUSES: Mapping[type[DiscussionError], int] = {
    SettingError: 422,
    ThreadNotFoundError: 404,
    SessionNotFoundError: 404,
    SessionClosedError: 409,
    EventDroppedError: 409,
    ThreadCorruptError: 500,
}
"""The others, as a model or a device that is missing, are a 503."""
_log = logging.getLogger(__name__)


class Problem(DiscussionError):
    """A request that cannot be answered as it is meant."""

    def __init__(self, status: int, what: str, *, fix: str = "") -> None:
        super().__init__(what, fix=fix)
        self.status = status


def answer_of(status: int, what: str, fix: str, headers: Mapping[str, str] | None = None) -> Answer:
    """The JSON of every error."""
    return Answer({"error": what, "fix": fix}, status_code=status, headers=headers)


async def answer_to_error(_: Request, error: Exception) -> Answer:
    """What the package raises."""
    if isinstance(error, Problem):
        return answer_of(error.status, error.what, error.fix)
    assert isinstance(error, DiscussionError)
    status = next((_STATUSES[kind] for kind in type(error).__mro__ if kind in _STATUSES), 503)
    return answer_of(status, error.what, error.fix)


async def answer_to_http(request: Request, error: Exception) -> Answer:
    """What Starlette raises: no such route, or not with this method."""
    assert isinstance(error, HTTPException)
    allowed, headers = _methods_at(request), error.headers
    if error.status_code == 405:
        headers = {**(headers or {}), "Allow": allowed}
    known = {
        404: ("There is nothing at this address.", "Use /health, /sessions, /sessions/ID/events or /threads."),
        405: ("This address does not know that method.", f"Use {allowed}."),
    }
    what, fix = known.get(error.status_code, (str(error.detail), ""))
    return answer_of(error.status_code, what, fix, headers)


def _methods_at(request: Request) -> str:
    """Of every route at this address; Starlette names those of the first one only."""
    found: set[str] = set()
    for route in request.app.routes:
        if isinstance(route, Route) and route.matches(request.scope)[0] is not Match.NONE:
            found |= route.methods or set()
    return ", ".join(sorted(found))


class Catching:
    """ASGI: what nobody expected goes to the log, and out as a 500 that says nothing of the inside."""

    def __init__(self, app: ASGIApp, *, failed: Callable[[], object] | None = None) -> None:
        """`failed` is called each time."""
        self._app = app
        self._tell_failed = failed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def note(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, note)
        except Exception:
            if scope["type"] != "http":
                raise
            _log.exception("a request failed: %s %s", scope["method"], scope["path"])
            if self._tell_failed is not None:
                self._tell_failed()
            if not begun:
                answer = answer_of(500, "The server failed at this request.", "See the server's log.")
                await answer(scope, receive, send)
