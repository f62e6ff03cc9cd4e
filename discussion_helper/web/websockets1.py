"""WebSockets on HTTP/1.1, as uvicorn has them; refused ones are no mistake."""

from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

__all__ = ["WebSockets1"]


class WebSockets1(WebSocketsSansIOProtocol):
    """uvicorn 0.54 would log an error for a handshake that was answered with a refusal."""

    async def send(self, message: Any) -> None:
        """See uvicorn."""
        await super().send(message)
        if self.initial_response is not None and self.close_sent:
            self.handshake_complete = True
