"""ASGI: who may ask, and from where.

A server on the loopback interface is reachable for every page in the user's browser: by a name that an attacker has
pointed at 127.0.0.1 (the Host check), and by forms and scripts of other sites (the Origin check, and no CORS header).
"""

import ipaddress
import re
import secrets
from collections.abc import Collection

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discussion_helper.errors import SettingError
from discussion_helper.web.problems import answer_of

__all__ = ["HEADERS", "IN_PROCESS_HOSTS", "Guard", "checked_token", "is_loopback"]

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

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::([0-9]{1,5}))?")
_TOKEN = re.compile(r"[A-Za-z0-9._~-]+")
_ORIGIN_FIX = "Ask from a program, or open the address in the browser itself."
_LINK_FIX = "Open the link that the server printed, or send `Authorization: Bearer TOKEN`."


def checked_token(token: str | None) -> str | None:
    """Raises SettingError for one that no header or link could carry."""
    if token is not None and not (isinstance(token, str) and _TOKEN.fullmatch(token)):
        raise SettingError("token: it is empty or has other characters.", fix="Use A-Z, a-z, 0-9 and . _ ~ -.")
    return token


def is_loopback(host: str) -> bool:
    """Whether this name or address is this machine and nothing else."""
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class Guard:
    """Outermost: nothing is looked at before host, origin and token are right."""

    def __init__(self, app: ASGIApp, *, token: str | None, allowed_hosts: Collection[str] = ()) -> None:
        """`token` None: everybody may ask, which is for clients in the same process alone."""
        self._app = app
        self._token = token
        self._hosts = {name.lower() for name in (*allowed_hosts, *(() if token else IN_PROCESS_HOSTS))}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(HTTPConnection(scope))
        if refusal is None:
            await self._app(scope, receive, _with_headers(send))
        elif scope["type"] == "http":
            await refusal(scope, receive, _with_headers(send))
        else:
            await send({"type": "websocket.close", "code": 1008})  # before it was accepted: a 403

    def _refusal(self, asked: HTTPConnection) -> Response | None:
        if not self._is_host_known(asked.headers):
            return answer_of(403, "This server is not known by that name.", "Use the address that it printed.")
        if not _is_own_origin(asked):
            return answer_of(403, "Another site's page asks for this.", _ORIGIN_FIX)
        if self._token is None:
            return None
        if _is_login(asked):
            return self._login(asked)
        if not self._is_shown(_bearer(asked.headers)) and not self._is_shown(asked.cookies.get(_cookie_name(asked))):
            return _unknown()
        return None

    def _is_host_known(self, headers: Headers) -> bool:
        hosts = headers.getlist("host")
        match = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
        return match is not None and (is_loopback(match[1]) or match[1].lower() in self._hosts)

    def _is_shown(self, shown: str | None) -> bool:
        return shown is not None and secrets.compare_digest(shown.encode(), (self._token or "").encode())

    def _login(self, asked: HTTPConnection) -> Response:
        if not self._is_shown(asked.query_params["token"]):
            return _unknown()
        answer = RedirectResponse("/", status_code=303)
        answer.set_cookie(_cookie_name(asked), asked.query_params["token"], httponly=True, samesite="strict")
        return answer


def _is_own_origin(asked: HTTPConnection) -> bool:
    """Browsers name the page's origin in whatever changes something, and in WebSockets; programs name none."""
    origins = asked.headers.getlist("origin")
    host = asked.headers["host"].lower()
    if origins and [origin.lower() for origin in origins] not in ([f"http://{host}"], [f"https://{host}"]):
        return False
    reads = asked.scope.get("method") in ("GET", "HEAD")
    return reads or asked.headers.get("sec-fetch-site") not in ("cross-site", "same-site")


def _is_login(asked: HTTPConnection) -> bool:
    return asked.scope.get("method") == "GET" and asked.scope["path"] == "/" and "token" in asked.query_params


def _bearer(headers: Headers) -> str | None:
    scheme, _, shown = headers.get("authorization", "").partition(" ")
    return shown.strip() if scheme.lower() == "bearer" else None


def _cookie_name(asked: HTTPConnection) -> str:
    """Cookies do not know ports: two servers on one machine would take each other's."""
    match = _HOST.fullmatch(asked.headers["host"])
    return f"discussion-helper-{match[2] if match and match[2] else 'default'}"


def _unknown() -> Response:
    return answer_of(401, "The token is missing or wrong.", _LINK_FIX, {"WWW-Authenticate": "Bearer"})


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return sending
