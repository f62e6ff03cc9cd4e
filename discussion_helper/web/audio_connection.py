"""One WebSocket of a client: hello, sound both ways, and its end."""

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from typing import Any

import anyio
from starlette.websockets import WebSocket

from discussion_helper.clock import now
from discussion_helper.event_loop import start_in
from discussion_helper.voice.remote_client import RemoteClient
from discussion_helper.voice.remote_link import KEPT_S
from discussion_helper.voice.remote_messages import Bye, FrameError, Hello, Mute, Pong, Progress, Prompt, Sound, Up
from discussion_helper.voice.remote_playback import FRAME_S, LEAD_S
from discussion_helper.voice.remote_talk import RemoteTalk
from discussion_helper.web.audio_line import AudioLine
from discussion_helper.web.audio_wire import LONGEST_S, MOST_BYTES, SHORTEST_S, parse
from discussion_helper.web.audit import Audit, Microphone
from discussion_helper.web.live import Live
from discussion_helper.web.origins import client_of

__all__ = ["DEAD_S", "HELLO_S", "PING_S", "WRONG", "AudioConnection"]

HELLO_S = 5.0
"""Until the hello is there."""
PING_S = 2.0
DEAD_S = 8.0
"""A client of which nothing is heard for so long is dead; it is found within PING_S more."""
WRONG = 100
"""Frames in a row that may be wrong."""

_LIMITS: Mapping[str, Any] = {
    "frame_bytes": MOST_BYTES,
    "shortest_s": SHORTEST_S,
    "longest_s": LONGEST_S,
    "dead_s": DEAD_S,
    "kept_s": KEPT_S,
    "wrong": WRONG,
}
_BYE, _SERVER_STOPS = 1000, 1001
_TAKEN, _TOO_WRONG, _DEAD, _NO_HELLO, _OWNED = 4001, 4003, 4008, 4010, 4409
_OWNED_ERROR: Mapping[str, Any] = {
    "type": "error",
    "code": "owned",
    "what": "Another client has the microphone of this session.",
    "fix": 'Say hello with "take": true to take it.',
}


class AudioConnection:
    """Runs once, on a socket that was accepted. Nothing that comes of it is raised: the session lives."""

    def __init__(self, socket: WebSocket, talk: RemoteTalk, live: Live, audit: Audit) -> None:
        """`audit` has an entry for each microphone that opens and closes."""
        self._socket = socket
        self._audit = audit
        self._microphone: Microphone | None = None
        """As the audit has it."""
        self._held = ExitStack()
        self._talk = talk
        self._live = live
        self._scope = anyio.CancelScope()
        self._line = AudioLine(socket, ended=self._scope.cancel)
        self._client: RemoteClient | None = None
        self._rate: int | None = None
        self._heard_s = now()
        self._wrong = 0
        self._leaves = self._is_broken = False

    async def run(self) -> None:
        """Until it is over."""
        try:
            with self._scope:
                async with anyio.create_task_group() as tasks:
                    for part in (self._line.run, self._receive, self._end_with_session, self._end_with_server):
                        start_in(tasks, part)
                    start_in(tasks, self._watch)
        finally:
            self._held.close()
            if self._client is not None:
                self._talk.link.detach(self._client, leaves=self._leaves)
            with anyio.CancelScope(shield=True):
                await self._line.close(is_broken=self._is_broken)

    # -- up

    async def _receive(self) -> None:
        while not self._line.is_over:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                self._is_broken = True
                self._scope.cancel()
                return
            self._heard_s = now()
            text = message.get("text")
            try:
                await self._take(parse(message["bytes"] if text is None else text, self._rate))
                self._wrong = 0
            except FrameError as error:
                self._tell_wrong(error)

    def _tell_wrong(self, error: FrameError) -> None:
        self._wrong += 1
        told = {"type": "error", "code": error.code, "what": error.what, "fix": error.fix}
        if self._wrong >= WRONG:
            self._line.end(_TOO_WRONG, told)
        else:
            self._line.put(told)

    async def _take(self, up: Up) -> None:
        link, client = self._talk.link, self._client
        if isinstance(up, Hello):
            await self._greet(up)
        elif client is not None:
            match up:
                case Sound():
                    link.heard(client, up)
                case Progress():
                    link.progressed(client, up)
                case Prompt():
                    link.prompted(client)
                case Mute():
                    link.muted(client, up.on)
                    self._note(is_open=not up.on)
                case Bye():
                    self._leaves = True
                    self._line.end(_BYE)
                case Pong():
                    pass  # it was heard of

    async def _greet(self, hello: Hello) -> None:
        client = RemoteClient(hello.name, hello.rate, now(), send=self._line.put, taken=self._lose)
        try:
            has_it = await self._talk.attach(client, take=hello.take)
        except RuntimeError:  # the session ends at this moment, which is told
            return
        if not has_it:
            self._line.end(_OWNED, _OWNED_ERROR)
            return
        self._client, self._rate = client, hello.rate
        microphone = self._audit.remote(self._talk.session.id, client_of(self._socket), client.name)
        self._microphone = self._held.enter_context(microphone)
        self._note(is_open=not self._talk.link.is_held)
        self._line.put(
            {
                "type": "welcome",
                "session": self._talk.session.id,
                "rate": hello.rate,
                "muted": self._talk.link.is_held,
                "reply": self._talk.link.playback.newest,
                "lead_s": LEAD_S,
                "frame_s": FRAME_S,
                "limits": _LIMITS,
            }
        )

    def _note(self, *, is_open: bool) -> None:
        """On record: whose microphone it is."""
        if self._microphone is not None:
            self._microphone.is_now(is_open)

    def _lose(self) -> None:
        self._line.end(_TAKEN, {"type": "taken"})

    # -- what ends it

    async def _watch(self) -> None:
        await anyio.sleep(HELLO_S)
        if self._client is None:
            self._line.end(_NO_HELLO)
        number = 0
        while True:
            number += 1
            if now() - self._heard_s >= DEAD_S or self._talk.link.playback.overdue_s() >= DEAD_S:
                self._line.end(_DEAD)
            self._line.put({"type": "ping", "n": number, "at": round(now(), 6)})
            await anyio.sleep(PING_S)

    async def _end_with_session(self) -> None:
        with suppress(Exception):  # its watchers are told of it
            await self._talk.session.wait()
        self._line.end(_BYE, {"type": "ended", "reason": self._talk.session.state.get("reason", "stopped")})

    async def _end_with_server(self) -> None:
        await self._live.closed()
        self._line.end(_SERVER_STOPS)
