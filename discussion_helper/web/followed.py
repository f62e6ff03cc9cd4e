"""What a stream of server-sent events follows: a hub, a view of its items, and the state that they change."""

from dataclasses import dataclass
from typing import Any, Protocol

from discussion_helper.events import EventHub, Following, Numbered

__all__ = ["HELD", "Followed", "Missed"]

HELD = 1024
"""Items held for one watcher."""


class Followed(Protocol):
    """A session, or all of them."""

    @property
    def hub(self) -> EventHub[Any]:
        """Where its items are published."""
        ...

    def follow(self, after: int | None = None) -> Following[Numbered[Any]] | None:
        """From now on, or from after item number `after`; None when not all of that can be had."""
        ...

    def rendered(self, item: Any) -> list[dict[str, Any]]:
        """The events that an item is, in order."""
        ...

    def snapshot(self) -> dict[str, Any]:
        """All that a watcher needs who comes now; `at_s`, and the state."""
        ...


@dataclass(frozen=True, slots=True)
class Missed:
    """In the place of items that were lost; the last one of its stream."""

    number: int

    def as_dict(self) -> dict[str, Any]:
        """As it goes on the wire."""
        return {"kind": "gap", "missed": self.number}
