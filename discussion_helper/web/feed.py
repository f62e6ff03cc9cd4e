"""What a watcher of a session gets: which items of its hub, and how each looks as JSON."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from discussion_helper.events import COARSE_KINDS, FINE_KINDS, DropOldest, Event, EventHub, Numbered, Subscription
from discussion_helper.registry import Running
from discussion_helper.text.artifacts import ARTIFACTS
from discussion_helper.text.outputs import OutputEvent, as_wire
from discussion_helper.text.stream import Stream
from discussion_helper.text.watching import Watching
from discussion_helper.web.problems import Problem

__all__ = ["HELD", "OUTPUT_KINDS", "Feed", "Watched", "checked_kinds"]

HELD = 1024
"""Items held for one watcher."""
OUTPUT_KINDS = ("turn_complete", "lifecycle", "error", "properties", *ARTIFACTS)
"""What a text stream gives beside the events that every session has."""

_SESSION_KINDS = (*COARSE_KINDS, *FINE_KINDS)
_LOOKED_BACK = (256, 64, 16, 4, 1)
"""Items before the one that a watcher resumes after."""


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
        self._session = session
        self._text = isinstance(session, Stream)
        output = OUTPUT_KINDS if self._text else ()
        asked = checked_kinds(kinds, (*_SESSION_KINDS, "gap", "*", *output))
        wanted = (asked or frozenset(COARSE_KINDS)) | (set(_SESSION_KINDS) if "*" in asked else set())
        self._kinds = wanted & set(_SESSION_KINDS)
        self._output = wanted & set(output)

    def follow(self, after: int | None = None) -> Subscription[Numbered[Any]] | None:
        """From now on, or from after item number `after`; None when that is no longer kept."""
        gap: DropOldest[Numbered[Any]] = DropOldest(lambda missed, _: Numbered(0, _Missed(missed)))
        select = self._of_stream(after) if self._text else self._of_session
        return self._session.hub.follow(select, overflow=gap, capacity=HELD, after=after)

    def _of_session(self, event: Event) -> Event | None:
        return event if event.kind in self._kinds else None

    def _of_stream(self, after: int | None) -> Callable[[OutputEvent], "_Shown | None"]:
        watching = Watching(self._session.floor if after is None else None)
        for output in () if after is None else self._kept_until(after):
            watching.event_of(output)

        def select(output: OutputEvent) -> _Shown | None:
            event = watching.event_of(output)
            shown = event if event is not None and event.kind in self._kinds else None
            line = output if output.kind in self._output else None
            return None if shown is None and line is None else _Shown(shown, line)

        return select

    def _kept_until(self, number: int) -> list[OutputEvent]:
        """Some of what came up to there, which tells who had the floor then; fewer where not all of it is kept."""
        for back in _LOOKED_BACK:
            kept = self._session.hub.since(max(0, number - back))
            if kept is not None:
                return [output for at, output in kept if at <= number]
        return []

    def rendered(self, item: Any) -> list[dict[str, Any]]:
        """The events that the item is, in order."""
        if isinstance(item, _Missed):
            return [{"kind": "gap", "missed": item.number}]
        if isinstance(item, Event):
            return [item.as_dict()]
        return self._lines_of(item)

    def _lines_of(self, item: "_Shown") -> list[dict[str, Any]]:
        shown = [] if item.event is None else [item.event.as_dict()]
        line = None if item.output is None else as_wire(item.output)
        return shown if line is None else [*shown, line]


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a watcher of a stream gets of one output: as an event of every session, as itself, or as both."""

    event: Event | None
    output: OutputEvent | None


@dataclass(frozen=True, slots=True)
class _Missed:
    """In the place of items that were lost."""

    number: int
