"""What is followed as server-sent events, from where the watcher left off."""

from collections.abc import AsyncGenerator
from typing import Any

import anyio

from discussion_helper.events import EventHub, Following, Numbered
from discussion_helper.web.bookmark import Bookmark
from discussion_helper.web.encoding import encoded
from discussion_helper.web.followed import Followed
from discussion_helper.web.states import State, States

__all__ = ["RETRY_MS", "EventStream", "has_all"]

RETRY_MS = 1000
"""What a browser is told to wait before it comes back."""
_HEARTBEAT = b":\n\n"


def has_all(hub: EventHub[Any], last_id: str) -> bool:
    """The watcher has seen the last event: a stream would be empty, and a browser would ask for ever."""
    return hub.behind < hub.sequence and Bookmark.parse(last_id) == Bookmark(hub.epoch, hub.sequence)


class EventStream:
    """A `Lasting` answer: from the event of `last_id` on where what came since is kept; else the state comes first.

    That is a `snapshot`. It says `stale` to a watcher that had an id, and `why` it did not get what it missed:
    "epoch" where that is an id of another run of the session or the server, "behind" where more has come since than is
    kept, "unknown" where it is an id of nothing that was told.

    A watcher that does not keep up has a `gap` as its last event, which tells how many it has `missed`. It has no id,
    so that who comes back with the last one gets these after all, or a snapshot.
    """

    media_type = "text/event-stream"

    def __init__(self, followed: Followed, last_id: str, *, heartbeat_s: float, states: States | None = None) -> None:
        """`last_id`: as the watcher gave it, whatever that is; "" = it has none. `states`: what watchers share."""
        self._heartbeat_s = heartbeat_s
        self._states = states or States()
        self._followed = followed
        self._last_id = last_id
        self._place: Bookmark | None = None
        self._first = b""
        self._following: Following[Numbered[Any]] | None = None

    @property
    def dropped(self) -> int:
        """Events that were lost: a `gap` tells of them."""
        return 0 if self._following is None else self._following.dropped

    def begin(self) -> None:
        """Subscribe, and take the state of that moment if the watcher needs it, or a fresh one and what came since."""
        self._first = b"retry: %d\n\n" % RETRY_MS
        place = Bookmark.parse(self._last_id)
        if place is not None and place.epoch == self._followed.hub.epoch:
            self._following = self._followed.follow(place.number)
        if self._following is not None:
            self._place = place
        else:
            state = self._begin_with_state()
            self._first += self._snapshot(state, {"stale": True, "why": self._why(place)} if self._last_id else {})

    def _begin_with_state(self) -> State:
        kept = self._states.kept(self._followed)
        if kept is not None:
            self._following = self._followed.follow(kept.number)
        if kept is None or self._following is None:
            self._following = self._followed.follow()
            kept = self._states.make(self._followed)
        return kept

    def _why(self, place: Bookmark | None) -> str:
        if place is not None and place.epoch != self._followed.hub.epoch:
            return "epoch"
        return "unknown" if place is None or place.number > self._followed.hub.sequence else "behind"

    def _snapshot(self, state: State, stale: dict[str, Any]) -> bytes:
        place = Bookmark(self._followed.hub.epoch, state.number)
        head = encoded({"kind": "snapshot", **stale}).removesuffix(b"}")
        body = state.content.removeprefix(b"{")
        return b"id: %b\nevent: snapshot\ndata: %b,%b\n\n" % (str(place).encode(), head, body)

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
        events = self._followed.rendered(one.item)
        seen = self._place.part if self._place is not None and one.number == self._place.number + 1 else 0
        seen = seen if seen < len(events) else 0  # it was given for other kinds, of which the item was more events
        return b"".join(
            _framed(event, self._after(one.number, part, of=len(events)))
            for part, event in enumerate(events, 1)
            if part > seen
        )

    def _after(self, number: int, part: int, *, of: int) -> Bookmark | None:
        return Bookmark.at(self._followed.hub.epoch, number, part, of=of) if number else None

    async def beside(self) -> None:
        """Nothing."""

    async def aclose(self) -> None:
        """Leave."""
        if self._following is not None:
            await self._following.aclose()


def _framed(event: dict[str, Any], place: Bookmark | None) -> bytes:
    number = b"" if place is None else f"id: {place}\n".encode()
    return b"%bevent: %b\ndata: %b\n\n" % (number, str(event["kind"]).encode(), encoded(event))
