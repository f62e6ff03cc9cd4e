"""What a watcher of a session gets: which items of its hub, and how each looks as JSON."""

from collections.abc import Iterable
from typing import Any, Protocol

from discussion_helper.events import COARSE_KINDS, FINE_KINDS, DropOldest, Event, EventHub, Numbered, Subscription
from discussion_helper.registry import Running
from discussion_helper.text.artifacts import ARTIFACTS
from discussion_helper.text.outputs import OutputEvent, as_wire
from discussion_helper.text.stream import Stream
from discussion_helper.text.watching import to_event
from discussion_helper.web.problems import Problem

__all__ = ["HELD", "OUTPUT_KINDS", "Feed", "Watched", "checked_kinds"]

HELD = 1024
"""Items held for one watcher."""
OUTPUT_KINDS = ("turn_complete", "lifecycle", "error", "properties", *ARTIFACTS)
"""What a text stream gives beside the events that every session has."""

_SESSION_KINDS = (*COARSE_KINDS, *FINE_KINDS)


class Watched(Running, Protocol):
    """A session that can be followed."""

    @property
    def hub(self) -> EventHub[Any]:
        """Where its events are published."""
        ...


def checked_kinds(asked: Iterable[str], known: Iterable[str]) -> frozenset[str]:
    """Raises Problem naming one that there is not."""
    wanted, known = frozenset(asked), tuple(known)
    for kind in sorted(wanted - set(known)):
        raise Problem(422, f"kinds: there is no kind {kind[:80]!r} here.", fix=f"Use {', '.join(known)}.")
    return wanted


class Feed:
    """The items of one session for one watcher. No kinds = the coarse ones, "*" = all that every session has."""

    def __init__(self, session: Watched, kinds: Iterable[str] = ()) -> None:
        """Raises Problem for an unknown kind."""
        self._hub = session.hub
        self._text = isinstance(session, Stream)
        output = OUTPUT_KINDS if self._text else ()
        asked = checked_kinds(kinds, (*_SESSION_KINDS, "gap", "*", *output))
        wanted = (asked or frozenset(COARSE_KINDS)) | (set(_SESSION_KINDS) if "*" in asked else set())
        self._kinds = wanted & set(_SESSION_KINDS)
        self._output = wanted & set(output)

    def follow(self, after: int | None = None) -> Subscription[Numbered[Any]] | None:
        """From now on, or from after item number `after`; None when that is no longer kept."""
        gap: DropOldest[Numbered[Any]] = DropOldest(lambda missed, _: Numbered(0, _Missed(missed)))
        return self._hub.follow(self._select, overflow=gap, capacity=HELD, after=after)

    def _select(self, item: Any) -> Any | None:
        if not self._text:
            return item if item.kind in self._kinds else None
        event = to_event(item) if self._kinds else None
        return item if item.kind in self._output or (event and event.kind in self._kinds) else None

    def rendered(self, item: Any) -> list[dict[str, Any]]:
        """The events that the item is, in order."""
        if isinstance(item, _Missed):
            return [{"kind": "gap", "missed": item.number}]
        if isinstance(item, Event):
            return [item.as_dict()]
        return self._of_stream(item)

    def _of_stream(self, item: OutputEvent) -> list[dict[str, Any]]:
        event = to_event(item)
        shown = [event.as_dict()] if event is not None and event.kind in self._kinds else []
        line = as_wire(item) if item.kind in self._output else None
        return shown if line is None else [*shown, line]


class _Missed:
    """In the place of items that were lost."""

    def __init__(self, number: int) -> None:
        self.number = number
