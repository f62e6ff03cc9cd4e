"""ASGI: whoever asks for a WebSocket where there is none is told what there is instead."""

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import Match, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from discussion_helper.web.problems import answer_of

__all__ = ["DENIAL", "NoUpgrades", "refuse"]

DENIAL = "websocket.http.response"
"""The ASGI extension by which the refusal of a WebSocket is an answer."""

_FIX = "Ask without Upgrade. Events are at /sessions/ID/events, with Upgrade or without, sound at /sessions/ID/audio."
_INSTEAD = {"Upgrade": "HTTP/1.1", "Connection": "Upgrade"}
"""What RFC 9110 wants beside the status 426: the protocol that is spoken here."""


class NoUpgrades:
    """An upgrade that the server left undone is not a request for the resource itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        undone = scope["type"] == "http" and Headers(scope=scope).get("upgrade", "").strip().lower() == "websocket"
        if undone or (scope["type"] == "websocket" and DENIAL in scope.get("extensions", ()) and not _has_route(scope)):
            answer = answer_of(426, "There is no WebSocket here.", _FIX, _INSTEAD)
            await answer(scope, receive, send)
        else:
            await self._app(scope, receive, send)


async def refuse(socket: WebSocket, answer: Response) -> None:
    """Before it is accepted: with this answer, where the server can give one."""
    if DENIAL in socket.scope.get("extensions", ()):
        await socket.send_denial_response(answer)
    else:
        await socket.close()


def _has_route(scope: Scope) -> bool:
    routes = (route for route in scope["app"].routes if isinstance(route, WebSocketRoute))
    return any(route.matches(scope)[0] is Match.FULL for route in routes)
