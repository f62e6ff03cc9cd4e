"""Answers that last: ended by their watcher, their session, or the server's end."""

from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import Protocol

import anyio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from discussion_helper.event_loop import start_in
from discussion_helper.waiters import Waiters
from discussion_helper.web.limits import Limits, raised_by
from discussion_helper.web.problems import Problem

__all__ = ["ALL", "LAST_CHUNK_S", "Lasting", "Live", "LiveResponse"]

ALL = ""
"""In the place of a session's id: of those that follow which sessions there are, and last as long as the server."""
LAST_CHUNK_S = 0.25
"""How long the end of a stream may take to be handed over."""
_PIECE = 16 * 1024
"""Bytes that are sent at once, with the time of `Limits.send_s`: a large state is read slowly, too."""


class Live:
    """Counts the answers that last, and ends them all."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._closing = anyio.Event()
        self._watchers: Counter[str] = Counter()
        self._microphones: Counter[str] = Counter()
        self._given: set[Lasting] = set()
        self._lost = 0
        self._stuck: Counter[str] = Counter()
        self._changed = Waiters()
        self._told: dict[str, Callable[[int], object]] = {}

    def close(self) -> None:
        """End every answer that lasts; the server stops. Idempotent; from the event loop's thread."""
        self._closing.set()

    async def closed(self) -> None:
        """Wait for that."""
        await self._closing.wait()

    async def handed_over(self) -> None:
        """Wait until no session's answer lasts; for those that nobody reads no longer than LAST_CHUNK_S."""
        while _of_sessions(self._watchers) > _of_sessions(self._stuck):
            await self._changed.wait()
        with anyio.move_on_after(LAST_CHUNK_S):
            while _of_sessions(self._watchers):
                await self._changed.wait()

    def watchers(self, session_id: str) -> int:
        """Answers of one session that last now."""
        return self._watchers[session_id]

    @property
    def watching(self) -> int:
        """Answers and connections of all sessions that last now."""
        return self._watchers.total()

    @property
    def dropped(self) -> int:
        """Events that the watchers have lost, in all."""
        return self._lost + sum(given.dropped for given in self._given)

    @contextmanager
    def counted(self, given: "Lasting") -> Iterator[None]:
        """What it loses is told by `dropped`, also afterwards."""
        self._given.add(given)
        try:
            yield
        finally:
            self._given.discard(given)
            self._lost += given.dropped

    @contextmanager
    def sending(self, session_id: str) -> Iterator[None]:
        """Inside the block somebody is sent something; if anything else runs meanwhile, it is because nobody reads."""
        self._stuck[session_id] += 1
        self._changed.wake()
        try:
            yield
        finally:
            self._stuck[session_id] -= 1
            if not self._stuck[session_id]:
                del self._stuck[session_id]
            self._changed.wake()

    @contextmanager
    def place(self, session_id: str) -> Iterator[None]:
        """Be one of a session's watchers. Raises Problem when there are too many."""
        of_one = self._watchers[session_id] - self._microphones[session_id]
        of_all = self._watchers.total() - self._microphones.total()
        self._check(of_one, "watchers", "watchers follow this session")
        self._check(of_all, "all_watchers", "watchers follow sessions here")
        with self._present(session_id):
            yield

    @contextmanager
    def microphone(self, session_id: str) -> Iterator[None]:
        """Be a client's microphone, or wait for its place: a watcher who takes no other's place.

        Raises Problem when there are too many of them.
        """
        self._check(self._microphones[session_id], "microphones", "connections are at this session's microphone")
        self._microphones[session_id] += 1
        try:
            with self._present(session_id):
                yield
        finally:
            self._microphones[session_id] -= 1
            if not self._microphones[session_id]:
                del self._microphones[session_id]

    def _check(self, count: int, limit: str, what: str) -> None:
        if self._closing.is_set():
            raise Problem(503, "The server stops.", fix="Try again when it runs.")
        if count >= getattr(self.limits, limit):
            fix = f"Close one of them, or raise the limit ({raised_by(limit)})."
            raise Problem(503, f"{count} {what}, and no more may.", fix=fix)

    @contextmanager
    def _present(self, session_id: str) -> Iterator[None]:
        self._count(session_id, 1)
        try:
            yield
        finally:
            self._count(session_id, -1)
            self._changed.wake()

    def _count(self, session_id: str, more: int) -> None:
        self._watchers[session_id] += more
        if not self._watchers[session_id]:
            del self._watchers[session_id]
        if session_id in self._told:
            self._told[session_id](self._watchers[session_id])

    @contextmanager
    def told_of(self, session_id: str, tell: Callable[[int], object]) -> Iterator[None]:
        """Inside the block `tell`, one for each session, is called with the number of its watchers at every change."""
        self._told[session_id] = tell
        try:
            yield
        finally:
            del self._told[session_id]


class Lasting(Protocol):
    """What an answer that lasts is made of."""

    @property
    def media_type(self) -> str:
        """Of what is sent."""
        ...

    @property
    def dropped(self) -> int:
        """What its watcher has lost so far."""
        ...

    def begin(self) -> None:
        """Subscribe; what is raised here becomes an answer that failed.

        Nothing is awaited between this and the making of the first chunk.
        """
        ...

    def chunks(self) -> AsyncGenerator[bytes, None]:
        """What is sent, at once."""
        ...

    async def beside(self) -> None:
        """Runs beside the sending, and is cancelled at its end."""
        ...

    async def aclose(self) -> None:
        """Leave what `begin` entered, if it did."""
        ...


class LiveResponse(Response):
    """Sends what somebody gives, until one of the three ends it.

    The answer to a watcher who does not read is broken off, without waiting for its end to be read.
    """

    def __init__(self, live: Live, session_id: str, given: Lasting) -> None:
        super().__init__(headers={"X-Accel-Buffering": "no"}, media_type=given.media_type)
        del self.headers["content-length"]
        self._live = live
        self._session_id = session_id
        self._given = given
        self._unread = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        with self._live.place(self._session_id), self._live.counted(self._given):
            try:
                self._given.begin()
                await self._answer(receive, send)
            finally:
                with anyio.CancelScope(shield=True):
                    await self._given.aclose()

    async def _answer(self, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with anyio.create_task_group() as tasks:
            start_in(tasks, self._end_with_watcher, receive, tasks.cancel_scope)
            start_in(tasks, self._end_with_server, tasks.cancel_scope)
            start_in(tasks, self._given.beside)
            await self._send_chunks(send)
            tasks.cancel_scope.cancel()
        if not self._unread:
            with anyio.move_on_after(LAST_CHUNK_S):
                await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send_chunks(self, send: Send) -> None:
        async with aclosing(self._given.chunks()) as chunks:
            async for chunk in chunks:
                for at in range(0, len(chunk), _PIECE):
                    await self._send_piece(send, chunk[at : at + _PIECE])
                    if self._unread:
                        return

    async def _send_piece(self, send: Send, piece: bytes) -> None:
        self._unread = True
        with self._live.sending(self._session_id), anyio.move_on_after(self._live.limits.send_s):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            self._unread = False

    async def _end_with_watcher(self, receive: Receive, scope: anyio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()

    async def _end_with_server(self, scope: anyio.CancelScope) -> None:
        await self._live.closed()
        scope.cancel()


def _of_sessions(answers: Counter[str]) -> int:
    return answers.total() - answers[ALL]
