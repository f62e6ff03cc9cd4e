"""The HTTP server of an app: it prints nothing of its requests, and stops within two seconds."""

import asyncio
import logging
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from types import FrameType

import anyio
import uvicorn
from starlette.applications import Starlette

from discussion_helper.errors import SettingError
from discussion_helper.web.audio_wire import MOST_BYTES
from discussion_helper.web.http1 import Http1
from discussion_helper.web.strangers import Strangers, among
from discussion_helper.web.websockets1 import WebSockets1

__all__ = ["ENDING_S", "GRACE_S", "MICROPHONES_S", "Server", "bound_socket"]

ENDING_S = 0.7
"""How long sessions may take to end, and their watchers to be told of it, when the server stops."""
MICROPHONES_S = 0.4
"""How much of it the sessions on this machine's microphone may take, which end before the others."""
GRACE_S = 1
"""How long what runs after that may take to end; then it is cancelled."""
_AT_ONCE = 32
"""Connections that are taken before those that came earlier are read: else many new ones delay a request."""
_WAITING = 2048
"""Those that the system keeps until they are taken."""
_log = logging.getLogger(__name__)


def bound_socket(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 = any free one. Raises SettingError naming the field."""
    if not 0 <= port <= 65_535:
        raise SettingError(f"port: {port} is none.", fix="Use 0 to 65535.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        made = socket.create_server((host, port), family=family)
    except (OSError, UnicodeError) as error:
        what = f"port: {host}:{port} cannot be listened to ({getattr(error, 'strerror', None) or error})."
        raise SettingError(what, fix="Name another one, or 0 for any that is free.") from error
    # By this number asyncio knows that small frames are not to wait for the ones before to be acknowledged, for 40 ms.
    return socket.socket(made.family, made.type, socket.IPPROTO_TCP, fileno=made.detach())


class Server(uvicorn.Server):
    """`await serve(sockets=[...])`; `should_exit = True`, Ctrl-C or SIGTERM ends it, and it returns."""

    def __init__(
        self,
        app: Starlette,
        *,
        started: Callable[[], object] | None = None,
        ending: Callable[[], Awaitable[object]] | None = None,
        hurried: Callable[[int], object] | None = None,
        tls: ssl.SSLContext | None = None,
        proxies: Sequence[str] = (),
        log_level: str = "warning",
    ) -> None:
        """`started` is called once requests are taken, `ending` when the server begins to stop.

        `hurried` is called by the handler of a second signal, with its number. `tls`: encrypts (`tls_context`).
        `proxies`: addresses, or networks, whose X-Forwarded-For and -Proto tell who asks, and how; nobody else's do.

        Raises SettingError for a proxy that is no address.

        `ending` closes the sessions: their watchers are then told how it ended, before their connections close. No
        access log: it would hold the link's token.
        """
        limits = app.state.live.limits
        strangers = Strangers(of_one=limits.strangers_of_one, of_all=limits.strangers, trusted=among(proxies))
        super().__init__(
            uvicorn.Config(
                app,
                http=Http1.within(limits, strangers, tls),
                h11_max_incomplete_event_size=limits.headers,
                ws=WebSockets1,
                ws_max_size=MOST_BYTES,
                ws_per_message_deflate=False,  # of sound there is little to save, and each connection would take 300 kB
                ws_ping_interval=None,  # the audio protocol has its own
                log_level=log_level,
                access_log=False,
                server_header=False,
                proxy_headers=bool(proxies),
                forwarded_allow_ips=list(proxies),
                lifespan="on",
                backlog=_AT_ONCE,
                timeout_graceful_shutdown=GRACE_S,
            )
        )
        self._app = app
        self._tell_started = started
        self._ending = ending
        self._hurried = hurried
        self._loop: asyncio.AbstractEventLoop | None = None
        self._time = anyio.CancelScope()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """See uvicorn."""
        await super().startup(sockets)
        for listening in sockets or ():
            listening.listen(_WAITING)
        if self.started and self._tell_started is not None:
            self._tell_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Microphones first, then the other sessions, then what is still sent of them: uvicorn would wait for it."""
        for server in self.servers:
            server.close()  # takes nobody any more
        self._loop = asyncio.get_running_loop()
        with self._time, anyio.move_on_after(0 if self.force_exit else ENDING_S):
            with anyio.move_on_after(MICROPHONES_S):
                await _ended(self._app.state.opener.aclose)
            if self._ending is not None:
                await _ended(self._ending)
                await self._app.state.live.handed_over()
        self._app.state.live.close()
        await super().shutdown(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - as signal handlers are called
        """A signal is a wish to stop, and not raised again afterwards; the second one is a hurry."""
        self.force_exit = self.should_exit
        self.should_exit = True
        if self.force_exit and self._hurried is not None:
            self._hurried(sig)
        if self.force_exit and self._loop is not None:
            self._loop.call_soon_threadsafe(self._time.cancel)


async def _ended(end: Callable[[], Awaitable[object]]) -> None:
    try:
        await end()
    except Exception:
        _log.exception("a session did not end well")
