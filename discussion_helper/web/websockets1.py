"""WebSockets on HTTP/1.1, as uvicorn has them; refused ones are no mistake."""

import asyncio
from typing import Any

from discussion_helper.web.http1 import LAST_BYTES_S
from discussion_helper.web.peer_frames import PeerFrames

__all__ = ["WebSockets1"]


class WebSockets1(PeerFrames):
    """uvicorn 0.54 would log an error for a handshake that was answered with a refusal.

    It would keep a connection that nobody reads, and what was written to it, until that is read, which may be never;
    and it would close with 1012 at the server's end before an app has said with what, and why.
    """

    async def send(self, message: Any) -> None:
        """See uvicorn."""
        await super().send(message)
        if self.initial_response is not None and self.close_sent:
            self.handshake_complete = True

    def on_task_complete(self, task: "asyncio.Task[None]") -> None:
        """The app is over: who was sent a close frame has a while for an answer, who was not is broken off."""
        super().on_task_complete(task)
        if not self.disconnected:
            self.loop.call_later(self.close_timeout if self.close_sent else LAST_BYTES_S, self.transport.abort)

    def shutdown(self) -> None:
        """See uvicorn, which waits for connections until they are closed."""
        self.stop_keepalive()
        self.loop.call_later(LAST_BYTES_S, self._let_go)

    def _let_go(self) -> None:
        if not self.disconnected:
            super().shutdown()
            self.transport.abort()
