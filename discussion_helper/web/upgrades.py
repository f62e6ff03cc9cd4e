"""ASGI: whoever asks for a WebSocket where there is none is told what there is instead."""

from starlette.datastructures import Headers
from starlette.routing import Match, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from discussion_helper.web.problems import answer_of

__all__ = ["DENIAL", "NoUpgrades"]

DENIAL = "websocket.http.response"
"""The ASGI extension by which the refusal of a WebSocket is an answer."""

_FIX = "Ask without Upgrade: GET /sessions/ID/events is a stream of server-sent events. Sound is at /sessions/ID/audio."
_INSTEAD = {"Upgrade": "HTTP/1.1", "Connection": "Upgrade"}
"""What RFC 9110 wants beside the status 426: the protocol that is spoken here."""


class NoUpgrades:
    """An upgrade that the server left undone is not a request for the resource itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        undone = scope["type"] == "http" and Headers(scope=scope).get("upgrade", "").strip().lower() == "websocket"
        if undone or (scope["type"] == "websocket" and DENIAL in scope.get("extensions", ()) and not _has_route(scope)):
            answer = answer_of(426, "There are no WebSockets here.", _FIX, _INSTEAD)
            await answer(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def _has_route(scope: Scope) -> bool:
    routes = (route for route in scope["app"].routes if isinstance(route, WebSocketRoute))
    return any(route.matches(scope)[0] is Match.FULL for route in routes)
