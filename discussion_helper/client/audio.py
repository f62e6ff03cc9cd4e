"""A client's microphone and loudspeaker at a session: the other end of `discussion-helper.audio.v1`, to read and use.

The protocol is told in web/protocol.md. This client runs on asyncio alone, as its WebSockets do.
"""

import json
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import anyio
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
from websockets.typing import Subprotocol

from discussion_helper.audio.frames import Samples
from discussion_helper.client.answers import unreachable
from discussion_helper.client.audio_ends import error_of, is_over, refusal_at
from discussion_helper.client.errors import ServerUnreachable, TooOften
from discussion_helper.client.link import Link
from discussion_helper.client.loudspeaker import Loudspeaker
from discussion_helper.client.wire import SUBPROTOCOL, read, sound
from discussion_helper.clock import now
from discussion_helper.event_loop import start_in
from discussion_helper.failures import failures_in
from discussion_helper.voice.remote_messages import Play, Progress
from discussion_helper.waiters import Waiters

__all__ = ["DEAD_S", "FRAME_S", "KEPT_S", "AudioClient"]

FRAME_S = 0.02
"""Of what is played at a time, and how often the server is told of it: 20 to 50 ms."""
KEPT_S = 30.0
"""So long the server keeps a reply for a client whose connection broke."""
DEAD_S = 8.0
"""A server of which nothing is heard for so long is away: it pings every 2 s."""
_OPEN_S = 10.0
_CLOSE_S = 1.0
_AGAIN_S = 0.5
_LATEST_S = 1.0
_LONGEST_FRAME = 64 * 1024


