"""HTTP/1.1 and nothing else, with limits on the time that a request's headers take, and the end of an answer."""

import asyncio
import functools
import logging
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["LAST_BYTES_S", "Http1"]

LAST_BYTES_S = 0.25
"""How long the last bytes of a connection may take to be read when the server stops."""


class Http1(H11Protocol):
    """A connection on which no whole headers come is closed: thousands of such would leave no place for others.

    One whose answer is broken off is closed at once, with whatever was not read of it: asyncio would keep it, and what
    was written to it, until that is read, which may be never.
    """

    def __init__(self, *, headers_s: float, **options: Any) -> None:
        super().__init__(**options)
        self.logger = logging.getLogger(__name__)
        self._headers_s = headers_s
        self._late: asyncio.TimerHandle | None = None
        self._app = self.app
        self.app = self._answer

    @classmethod
    def within(cls, headers_s: float) -> Any:
        """What makes one for each connection. Strangers who send what is no HTTP get no line of the log for it."""
        logging.getLogger(__name__).setLevel(logging.ERROR)
        return functools.partial(cls, headers_s=headers_s)

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        cycle = self.cycle  # until it is complete there is no other one on this connection
        await self._app(scope, receive, send)
        if cycle.response_started and not cycle.response_complete and not cycle.disconnected:
            cycle.disconnected = True
            self.transport.abort()

    def shutdown(self) -> None:
        """See uvicorn, which waits for connections until they are closed."""
        super().shutdown()
        self.loop.call_later(LAST_BYTES_S, self._let_go)

    def _let_go(self) -> None:
        if self.transport.is_closing():
            self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See asyncio."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        self._unwatch()
        super().connection_lost(exc)

    def _watch(self) -> None:
        """From the first byte of a request until its headers are there. Between two uvicorn closes what is idle."""
        if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
            self._unwatch()
        elif self._late is None:
            self._late = self.loop.call_later(self._headers_s, self.transport.close)

    def _unwatch(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _unsupported_upgrade_warning(self) -> None:
        """The app tells who asked; uvicorn would tell the user to install a library for it."""
