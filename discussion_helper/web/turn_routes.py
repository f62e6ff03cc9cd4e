"""/sessions/{id}/...: speak for either side, send a message and read its turn; push to talk, mute, cut, cancel."""

import secrets
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from discussion_helper.parts import TalkKey
from discussion_helper.registry import Sessions
from discussion_helper.session import Session
from discussion_helper.text.inputs import EventContext, UserMessageEvent
from discussion_helper.text.stream import Stream
from discussion_helper.web.audit import Audit
from discussion_helper.web.bodies import MessageBody, MuteBody, SayBody, SpeakBody, read_body
from discussion_helper.web.encoding import Answer
from discussion_helper.web.feed import OUTPUT_KINDS, checked_kinds
from discussion_helper.web.live import Live, LiveResponse
from discussion_helper.web.ndjson import USUAL_KINDS, TurnStream
from discussion_helper.web.origins import client_of
from discussion_helper.web.problems import Problem
from discussion_helper.web.session_routes import session_of

__all__ = ["PROVENANCE", "TurnRoutes"]

PROVENANCE = "http"
"""Of what comes in here."""


class TurnRoutes:
    """Handlers, and their routes."""

    def __init__(self, sessions: Sessions[Any], live: Live, audit: Audit) -> None:
        """`audit` has an entry for each microphone of a client that is opened or closed here."""
        self._sessions = sessions
        self._live = live
        self._audit = audit
        self.routes = [
            Route("/sessions/{session_id}/say", self._say, methods=["POST"]),
            Route("/sessions/{session_id}/speak", self._speak, methods=["POST"]),
            Route("/sessions/{session_id}/messages", self._message, methods=["POST"]),
            Route("/sessions/{session_id}/interrupt", self._interrupt, methods=["POST"]),
            Route("/sessions/{session_id}/press", self._press, methods=["POST"]),
            Route("/sessions/{session_id}/release", self._release, methods=["POST"]),
            Route("/sessions/{session_id}/mute", self._mute, methods=["POST"]),
            Route("/sessions/{session_id}/cancel", self._cancel, methods=["POST"]),
        ]

    async def _say(self, request: Request) -> Response:
        session = session_of(self._sessions, request)
        text = (await read_body(request, SayBody)).text
        if not isinstance(session, Stream):
            await _taken(session, session.say, text)
            return Answer({"accepted": True}, status_code=202)
        message = _message(text)
        session.submit(message)  # the id is in the context of everything that it causes
        return Answer({"accepted": True, "event_id": message.context.event_id}, status_code=202)

    async def _speak(self, request: Request) -> Response:
        session = self._voice(request, "Speak in a voice session.")
        await _taken(session, session.speak, (await read_body(request, SpeakBody)).text)
        return Answer({"accepted": True}, status_code=202)

    async def _message(self, request: Request) -> Response:
        stream = self._stream(request)
        body = await read_body(request, MessageBody)
        kinds = USUAL_KINDS if body.kinds is None else checked_kinds(body.kinds, OUTPUT_KINDS)
        return LiveResponse(self._live, stream.id, TurnStream(stream, _message(body.content), kinds))

    async def _interrupt(self, request: Request) -> Response:
        return Answer({"interrupted": await session_of(self._sessions, request).interrupt()})

    async def _press(self, request: Request) -> Response:
        session = self._voice(request)
        with _told_refusals(session):
            return Answer({"pressed": True, "interrupted": await session.press()})

    async def _release(self, request: Request) -> Response:
        session = self._voice(request)
        with _told_refusals(session):
            await session.release()
        return Answer({"pressed": False})

    async def _mute(self, request: Request) -> Response:
        session, on = self._voice(request, "Mute in a voice session."), (await read_body(request, MuteBody)).on
        try:
            await session.mute(on)
        except RuntimeError as refused:
            raise Problem(409, f"No microphone: {refused}.", fix="Mute the microphone where it is.") from None
        self._audit.muted(session.id, on, client_of(request))  # of this machine's own the session tells
        return Answer({"muted": on})

    def _voice(self, request: Request, fix: str = "Push to talk in a voice session.") -> Session:
        session = session_of(self._sessions, request)
        if isinstance(session, Stream):
            raise Problem(409, "This is a text session.", fix=fix)
        return session  # type: ignore[no-any-return]

    async def _cancel(self, request: Request) -> Response:
        stream = self._stream(request)
        running = stream.busy
        stream.cancel()
        return Answer({"cancelled": running})

    def _stream(self, request: Request) -> Stream:
        session = session_of(self._sessions, request)
        if not isinstance(session, Stream):
            raise Problem(409, "This is a voice session.", fix="Use its say and interrupt, or open a text session.")
        return session


@contextmanager
def _told_refusals(session: Session) -> Generator[None]:
    try:
        yield
    except RuntimeError as refused:
        raise Problem(409, f"No key: {refused}.", fix=_fix_of(session)) from None


def _fix_of(session: Session) -> str:
    """Of a key that cannot be pressed."""
    if not isinstance(session.discussion.listener, TalkKey):
        return 'Open a session with "turn_policy": "push_to_talk".'
    if not session.started or session.ended:
        return "Open another one."
    return 'Open the microphone first: POST /sessions/ID/mute with {"on": false}, or connect the client whose it is.'


def _message(text: str) -> UserMessageEvent:
    return UserMessageEvent(text, EventContext(PROVENANCE, secrets.token_urlsafe(8)))


async def _taken(session: Session, take: Callable[[str], Awaitable[None]], text: str) -> None:
    """By a session that runs: its `say` or `speak`."""
    if not session.started or session.ended:
        raise Problem(409, "This session does not run.", fix="Open another one.")
    try:
        await take(text)
    except RuntimeError:  # it ends at this moment
        raise Problem(409, "This session does not run any more.", fix="Open another one.") from None
