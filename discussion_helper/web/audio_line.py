"""The way down to a client: frames in order, a bounded number of them, and how the connection ends."""

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import anyio
from starlette.websockets import WebSocket, WebSocketDisconnect

from discussion_helper.voice.remote_messages import Down, Play
from discussion_helper.web.audio_wire import encode

__all__ = ["CLOSE_S", "QUEUED", "SLOW", "SLOW_S", "AudioLine"]

QUEUED = 256
"""Frames. Of audio there are 25 at once, the client has told of no more; the rest are orders and errors."""
SLOW_S = 5.0
"""So long a frame may wait for a client that does not read, or for its network."""
SLOW = 4002
"""What such a client is closed with."""
CLOSE_S = 0.25
"""How long the last frames may take."""


class AudioLine:
    """Whoever puts something does not wait. Whatever ends the connection does so once: the first reason counts."""

    def __init__(self, socket: WebSocket, *, ended: Callable[[], object]) -> None:
        """`ended` is called when there is a reason to end."""
        self._socket = socket
        self._ended = ended
        self._put, self._queue = anyio.create_memory_object_stream[Down | Mapping[str, Any]](QUEUED)
        self._seq = 0
        self._code = 0
        self._last: tuple[Mapping[str, Any], ...] = ()

    @property
    def is_over(self) -> bool:
        """There is a reason to end."""
        return self._code != 0

    def put(self, down: Down | Mapping[str, Any]) -> None:
        """Send it soon. A queue that is full ends the connection."""
        try:
            self._put.send_nowait(down)
        except anyio.WouldBlock:
            self.end(SLOW)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass  # it is over

    def end(self, code: int, *last: Mapping[str, Any]) -> None:
        """The connection is over: `last` is sent, and then it is closed with `code`."""
        if not self.is_over:
            self._code, self._last = code, last
            self._ended()

    async def run(self) -> None:
        """Send what is put, until cancelled."""
        async for down in self._queue:
            with anyio.move_on_after(SLOW_S) as time:
                await self._send(down)
            if time.cancelled_caught:
                self.end(SLOW)

    async def close(self, *, is_broken: bool) -> None:
        """Send what was put and the last frames, and close. `is_broken`: there is nobody any more."""
        self._put.close()
        with self._queue, anyio.move_on_after(CLOSE_S, shield=True), suppress(WebSocketDisconnect, RuntimeError):
            if is_broken:
                return
            left = [down async for down in self._queue] if self._code != SLOW else []
            for down in (*left, *self._last):
                await self._send(down)
            await self._socket.close(self._code or 1000)

    async def _send(self, down: Down | Mapping[str, Any]) -> None:
        frame = encode(down, self._seq)
        self._seq += isinstance(down, Play)
        try:
            if isinstance(frame, bytes):
                await self._socket.send_bytes(frame)
            else:
                await self._socket.send_text(frame)
        except WebSocketDisconnect:
            await anyio.sleep(math.inf)  # who receives knows it too
