"""A session's events as server-sent events, from where the watcher left off."""

from collections.abc import AsyncGenerator
from typing import Any

import anyio

from discussion_helper.events import Numbered, Subscription
from discussion_helper.web.bookmark import Bookmark
from discussion_helper.web.encoding import encoded
from discussion_helper.web.feed import Feed, Watched

__all__ = ["RETRY_MS", "EventStream", "has_all"]

RETRY_MS = 1000
"""What a browser is told to wait before it comes back."""
_HEARTBEAT = b":\n\n"


def has_all(session: Watched, place: Bookmark | None) -> bool:
    """The watcher has seen the session's last event: a stream would be empty, and a browser would ask for ever."""
    hub = session.hub
    return hub.behind < hub.sequence and place == Bookmark(hub.epoch, hub.sequence)


class EventStream:
    """A `Lasting` answer: from `place` on where the session still has what came since; else its state comes first."""

    media_type = "text/event-stream"

    def __init__(self, session: Watched, feed: Feed, place: Bookmark | None, *, heartbeat_s: float) -> None:
        self._heartbeat_s = heartbeat_s
        self._session = session
        self._feed = feed
        self._place = place if place is not None and place.epoch == session.hub.epoch else None
        self._first = b""
        self._following: Subscription[Numbered[Any]] | None = None

    @property
    def dropped(self) -> int:
        """Events that were lost: a `gap` tells of them."""
        return 0 if self._following is None else self._following.dropped

    def begin(self) -> None:
        """Subscribe, and take the state of that very moment if the watcher needs it."""
        self._first = b"retry: %d\n\n" % RETRY_MS
        if self._place is not None:
            self._following = self._feed.follow(self._place.number)
        if self._following is None:
            self._place = None
            self._following = self._feed.follow()
            self._first += self._snapshot()

    def _snapshot(self) -> bytes:
        hub, state = self._session.hub, self._session.state
        event = {"kind": "snapshot", "at_s": state["elapsed_s"], "state": state}
        return _framed(event, Bookmark(hub.epoch, hub.behind))

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The events, and a comment where there are none for long."""
        assert self._following is not None
        yield self._first
        while True:
            taken = _HEARTBEAT
            with anyio.move_on_after(self._heartbeat_s):
                try:
                    taken = self._of(await anext(self._following))
                except StopAsyncIteration:
                    return
            yield taken

    def _of(self, one: Numbered[Any]) -> bytes:
        """The item's events; those that a resumed watcher has seen of it are left out."""
        events = self._feed.rendered(one.item)
        seen = self._place.part if self._place is not None and one.number == self._place.number + 1 else 0
        return b"".join(
            _framed(event, self._after(one.number, part, of=len(events)))
            for part, event in enumerate(events, 1)
            if part > seen
        )

    def _after(self, number: int, part: int, *, of: int) -> Bookmark | None:
        return Bookmark.at(self._session.hub.epoch, number, part, of=of) if number else None

    async def beside(self) -> None:
        """Nothing."""

    async def aclose(self) -> None:
        """Leave the session."""
        if self._following is not None:
            await self._following.aclose()


def _framed(event: dict[str, Any], place: Bookmark | None) -> bytes:
    number = b"" if place is None else f"id: {place}\n".encode()
    return b"%bevent: %b\ndata: %b\n\n" % (number, str(event["kind"]).encode(), encoded(event))
