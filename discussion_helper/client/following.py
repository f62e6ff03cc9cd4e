"""Following a session over a network that breaks."""

from collections import deque
from collections.abc import AsyncIterator
from contextlib import suppress
from types import TracebackType
from typing import Self

import anyio
import httpx

from discussion_helper.client.answers import refusal_of, unreachable
from discussion_helper.client.errors import ServerError, TooOften
from discussion_helper.client.link import Link
from discussion_helper.client.server_events import EventReader, ServerEvent
from discussion_helper.clock import now

__all__ = ["LONGEST_WAIT_S", "SILENCE_S", "Following"]

SILENCE_S = 45.0
"""Three of the server's signs of life: a connection on which nothing comes for so long is dead."""
LONGEST_WAIT_S = 8.0
"""Between two tries."""
_CLOSE_S = 1.0
_PASSING = (502, 503, 504)


class Following:
    """An async iterator of `ServerEvent`, and an async context manager, for one task at a time.

    It comes back by itself where the connection breaks, with the id of the last event: then nothing is missed and
    nothing comes twice. Where that cannot be, the server says so, and so does this: a `gap` in the place of `missed`
    events, a `snapshot` (with the session's `state`) first of all, and again where what came since is no longer kept.
    The last event is `ended`.

    Raises what `Client` raises: NotLetIn when the token was rotated meanwhile, and what the server refuses. A server
    that is away is tried for `patience_s`, one that was never there once.
    """

    def __init__(
        self, http: httpx.AsyncClient, request: httpx.Request, link: Link, *, after: str, patience_s: float
    ) -> None:
        """`request` is sent once for each connection."""
        self.cursor = after
        """The id of the last event that it gave, to resume from; "" before the first."""
        self._http = http
        self._request = request
        self._link = link
        self._patience_s = patience_s
        self._held: deque[ServerEvent] = deque()
        self._reader = EventReader()
        self._response: httpx.Response | None = None
        self._chunks: AsyncIterator[bytes] | None = None
        self._was_there = self._is_over = False
        self._wait_s = 0.0
        self._lost_s = now()

    async def __aenter__(self) -> Self:
        """Connected: what happens from here on is not missed."""
        try:
            await self._connect()
        except BaseException:
            await self.aclose()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    @property
    def is_over(self) -> bool:
        """The session's last event was given."""
        return self._is_over

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ServerEvent:
        while not self._held:
            if self._is_over:
                await self.aclose()
                raise StopAsyncIteration
            await (self._connect() if self._chunks is None else self._read())
        event = self._held.popleft()
        self.cursor = event.id or self.cursor
        self._is_over = self._is_over or event.kind == "ended"
        return event

    async def aclose(self) -> None:
        """Leave; idempotent. The session lives on."""
        self._is_over = True
        self._held.clear()
        await self._hang_up()

    async def _read(self) -> None:
        """Some more of the stream; where it broke, the connection is gone."""
        assert self._chunks is not None
        try:
            data = await anext(self._chunks, b"")
        except httpx.RequestError:
            data = b""
        if data:
            self._held.extend(self._reader.feed(data))
            self._wait_s = 0.0
        else:
            await self._hang_up()
            self._lost_s = now()

    async def _connect(self) -> None:
        """There is a connection, or the stream is over. Raises ServerError."""
        while not self._is_over and self._chunks is None:
            if self._was_there:
                self._wait_s = min(LONGEST_WAIT_S, max(self._reader.retry_s, 2 * self._wait_s))
                await anyio.sleep(self._wait_s)
            passing = await self._try()
            if passing is None:
                continue
            pause_s = passing.after_s if isinstance(passing, TooOften) else 0.0
            patient = self._was_there or isinstance(passing, TooOften)
            if not patient or now() + pause_s - self._lost_s > self._patience_s:
                raise passing
            await anyio.sleep(pause_s)

    async def _try(self) -> ServerError | None:
        """Connect once; what may pass by itself is returned, the rest raised."""
        self._request.headers.pop("Last-Event-ID", None)
        if self.cursor:
            self._request.headers["Last-Event-ID"] = self.cursor
        try:
            self._response = await self._http.send(self._request, stream=True)
            if self._response.status_code == 200:
                self._reader = EventReader()
                self._chunks = self._response.aiter_bytes()
                self._was_there = True
                return None
            await self._response.aread()
        except httpx.RequestError as error:
            await self._hang_up()
            return unreachable(self._link, error)
        response = self._response
        await self._hang_up()
        if response.status_code == 204:  # all of it was seen
            self._is_over = True
            return None
        refusal = refusal_of(response)
        if isinstance(refusal, TooOften) or response.status_code in _PASSING:
            return refusal
        raise refusal

    async def _hang_up(self) -> None:
        chunks, self._chunks, response, self._response = self._chunks, None, self._response, None
        if chunks is not None:  # cancelled where it reads: that ends each of the generators that it is made of
            with anyio.CancelScope(shield=True) as reading, suppress(httpx.HTTPError):
                reading.cancel()
                async for _ in chunks:
                    pass
        if response is not None:
            with anyio.move_on_after(_CLOSE_S, shield=True):
                await response.aclose()
