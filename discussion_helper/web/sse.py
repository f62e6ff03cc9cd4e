"""What is followed as a stream of events, from where the watcher left off."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import anyio

from discussion_helper.events import EventHub, Following, Numbered
from discussion_helper.web.bookmark import Bookmark
from discussion_helper.web.encoding import encoded
from discussion_helper.web.followed import Followed
from discussion_helper.web.framing import SERVER_SENT, Framing
from discussion_helper.web.states import State, States

__all__ = ["EventStream", "has_all"]


def has_all(hub: EventHub[Any], last_id: str) -> bool:
    """The watcher has seen the last event: a stream would be empty, and a browser would ask for ever."""
    return hub.behind < hub.sequence and Bookmark.parse(last_id) == Bookmark(hub.epoch, hub.sequence)


class EventStream:
    """Frames, and so a `Lasting` answer: from the event of `last_id` on, where what came since is kept.

    Else the state comes first. That is a `snapshot`. It says `stale` to a watcher that had an id, and `why` it did not
    get what it missed: "epoch" where that is an id of another run of the session or the server, "behind" where more has
    come since than is kept, "unknown" where it is an id of nothing that was told.

    A watcher that does not keep up has a `gap` as its last event, which tells how many it has `missed`. It has no id,
    so that who comes back with the last one gets these after all, or a snapshot.
    """

    media_type = "text/event-stream"

    def __init__(
        self,
        followed: Followed,
        last_id: str,
        *,
        heartbeat_s: float,
        states: States | None = None,
        framing: Framing = SERVER_SENT,
    ) -> None:
        """`last_id`: as the watcher gave it, whatever that is; "" = it has none. `states`: what watchers share."""
        self._heartbeat_s = heartbeat_s
        self._framing = framing
        self._states = states or States()
        self._followed = followed
        self._last_id = last_id
        self._place: Bookmark | None = None
        self._first: list[bytes] = []
        self._following: Following[Numbered[Any]] | None = None

    @property
    def dropped(self) -> int:
        """Events that were lost: a `gap` tells of them."""
        return 0 if self._following is None else self._following.dropped

    def begin(self) -> None:
        """Subscribe, and take the state of that moment if the watcher needs it, or a fresh one and what came since."""
        self._first = [self._framing.first] if self._framing.first else []
        place = Bookmark.parse(self._last_id)
        if place is not None and place.epoch == self._followed.hub.epoch:
            self._following = self._followed.follow(place.number)
        if self._following is not None:
            self._place = place
        else:
            state = self._begin_with_state()
            stale = {"stale": True, "why": self._why(place)} if self._last_id else {}
            self._first.append(self._snapshot(state, stale))

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
        return self._framing.of("snapshot", b"%b,%b" % (head, body), str(place))

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The frames, as bytes of one stream."""
        async with aclosing(self.frames()) as several:
            async for frames in several:
                yield b"".join(frames)

    async def frames(self) -> AsyncGenerator[list[bytes], None]:
        """The events, some at a time, and a sign of life where there are none for long."""
        assert self._following is not None
        yield self._first
        while True:
            taken = [self._framing.alive]
            with anyio.move_on_after(self._heartbeat_s):
                try:
                    taken = self._of(await anext(self._following))
                except StopAsyncIteration:
                    return
            yield taken

    def _of(self, one: Numbered[Any]) -> list[bytes]:
        """The item's events; those that a resumed watcher has seen of it are left out."""
        events = self._followed.rendered(one.item)
        seen = self._place.part if self._place is not None and one.number == self._place.number + 1 else 0
        seen = seen if seen < len(events) else 0  # it was given for other kinds, of which the item was more events
        return [
            self._framing.of(str(event["kind"]), encoded(event), self._after(one.number, part, of=len(events)))
            for part, event in enumerate(events, 1)
            if part > seen
        ]

    def _after(self, number: int, part: int, *, of: int) -> str:
        return str(Bookmark.at(self._followed.hub.epoch, number, part, of=of)) if number else ""

    async def beside(self) -> None:
        """Nothing."""

    async def aclose(self) -> None:
        """Leave."""
        if self._following is not None:
            await self._following.aclose()
