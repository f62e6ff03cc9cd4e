"""HTTP/1.1 and nothing else, with limits on the time that a request takes to come, and the end of an answer."""

import asyncio
import logging
import ssl
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from discussion_helper.web.encrypting import Encrypting
from discussion_helper.web.limits import Limits, raised_by
from discussion_helper.web.problems import Problem, answer_of
from discussion_helper.web.security import HEADERS
from discussion_helper.web.strangers import KNOWN, Strangers

__all__ = ["LAST_BYTES_S", "Http1"]

LAST_BYTES_S = 0.25
"""How long the last bytes of a connection may take to be read when the server stops, or the rest of a body to come."""
_STOPS = (503, "The server stops.", "Try again when it runs.")


class Http1(H11Protocol):
    """A connection on which no whole headers come is closed: thousands of such would leave no place for others.

    Until the door has let its last request in it is a stranger's. One whose answer is broken off is closed at once,
    with whatever was not read of it: asyncio would keep it, and what was written to it, until that is read, which may
    be never. So is one on which the rest of a body still comes long after the answer.
    """

    def __init__(self, *, limits: Limits, strangers: Strangers, **options: Any) -> None:
        super().__init__(**options)
        self.logger = logging.getLogger(__name__)
        self._limits = limits
        self._strangers = strangers
        self._is_known = self._is_upgraded = False
        self._is_stopping = self._is_late = False
        """The server stops; whatever is not here yet comes too late."""
        self._late: asyncio.TimerHandle | None = None
        self._app = self.app
        self.app = self._answer

    @classmethod
    def within(cls, limits: Limits, strangers: Strangers, tls: ssl.SSLContext | None = None) -> Any:
        """What makes one for each connection. Strangers who send what is no HTTP get no line of the log for it."""
        logging.getLogger(__name__).setLevel(logging.ERROR)

        def make(**options: Any) -> asyncio.Protocol:
            made = cls(limits=limits, strangers=strangers, **options)
            return made if tls is None else Encrypting(made, tls, strangers, within_s=limits.headers_s)

        return make

    @property
    def address(self) -> str:
        """Where it comes from; "" where that is not known."""
        return self.client[0] if self.client else ""

    def send_away(self) -> None:
        """Close it at once."""
        self.transport.abort()

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        cycle = self.cycle  # until it is complete there is no other one on this connection
        self._is_known = False
        scope.setdefault("extensions", {})[KNOWN] = self._know
        try:
            await (self._app if self._has_room else self._full)(scope, self._heard(receive), send)
        except asyncio.CancelledError:
            if not self._is_stopping:
                raise
            if not (cycle.response_started or cycle.disconnected):
                await answer_of(*_STOPS, {**HEADERS, "Connection": "close"})(scope, receive, send)
        if cycle.response_started and not cycle.response_complete and not cycle.disconnected:
            cycle.disconnected = True
            self.transport.abort()
        if not (self._is_known or self.transport.is_closing()):
            self._strangers.add(self)

    def _heard(self, receive: Any) -> Any:
        """Raises Problem for a body of which more is to come when the server stops."""

        async def heard() -> Any:
            message = await receive()
            if self._is_late and message.get("more_body"):
                status, what, fix = _STOPS
                raise Problem(status, what, fix=fix)
            return message

        return heard

    def _know(self) -> None:
        self._is_known = True
        self._strangers.discard(self)

    @property
    def _has_room(self) -> bool:
        return len(self.connections) <= self._limits.connections

    async def _full(self, scope: Any, receive: Any, send: Any) -> None:
        what = f"{self._limits.connections} connections are open, and no more may be."
        fix = f"Close some of them, or raise the limit ({raised_by('connections')})."
        await answer_of(503, what, fix, {**HEADERS, "Connection": "close"})(scope, receive, send)

    def shutdown(self) -> None:
        """See uvicorn, which waits for connections until they are closed."""
        self._is_stopping = True
        super().shutdown()
        self.loop.call_later(LAST_BYTES_S, self._let_go)

    def _let_go(self) -> None:
        self._is_late = True
        if self.transport.is_closing():
            self.transport.abort()
        elif self.cycle is not None and self.cycle.more_body:
            self.cycle.message_event.set()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """See asyncio."""
        super().connection_made(transport)
        self._strangers.add(self)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """See uvicorn, which goes on reading the body of a request that was answered before it was whole."""
        super().on_response_complete()
        if self._is_answered_early:
            self._watch()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """See uvicorn: the connection is another protocol's, and is answered or closed now."""
        self._is_upgraded = True
        self._strangers.discard(self)
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        """See asyncio."""
        self._unwatch()
        self._strangers.discard(self)
        super().connection_lost(exc)

    def _watch(self) -> None:
        """From the first byte of a request until its headers are there, and from an early answer to its body's end.

        Between two requests uvicorn closes what is idle.
        """
        is_owed = self.conn.their_state is h11.IDLE or self._is_answered_early
        if not is_owed or self._is_upgraded or self.transport.is_closing():
            self._unwatch()
        elif self._late is None:
            self._late = self.loop.call_later(self._limits.headers_s, self.transport.abort)

    @property
    def _is_answered_early(self) -> bool:
        return self.conn.their_state is h11.SEND_BODY and self.cycle is not None and self.cycle.response_complete

    def _unwatch(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _unsupported_upgrade_warning(self) -> None:
        """The app tells who asked; uvicorn would tell the user to install a library for it."""