class AudioClient:
    """`await AudioClient(link, session_id).run(microphone, loudspeaker)`: once.

    The loudspeaker has a simulated clock, that of the event loop, and plays what is there. A program with a real one
    asks `Loudspeaker.play` for what sounds next in its audio callback, and tells the server of it when that was heard;
    where the network jitters it first waits until 60 ms of a reply are there, as the page does.
    """

    def __init__(
        self,
        link: Link,
        session_id: str,
        *,
        rate: int = 16_000,
        take: bool = False,
        name: str = "a program",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`rate`: hertz of both directions, 8000 to 96000. `take`: take the microphone from who has it.

        `tls`: which certificates are trusted, in the place of the system's. Raises SettingError for what is no id.
        """
        self.rate = rate
        self._link = link
        self._url = link.audio_url(session_id)
        self._hello = {"type": "hello", "rate": rate, "take": take, "name": name}
        self._tls = tls or True
        self._loudspeaker = Loudspeaker(rate)
        self._socket: ClientConnection | None = None
        """Once the server has welcomed this client."""
        self._welcomed = Waiters()
        self._heard_s: float | None = None
        self._seq = self._sample = 0
        self._is_muted = self._is_held = self._lifts = self._leaves = False
        self._reason = "left"

    async def run(self, microphone: AsyncIterable[Samples], loudspeaker: Callable[[Samples], object]) -> str:
        """Until the session is over, or `leave`; why.

        `microphone` gives blocks of 5 to 200 ms, shape (n,), as they are heard; where it ends, the microphone is told
        of as closed. `loudspeaker` is called with 20 ms every 20 ms, silence too, and must not wait. A connection that
        breaks is made again within KEPT_S: the reply goes on where it was. Raises ServerError, and what these two do.
        """
        reasons: list[str] = []
        try:
            async with anyio.create_task_group() as tasks:
                start_in(tasks, self._speak, microphone)
                start_in(tasks, self._play, loudspeaker)
                reasons.append(await self._stay())
                tasks.cancel_scope.cancel()
        except BaseExceptionGroup as failed:
            raise failures_in(failed)[0] from None
        return reasons[0]

    # -- what the user does

    async def connected(self) -> None:
        """Wait until the server hears this client, and is heard: what is said before that is answered in writing."""
        while self._socket is None:
            await self._welcomed.wait()

    async def onset(self) -> None:
        """Somebody begins to speak: the agent is turned down at once, and the server decides what that was."""
        await self._send({"type": "onset", "sample": self._sample})

    async def mute(self, on: bool) -> None:
        """Close the microphone, or open it again, whoever muted it: what it gives meanwhile goes nowhere."""
        self._lifts = not on and (self._is_held or self._lifts) and self._socket is None
        self._is_muted = on
        self._is_held = self._is_held and on
        await self._send({"type": "mute", "on": on})

    @property
    def muted(self) -> bool:
        """Whether nothing is heard of the microphone: closed here, or muted by somebody else, as far as is known."""
        return self._is_muted or self._is_held

    async def leave(self) -> None:
        """Leave for good: the session goes on for who types, and `run` returns "left". Nobody need be connected."""
        self._leaves = True
        await self._send({"type": "bye"})

    # -- the connection

    async def _stay(self) -> str:
        """Connected, again where it broke; why it is over. Raises ServerError."""
        while not self._leaves:
            wait_s = _AGAIN_S
            try:
                async with self._connected() as socket:
                    code = await self._obey(socket)
                if is_over(code):
                    return self._reason
                raise ServerUnreachable("The server broke the connection off.", fix="Try again, or look at its log.")
            except ServerUnreachable as away:
                self._check_patience(0.0, away)
            except TooOften as often:
                self._check_patience(often.after_s, often)
                wait_s = often.after_s
            await anyio.sleep(wait_s)
        return self._reason

    def _check_patience(self, wait_s: float, error: ServerUnreachable | TooOften) -> None:
        """Raises the error where the server was never there, or for too long was not."""
        if self._heard_s is None or now() + wait_s - self._heard_s > KEPT_S:
            raise error

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[ClientConnection]:
        """Open, and hello was said. What was there of an earlier connection is thrown away at both ends of it."""
        async with AsyncExitStack() as stack:
            try:
                socket = await stack.enter_async_context(self._connection())
                await socket.send(json.dumps(self._hello))
            except InvalidStatus as error:
                refused = error.response
                raise refusal_at(refused.status_code, bytes(refused.body or b""), refused.headers) from None
            except (OSError, TimeoutError, InvalidHandshake, ConnectionClosed) as error:
                raise unreachable(self._link, error) from error
            self._seq = self._sample = 0
            try:
                yield socket
            finally:
                self._socket = None
                self._loudspeaker.clear()
                with anyio.move_on_after(2 * _CLOSE_S, shield=True):
                    await socket.close()

    def _connection(self) -> connect:
        return connect(
            self._url,
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            additional_headers=self._link.headers,
            user_agent_header="discussion-helper-client",
            proxy=None if self._link.is_here else True,
            ssl=self._tls if self._url.startswith("wss") else None,
            compression=None,
            ping_interval=None,  # the protocol has its own
            open_timeout=_OPEN_S,
            close_timeout=_CLOSE_S,
            max_size=_LONGEST_FRAME,
        )

    async def _obey(self, socket: ClientConnection) -> int | None:
        """What the server says, until the connection is over; the code it was closed with, None where it is dead."""
        with suppress(ConnectionClosed, TimeoutError):
            while True:
                with anyio.fail_after(DEAD_S):
                    frame = read(await socket.recv())
                if isinstance(frame, Play):
                    self._loudspeaker.take(frame)
                else:
                    await self._do(socket, frame)
        return socket.close_code

    async def _do(self, socket: ClientConnection, message: dict[str, Any]) -> None:
        match message:
            case {"type": "welcome"}:
                self._socket = socket  # from here on it hears
                self._is_held = message.get("muted") is True and not self._lifts
                self._welcomed.wake()
                if self._is_muted or self._lifts:
                    await self.mute(self._is_muted)  # what was done meanwhile is newer
                if self._leaves:
                    await self.leave()
            case {"type": "muted", "on": bool(held)}:
                self._is_held = held
            case {"type": "pause", "reply": int(reply), "ramp_s": float(ramp_s)}:
                self._loudspeaker.pause(reply, ramp_s)
            case {"type": "resume", "ramp_s": float(ramp_s)}:
                self._loudspeaker.resume(ramp_s)
            case {"type": "stop", "reply": int(reply)}:
                await self._tell(self._loudspeaker.stop(reply, now()))
            case {"type": "ping", "n": int(number)}:
                await self._send({"type": "pong", "n": number})
            case {"type": "ended", "reason": str(reason)}:
                self._reason = reason
            case {"type": "error", "code": code} if self._socket is None and code != "owned":
                raise error_of(message)  # of the hello; of later frames the server goes on with the next
        self._heard_s = now() if self._socket is not None else self._heard_s

    async def _send(self, frame: bytes | Mapping[str, Any]) -> None:
        """To the server, if there is one: who is away hears nothing and says nothing."""
        if self._socket is not None:
            with suppress(ConnectionClosed):  # who receives knows it too
                await self._socket.send(frame if isinstance(frame, bytes) else json.dumps(frame))

    # -- sound

    async def _speak(self, microphone: AsyncIterable[Samples]) -> None:
        async for samples in microphone:
            if self._socket is not None:
                seq, sample = self._seq, self._sample
                self._seq, self._sample = seq + (not self.muted), sample + len(samples)
                if not self.muted:
                    await self._send(sound(samples, seq=seq, sample=sample, at_s=now() - len(samples) / self.rate))
        await self.mute(True)

    async def _play(self, loudspeaker: Callable[[Samples], object]) -> None:
        block, due_s = round(FRAME_S * self.rate), now()
        while True:
            due_s = max(due_s + FRAME_S, now() - _LATEST_S)
            await anyio.sleep(max(0.0, due_s - now()))
            samples, told = self._loudspeaker.play(block, due_s)
            loudspeaker(samples)
            for progress in told:
                await self._tell(progress)

    async def _tell(self, progress: Progress) -> None:
        told = {"reply": progress.reply, "sample": progress.sample, "at": progress.at, "state": progress.state}
        await self._send({"type": "played", **told})
