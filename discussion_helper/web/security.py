"""ASGI: who may ask, and from where.

A server on the loopback interface is reachable for every page in the user's browser: by a name that an attacker has
pointed at 127.0.0.1 (the Host check), and by forms and scripts of other sites (the Origin check, and no CORS header).
"""

from collections.abc import Collection

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discussion_helper.web.door import Door
from discussion_helper.web.origins import is_host_known, is_own_origin, own_address_of
from discussion_helper.web.plain_page import refusal_of
from discussion_helper.web.upgrades import DENIAL

__all__ = ["HEADERS", "IN_PROCESS_HOSTS", "Guard"]

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "media-src 'self' blob:; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""On every answer."""
IN_PROCESS_HOSTS = ("test", "testserver")
"""What clients inside this process call it; no name on any network. Known where there is no token."""

_GONE: Message = {"type": "http.disconnect"}
_CLOSED: Message = {"type": "websocket.disconnect", "code": 1008, "reason": "the token was rotated"}
_HOST_FIX = "Use the address that it printed, or start it with --allow-host NAME (create_app: allowed_hosts)."
_ORIGIN_FIX = "Ask from a program, or open the address in the browser itself."


class Guard:
    """Outermost: nothing is looked at before host, origin and token are right."""

    def __init__(self, app: ASGIApp, *, door: Door, allowed_hosts: Collection[str] = ()) -> None:
        self._app = app
        self._door = door
        known = () if door.keys.required else IN_PROCESS_HOSTS
        self._hosts = {name.lower() for name in (*allowed_hosts, *known)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(HTTPConnection(scope))
        if scope["type"] == "websocket":
            await self._connect(scope, receive, send, refusal)
        elif refusal is None:
            await self._app(scope, self._door.keys.until_rotated(receive, _GONE), _with_headers(send))
        else:
            await refusal(scope, receive, _with_headers(send))

    async def _connect(self, scope: Scope, receive: Receive, send: Send, refusal: Response | None) -> None:
        """A refusal comes before the connection was accepted. Rotated keys close it."""
        if refusal is not None and DENIAL in scope.get("extensions", ()):
            await refusal(scope, receive, _with_headers(send))
            return
        if refusal is not None:
            await send({"type": "websocket.close", "code": 1008})  # a 403
            return
        connection = _Connection(self._door.keys.until_rotated(receive, _CLOSED), _with_headers(send))
        await self._app(scope, connection.receive, connection.send)
        await connection.close()

    def _refusal(self, asked: HTTPConnection) -> Response | None:
        if not is_host_known(asked.headers, self._hosts, own_address_of(asked)):
            refusal = refusal_of(asked, 403, "This server is not known by that name.", _HOST_FIX)
            return self._door.stranger(asked) or refusal
        if not is_own_origin(asked):
            refusal = refusal_of(asked, 403, "Another site's page asks for this.", _ORIGIN_FIX)
            return self._door.stranger(asked) or refusal
        return self._door.refusal(asked)


class _Connection:
    """Of a WebSocket: closed here where its app was told that it is."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._left_open = False

    async def receive(self) -> Message:
        message = await self._receive()
        self._left_open = self._left_open or message is _CLOSED
        return message

    async def send(self, message: Message) -> None:
        self._left_open = self._left_open and message["type"] != "websocket.close"
        await self._send(message)

    async def close(self) -> None:
        if self._left_open:
            await self._send({"type": "websocket.close", "code": 1008, "reason": _CLOSED["reason"]})


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
