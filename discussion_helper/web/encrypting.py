"""A connection until it is encrypted: one of a stranger's like any other, and no longer than a request's headers."""

import asyncio
import ssl

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.utils import get_remote_addr

from discussion_helper.web.strangers import Strangers

__all__ = ["CLOSE_S", "Encrypting"]

CLOSE_S = 1.0
"""How long the other end may take to say that it has heard of the end: TLS has a word for that."""


class Encrypting(asyncio.Protocol):
    """asyncio would let whoever says nothing have a minute, and tell nobody of the connection meanwhile."""

    def __init__(self, inner: H11Protocol, tls: ssl.SSLContext, strangers: Strangers, *, within_s: float) -> None:
        """`inner` is told of the connection once it is encrypted, by `tls`."""
        self.address = ""
        self._inner = inner
        self._tls = tls
        self._strangers = strangers
        self._within_s = within_s
        self._early = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio."""
        assert isinstance(transport, asyncio.Transport)
        self._raw = transport
        transport.pause_reading()  # what comes is not for this one
        client = get_remote_addr(transport)
        self.address = client[0] if client else ""
        self._inner.connections.add(self)  # type: ignore[arg-type]
        self._strangers.add(self)
        task = self._inner.loop.create_task(self._encrypt())
        self._inner.tasks.add(task)  # the server waits for these, and cancels them
        task.add_done_callback(self._inner.tasks.discard)

    def data_received(self, data: bytes) -> None:
        """What came at once with the end of the handshake."""
        self._early += data

    def send_away(self) -> None:
        """Close it at once."""
        self._raw.abort()

    shutdown = send_away
    """See uvicorn."""

    async def _encrypt(self) -> None:
        try:
            encrypted = await self._encrypted()
        finally:
            self._strangers.discard(self)
            self._inner.connections.discard(self)
        if encrypted is None:
            self._raw.abort()
            return
        encrypted.set_protocol(self._inner)
        self._inner.connection_made(encrypted)
        if self._early:
            self._inner.data_received(bytes(self._early))

    async def _encrypted(self) -> asyncio.Transport | None:
        """None: the other end is gone, too slow, or speaks something else."""
        if self._raw.is_closing():
            return None
        try:
            return await self._inner.loop.start_tls(
                *(self._raw, self, self._tls),
                server_side=True,
                ssl_handshake_timeout=self._within_s,
                ssl_shutdown_timeout=CLOSE_S,
            )
        except OSError:
            return None
