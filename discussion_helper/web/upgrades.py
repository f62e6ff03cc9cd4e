"""ASGI: whoever asks for a WebSocket is told what there is instead."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from discussion_helper.web.problems import answer_of

__all__ = ["NoUpgrades"]

_FIX = "Ask without Upgrade: GET /sessions/ID/events is a stream of server-sent events."
_INSTEAD = {"Upgrade": "HTTP/1.1", "Connection": "Upgrade"}
"""What RFC 9110 wants beside the status 426: the protocol that is spoken here."""


class NoUpgrades:
    """An upgrade that the server left undone is not a request for the resource itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and Headers(scope=scope).get("upgrade", "").strip().lower() == "websocket":
            answer = answer_of(426, "There are no WebSockets here.", _FIX, _INSTEAD)
            await answer(scope, receive, send)
        else:
            await self._app(scope, receive, send)
