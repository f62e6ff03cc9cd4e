"""/sessions/{id}/audio: a client's microphone and loudspeaker, over a WebSocket."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any
from weakref import WeakKeyDictionary

import anyio
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from discussion_helper.errors import DiscussionError
from discussion_helper.registry import Sessions
from discussion_helper.session import Session
from discussion_helper.voice.remote_talk import RemoteTalk
from discussion_helper.waiters import Waiters
from discussion_helper.web.audio_connection import AudioConnection
from discussion_helper.web.audio_wire import SUBPROTOCOL
from discussion_helper.web.audit import Audit
from discussion_helper.web.held import LEAVE_S
from discussion_helper.web.limits import raised_by
from discussion_helper.web.live import Live
from discussion_helper.web.problems import Problem, answer_of
from discussion_helper.web.upgrades import refuse

__all__ = ["RemoteTalks", "Sockets"]


class RemoteTalks:
    """The sessions that have a place for a client's microphone, by their id."""

    def __init__(self, most: int) -> None:
        """`most`: at the same time, those that are being opened with them."""
        self._most = most
        self._places: dict[object, Session | None] = {}
        self._freed = Waiters()
        self._talks: dict[str, RemoteTalk] = {}
        self._lacking: WeakKeyDictionary[Session, DiscussionError] = WeakKeyDictionary()

    def of(self, session: Session) -> RemoteTalk:
        """Raises Problem where it has no such place, or is over."""
        if (lack := self._lacking.get(session)) is not None:
            raise Problem(503, lack.what, fix=lack.fix)
        if session.id not in self._talks:
            what = "This session has no place for a client's microphone, or is over."
            raise Problem(409, what, fix='Open one with POST /sessions {"transport": "remote"}.')
        return self._talks[session.id]

    def lacks(self, session: Session, error: DiscussionError) -> None:
        """It was to have such a place, and has none for want of something."""
        self._lacking[session] = error

    @asynccontextmanager
    async def holding(self, opening: AbstractAsyncContextManager[RemoteTalk]) -> AsyncIterator[Session]:
        """The session that `opening` gives, which is among them meanwhile. Raises Problem when there are too many."""
        if not await self._has_room():
            what = f"{self._most} sessions are at a client's microphone, and no more may be."
            fix = f"Close one of them, open a text session, or raise the limit ({raised_by('remote')})."
            raise Problem(503, what, fix=fix)
        place = object()
        self._places[place] = None
        try:
            async with opening as talk:
                self._places[place] = talk.session
                self._talks[talk.session.id] = talk
                try:
                    yield talk.session
                finally:
                    del self._talks[talk.session.id]
        finally:
            del self._places[place]
            self._freed.wake()

    async def _has_room(self) -> bool:
        """What a session that is over had is waited for."""
        with anyio.move_on_after(LEAVE_S):
            while len(self._places) >= self._most and any(it is not None and it.ended for it in self._places.values()):
                await self._freed.wait()
        return len(self._places) < self._most


class Sockets:
    """The handler, and its route."""

    def __init__(self, sessions: Sessions[Any], talks: RemoteTalks, live: Live, audit: Audit) -> None:
        self._sessions = sessions
        self._talks = talks
        self._live = live
        self._audit = audit
        self.routes = [WebSocketRoute("/sessions/{session_id}/audio", self._audio)]

    async def _audio(self, socket: WebSocket) -> None:
        try:
            talk = self._talk_of(socket)
            with self._live.microphone(talk.session.id):
                await socket.accept(SUBPROTOCOL)
                await AudioConnection(socket, talk, self._live, self._audit).run()
        except Problem as problem:
            await refuse(socket, answer_of(problem.status, problem.what, problem.fix))

    def _talk_of(self, socket: WebSocket) -> RemoteTalk:
        """Raises Problem."""
        if SUBPROTOCOL not in socket.scope["subprotocols"]:
            raise Problem(400, "The subprotocol is another one.", fix=f"Ask for {SUBPROTOCOL}.")
        session = self._sessions.get(socket.path_params["session_id"])
        if session is None:
            raise Problem(404, "There is no session of that id.", fix="Look at GET /sessions for those that are open.")
        return self._talks.of(session)
