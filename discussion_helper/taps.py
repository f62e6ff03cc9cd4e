"""Taps: who is told of every event of every session at once, without a task and without a buffer."""

from collections.abc import Callable
from typing import Any

from discussion_helper.events import DropOldest, EventHub, Subscription
from discussion_helper.registry import Sessions

__all__ = ["Begin", "Tap", "Taps"]

Tap = Callable[[Any], object]
"""Told of each item of one session's hub, as it is published. Must not wait; what it raises is logged, once."""
Begin = Callable[[Any], Tap]
"""Gives the tap of a session."""
_CAPACITY = 1024
"""Nothing is ever held; a small one would slow down whoever publishes in a loop."""
_LAST = ("ended", "closed")
"""Kinds of the last item."""


class Taps:
    """On the sessions of a registry that are live, and on those that are added until `close`."""

    def __init__(self, sessions: Sessions[Any], *begin: Begin) -> None:
        self._begin = begin
        self._held: dict[str, tuple[EventHub[Any], Subscription[Any]]] = {}
        for session_id in sessions.ids():
            self._add(sessions.get(session_id))
        self._leave = sessions.tell_added(self._add)

    def _add(self, session: Any) -> None:
        """One that is added again is tapped already. Of one that has failed before that the end is told."""
        hub: EventHub[Any] = session.hub
        if self._held.get(session.id, (None,))[0] is hub:
            return
        taps = [begin(session) for begin in self._begin]

        def told(item: Any) -> None:
            if item.kind in _LAST and self._held.get(session.id, (None,))[0] is hub:
                del self._held[session.id]
            for tap in taps:
                tap(item)

        nothing: DropOldest[None] = DropOldest(lambda _, following: following)
        subscription = hub.subscribe_as(told, overflow=nothing, capacity=_CAPACITY)
        if not session.ended:
            self._held[session.id] = hub, subscription

    def close(self) -> None:
        """Nobody is told of anything any more. Idempotent."""
        self._leave()
        self._held.clear()  # a hub holds its watchers weakly

    def __len__(self) -> int:
        """Sessions that are tapped."""
        return len(self._held)
