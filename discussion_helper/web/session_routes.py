"""/sessions: open, look at, follow, end; /events: follow which there are."""

from typing import Any

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.websockets import WebSocket

from discussion_helper.registry import Sessions
from discussion_helper.types import Conversation
from discussion_helper.web.bodies import OpeningBody, read_body
from discussion_helper.web.encoding import Answer
from discussion_helper.web.event_socket import tell_events
from discussion_helper.web.feed import Feed
from discussion_helper.web.followed import Followed
from discussion_helper.web.framing import MESSAGES, SERVER_SENT, Framing
from discussion_helper.web.listing import Listing
from discussion_helper.web.live import ALL, Live, LiveResponse
from discussion_helper.web.opening import Opener
from discussion_helper.web.origins import client_of
from discussion_helper.web.problems import Problem
from discussion_helper.web.sse import EventStream, has_all
from discussion_helper.web.states import States

__all__ = ["SessionRoutes", "session_of"]


def session_of(sessions: Sessions[Any], asked: HTTPConnection) -> Any:
    """The session that the address names, live or ended not long ago. Raises Problem."""
    session = sessions.get(asked.path_params["session_id"])
    if session is None:
        raise Problem(404, "There is no session of that id.", fix="Look at GET /sessions for those that are open.")
    return session


class SessionRoutes:
    """Handlers, and their routes."""

    def __init__(self, sessions: Sessions[Any], opener: Opener, live: Live) -> None:
        self._sessions = sessions
        self._opener = opener
        self._live = live
        self._states = States()
        self.routes: list[BaseRoute] = [
            Route("/sessions", self._list, methods=["GET"]),
            Route("/sessions", self._open, methods=["POST"]),
            Route("/sessions/{session_id}", self._show, methods=["GET"]),
            Route("/sessions/{session_id}", self._end, methods=["DELETE"]),
            Route("/sessions/{session_id}/events", self._follow, methods=["GET"]),
            WebSocketRoute("/sessions/{session_id}/events", self._tell),
            Route("/events", self._follow_all, methods=["GET"]),
            WebSocketRoute("/events", self._tell_all),
        ]

    async def _list(self, _: Request) -> Response:
        return Answer(self._sessions.ids())

    async def _open(self, request: Request) -> Response:
        session = await self._opener.open(await read_body(request, OpeningBody), by=client_of(request))
        url = f"/sessions/{session.id}"
        content = {"url": url, "events_url": f"{url}/events", **session.state}
        return Answer(content, status_code=201, headers={"Location": url})

    async def _show(self, request: Request) -> Response:
        return Answer(session_of(self._sessions, request).state)

    async def _end(self, request: Request) -> Response:
        session = session_of(self._sessions, request)
        conversation = await self._sessions.remove(session.id)
        return Answer({"id": session.id, **_transcript(conversation or await session.stop())})

    async def _follow(self, request: Request) -> Response:
        return self._events(request, *self._one(request))

    async def _follow_all(self, request: Request) -> Response:
        return self._events(request, *self._all())

    async def _tell(self, socket: WebSocket) -> None:
        await tell_events(socket, self._live, lambda: self._told(socket, *self._one(socket)))

    async def _tell_all(self, socket: WebSocket) -> None:
        await tell_events(socket, self._live, lambda: self._told(socket, *self._all()))

    def _one(self, asked: HTTPConnection) -> tuple[str, Followed]:
        """Whose events, and what is followed. Raises Problem."""
        session = session_of(self._sessions, asked)
        names = ",".join(asked.query_params.getlist("kinds"))
        kinds = [kind.strip() for kind in names.split(",") if kind.strip()]
        return session.id, Feed(session, kinds, most_bytes=self._live.limits.held_bytes)

    def _all(self) -> tuple[str, Followed]:
        return ALL, Listing(self._sessions, most_bytes=self._live.limits.held_bytes)

    def _events(self, request: Request, whose: str, followed: Followed) -> Response:
        if has_all(followed.hub, _last_id(request)):
            return Response(status_code=204)
        if request.method == "HEAD":
            return Response(media_type=EventStream.media_type)
        return LiveResponse(self._live, whose, self._stream(request, followed, SERVER_SENT))

    def _told(self, socket: WebSocket, whose: str, followed: Followed) -> tuple[str, EventStream]:
        return whose, self._stream(socket, followed, MESSAGES)

    def _stream(self, asked: HTTPConnection, followed: Followed, framing: Framing) -> EventStream:
        heartbeat_s, states = self._live.limits.heartbeat_s, self._states
        return EventStream(followed, _last_id(asked), heartbeat_s=heartbeat_s, states=states, framing=framing)


def _last_id(asked: HTTPConnection) -> str:
    """A browser's WebSocket has no headers of its own; an EventSource that comes back has one that is newer."""
    return (asked.headers.get("last-event-id") or asked.query_params.get("after", "")).strip()


def _transcript(conversation: Conversation) -> dict[str, Any]:
    return {
        "utterances": [utterance.as_dict() for utterance in conversation.utterances],
        "timings": [timing.as_dict() for timing in conversation.timings],
        "interruption_rate": conversation.interruption_rate,
    }
