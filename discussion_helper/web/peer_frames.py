"""A WebSocket as uvicorn has it, whatever the peer sends: a close code, and nothing in the log."""

from http import HTTPStatus
from typing import Any

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame
from websockets.http11 import Request

__all__ = ["MOST_FRAGMENTS", "PeerFrames"]

MOST_FRAGMENTS = 1024
"""Of one message; empty ones add nothing to its size."""


class PeerFrames(WebSocketsSansIOProtocol):
    """uvicorn 0.54 logs a traceback for a text that is no UTF-8, for frames that come before it has answered, and for
    an app that sends something before it has heard that the peer was closed.

    It keeps a connection, unanswered, whose headers are too many or too long for a WebSocket, and answers every ping
    of a peer that reads none of the answers.
    """

    _is_failed = False
    """The peer was closed for what it sent."""

    def data_received(self, data: bytes) -> None:
        """See asyncio."""
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.handshake_initiated and not self.close_sent:
            self._refuse_head()

    def _refuse_head(self) -> None:
        """`websockets` has an answer where it knows what is too long."""
        answer = b"".join(self.conn.data_to_send())
        status = HTTPStatus.BAD_REQUEST
        self.transport.write(
            answer or b"HTTP/1.1 %d %b\r\nConnection: close\r\n\r\n" % (status, status.phrase.encode())
        )
        self.close_sent = True
        self.transport.close()

    def handle_connect(self, event: Request) -> None:
        """See uvicorn. Nothing is read before it is answered: then there is no WebSocket yet for frames."""
        super().handle_connect(event)
        if not self.close_sent:
            self.transport.pause_reading()

    async def send(self, message: Any) -> None:
        """See uvicorn."""
        if self._is_failed:
            raise ClientDisconnected
        await super().send(message)
        if message["type"] == "websocket.accept" and not self.read_paused:
            self.transport.resume_reading()

    def handle_cont(self, event: Frame) -> None:
        """See uvicorn."""
        if len(self.frames) < MOST_FRAGMENTS:
            super().handle_cont(event)
        else:
            self._fail(CloseCode.MESSAGE_TOO_BIG, f"a message has at most {MOST_FRAGMENTS} fragments")

    def send_receive_event_to_app(self) -> None:
        """See uvicorn."""
        if self.curr_msg_data_type == "bytes" or self.close_sent or _is_text(b"".join(self.frames)):
            super().send_receive_event_to_app()
        else:
            self._fail(CloseCode.INVALID_DATA, "the text is no UTF-8")

    def _fail(self, code: CloseCode, reason: str) -> None:
        self.frames = []
        if not self.close_sent:
            self.conn.fail(code, reason)
            self.handle_parser_exception()

    def handle_parser_exception(self) -> None:
        """See uvicorn, which takes it for granted that there was a WebSocket to close."""
        self._is_failed = True
        if self.conn.close_sent is not None:
            super().handle_parser_exception()
        else:
            self.transport.abort()

    def handle_ping(self) -> None:
        """See uvicorn."""
        pong = b"".join(self.conn.data_to_send())
        if self.writable.is_set() and not self.transport.is_closing():
            self.transport.write(pong)


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
