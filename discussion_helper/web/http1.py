"""HTTP/1.1 and nothing else, with a limit on the time that a request's headers take."""

import asyncio
import functools
import logging
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["Http1"]


class Http1(H11Protocol):
    """A connection on which no whole headers come is closed: thousands of such would leave no place for others."""

    def __init__(self, *, headers_s: float, **options: Any) -> None:
        super().__init__(**options)
        self.logger = logging.getLogger(__name__)
        self._headers_s = headers_s
        self._late: asyncio.TimerHandle | None = None

    @classmethod
    def within(cls, headers_s: float) -> Any:
        """What makes one for each connection. Strangers who send what is no HTTP get no line of the log for it."""
        logging.getLogger(__name__).setLevel(logging.ERROR)
        return functools.partial(cls, headers_s=headers_s)

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
