"""Small frames leave at once: a voice has no 40 ms to wait for the one before to be acknowledged."""

import asyncio
import socket

from discussion_helper.web import bound_socket


def test_connections_of_the_server_wait_for_no_acknowledgement() -> None:
    async def main() -> int:
        delays: asyncio.Queue[int] = asyncio.Queue()

        async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            accepted = writer.get_extra_info("socket")
            delays.put_nowait(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with bound_socket("127.0.0.1", 0) as listening:
            async with await asyncio.start_server(serve, sock=listening):
                _, writer = await asyncio.open_connection(*listening.getsockname())
                without_delay = await delays.get()
                writer.close()
                await writer.wait_closed()
        return without_delay

    assert 0 != asyncio.run(main())
