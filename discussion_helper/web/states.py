"""States as they are sent: of many watchers who come at once all get the same bytes."""

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from discussion_helper.clock import now
from discussion_helper.events import EventHub
from discussion_helper.web.encoding import encoded
from discussion_helper.web.followed import Followed

__all__ = ["FRESH_S", "HEAVY", "State", "States"]

FRESH_S = 0.5
"""So long a state is given to others, with what came since. One of 500 turns takes 30 ms to be written; the event loop
has a voice to serve, and there may be 256 watchers."""
HEAVY = 32 * 1024
"""Bytes of a state that is worth it; a lighter one is made in less than 2 ms."""


@dataclass(frozen=True, slots=True)
class State:
    """What `Followed.snapshot` gave, when everything up to item `number` of the hub was in it."""

    number: int
    content: bytes
    """A JSON object."""
    made_s: float


class States:
    """Those that were made last; for the event loop's thread."""

    def __init__(self) -> None:
        self._kept: WeakKeyDictionary[EventHub[Any], State] = WeakKeyDictionary()

    def kept(self, followed: Followed) -> State | None:
        """One that is fresh; None = there is none."""
        for hub in [hub for hub, state in self._kept.items() if now() - state.made_s >= FRESH_S]:
            del self._kept[hub]
        return self._kept.get(followed.hub)

    def make(self, followed: Followed) -> State:
        """The one of this moment."""
        state = State(followed.hub.behind, encoded(followed.snapshot()), now())
        if len(state.content) >= HEAVY:
            self._kept[followed.hub] = state
        return state
