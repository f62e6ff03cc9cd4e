"""A WebSocket that is told what a stream of server-sent events tells: a message for each event, or piece of it."""

from collections.abc import Callable
from contextlib import aclosing, suppress
from itertools import chain

import anyio
from starlette.websockets import WebSocket, WebSocketDisconnect

from discussion_helper.event_loop import start_in
from discussion_helper.web.framing import MESSAGES, messages_of
from discussion_helper.web.live import LAST_CHUNK_S, Live
from discussion_helper.web.problems import Problem, answer_of
from discussion_helper.web.sse import EventStream
from discussion_helper.web.upgrades import refuse

__all__ = ["HEARD", "SUBPROTOCOL", "Chosen", "EventSocket", "tell_events"]

SUBPROTOCOL = "discussion-helper.events.v1"
HEARD = 100
"""Messages that a watcher may send; it has nothing to say, and what it says all the same is thrown away."""
_OVER, _SERVER_STOPS, _SLOW, _TOO_MUCH = 1000, 1001, 4002, 4003
_REFUSED = 4000
"""And the status that a request would get: a page is told nothing of a handshake that was refused."""
_REASON_BYTES = 123
"""What RFC 6455 leaves for a reason."""

Chosen = Callable[[], tuple[str, EventStream]]
"""Whose events, by the session's id, or `ALL`, and the events. Raises Problem where there are none."""


async def tell_events(socket: WebSocket, live: Live, chosen: Chosen) -> None:
    """Until it is over; what cannot be told is a close code. For a socket that was not accepted yet."""
    if SUBPROTOCOL not in socket.scope["subprotocols"]:
        await refuse(socket, answer_of(400, "The subprotocol is another one.", f"Ask for {SUBPROTOCOL}."))
        return
    try:
        whose, events = chosen()
        await EventSocket(socket, live, whose, events).run()
    except Problem as problem:
        reason = problem.what.encode()[:_REASON_BYTES].decode(errors="ignore")
        await socket.accept(SUBPROTOCOL)
        await socket.close(_REFUSED + problem.status, reason)


class EventSocket:
    """Runs once. Its watcher, its session or the server's end ends it, as they end a `LiveResponse`."""

    def __init__(self, socket: WebSocket, live: Live, whose: str, events: EventStream) -> None:
        self._socket = socket
        self._live = live
        self._whose = whose
        self._events = events
        self._code = _OVER
        self._is_broken = False

    async def run(self) -> None:
        """Raises Problem, before anything else is done, where there are too many watchers."""
        with self._live.place(self._whose), self._live.counted(self._events):
            try:
                self._events.begin()
                await self._socket.accept(SUBPROTOCOL)
                await self._tell()
            finally:
                with anyio.CancelScope(shield=True):
                    await self._events.aclose()

    async def _tell(self) -> None:
        async with anyio.create_task_group() as tasks:
            start_in(tasks, self._end_with_watcher, tasks.cancel_scope)
            start_in(tasks, self._end_with_server, tasks.cancel_scope)
            await self._send_frames()
            tasks.cancel_scope.cancel()
        if not self._is_broken:
            with anyio.move_on_after(LAST_CHUNK_S), suppress(WebSocketDisconnect, RuntimeError):
                await self._socket.close(self._code)

    async def _send_frames(self) -> None:
        async with aclosing(self._events.frames()) as several:
            async for frames in several:
                told = frames or [MESSAGES.alive]  # who comes back and missed nothing knows so at once
                for message in chain.from_iterable(map(messages_of, told)):
                    if not await self._sent(message):
                        self._is_broken = True
                        return
        if self._events.dropped:
            self._code = _SLOW

    async def _sent(self, message: str) -> bool:
        """False for a watcher who is gone, or does not read."""
        with self._live.sending(self._whose), anyio.move_on_after(self._live.limits.send_s):
            try:
                await self._socket.send_text(message)
            except (WebSocketDisconnect, RuntimeError):  # the latter where the server has closed it by itself
                return False
            return True
        return False

    async def _end_with_watcher(self, scope: anyio.CancelScope) -> None:
        for _ in range(HEARD):
            if (await self._socket.receive())["type"] == "websocket.disconnect":
                self._is_broken = True
                break
        else:
            self._code = _TOO_MUCH
        scope.cancel()

    async def _end_with_server(self, scope: anyio.CancelScope) -> None:
        await self._live.closed()
        self._code = _SERVER_STOPS
        scope.cancel()
