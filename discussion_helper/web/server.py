"""The HTTP server of an app: it prints nothing of its requests, and stops within two seconds."""

import logging
import socket
from collections.abc import Awaitable, Callable
from types import FrameType

import anyio
import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

from discussion_helper.errors import SettingError

__all__ = ["ENDING_S", "GRACE_S", "Server", "bound_socket"]

ENDING_S = 0.7
"""How long sessions may take to end, and their watchers to be told of it, when the server stops."""
GRACE_S = 1
"""How long what runs after that may take to end; then it is cancelled."""
_CONNECTIONS = 2048
_log = logging.getLogger(__name__)


def bound_socket(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 = any free one. Raises SettingError naming the field."""
    if not 0 <= port <= 65_535:
        raise SettingError(f"port: {port} is none.", fix="Use 0 to 65535.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, UnicodeError) as error:
        what = f"port: {host}:{port} cannot be listened to ({getattr(error, 'strerror', None) or error})."
        raise SettingError(what, fix="Name another one, or 0 for any that is free.") from error


class _Http(H11Protocol):
    """HTTP/1.1 and nothing else."""

    def _unsupported_upgrade_warning(self) -> None:
        """The app tells who asked; uvicorn would tell the user to install a library for it."""


class Server(uvicorn.Server):
    """`await serve(sockets=[...])`; `should_exit = True`, Ctrl-C or SIGTERM ends it, and it returns."""

    def __init__(
        self,
        app: Starlette,
        *,
        started: Callable[[], object] | None = None,
        ending: Callable[[], Awaitable[object]] | None = None,
        log_level: str = "warning",
    ) -> None:
        """`started` is called once requests are taken, `ending` when the server begins to stop.

        `ending` closes the sessions: their watchers are then told how it ended, before their connections close. No
        access log: it would hold the link's token.
        """
        super().__init__(
            uvicorn.Config(
                app,
                http=_Http,
                ws="none",
                log_level=log_level,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                lifespan="on",
                limit_concurrency=_CONNECTIONS,
                timeout_graceful_shutdown=GRACE_S,
            )
        )
        self._app = app
        self._tell_started = started
        self._ending = ending

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """See uvicorn."""
        await super().startup(sockets)
        if self.started and self._tell_started is not None:
            self._tell_started()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """The sessions end first, then what is still sent of them: uvicorn would wait for it."""
        for server in self.servers:
            server.close()  # takes nobody any more
        with anyio.move_on_after(ENDING_S):
            await self._end_sessions()
        self._app.state.live.close()
        await super().shutdown(sockets)

    async def _end_sessions(self) -> None:
        if self._ending is not None:
            try:
                await self._ending()
            except Exception:
                _log.exception("a session did not end well")
            await self._app.state.live.empty()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - as signal handlers are called
        """A signal is a wish to stop, and not raised again afterwards; the second one is a hurry."""
        self.force_exit = self.should_exit
        self.should_exit = True
