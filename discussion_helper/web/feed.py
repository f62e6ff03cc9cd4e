"""What a watcher of a session gets: which items of its hub, how each looks as JSON, and what need not wait for it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from discussion_helper.events import (
    COARSE_KINDS,
    FINE_KINDS,
    Backlog,
    Event,
    EventHub,
    Following,
    Numbered,
    Standing,
)
from discussion_helper.registry import Running
from discussion_helper.text.artifacts import ARTIFACTS
from discussion_helper.text.outputs import OutputEvent, as_wire
from discussion_helper.text.stream import Stream
from discussion_helper.text.watching import Watching
from discussion_helper.web.followed import HELD, Missed
from discussion_helper.web.problems import Problem

__all__ = ["OUTPUT_KINDS", "Feed", "checked_kinds"]

OUTPUT_KINDS = ("turn_complete", "lifecycle", "error", "properties", *ARTIFACTS)
"""What a text stream gives beside the events that every session has."""

_SESSION_KINDS = (*COARSE_KINDS, *FINE_KINDS)
_LOOKED_BACK = (256, 64, 16, 4, 1)
"""Items before the one that a watcher resumes after."""
_ORDINARY = Standing()
_STANDINGS: Mapping[tuple[str, str], Standing] = {
    ("level", ""): Standing("level", voids="level"),
    ("partial", "user"): Standing("user", voids="user"),  # all that was said so far is in the newest one
    ("partial", "agent"): Standing("agent"),  # each is one more piece of the reply
    ("utterance", "user"): Standing(voids="user"),
    ("utterance", "agent"): Standing(voids="agent"),
}
"""By kind and speaker."""


def checked_kinds(asked: Iterable[str], known: Iterable[str]) -> frozenset[str]:
    """Raises Problem naming one that there is not."""
    wanted, known = frozenset(asked), tuple(known)
    for kind in sorted(wanted - set(known)):
        raise Problem(422, f"kinds: there is no kind {kind[:80]!r} here.", fix=f"Use {', '.join(known)}.")
    return wanted


class Feed:
    """A `Followed`, for one watcher. No kinds = the coarse ones, "*" = all that every session has.

    Of what waits for a watcher that does not keep up a `level` is replaced by the next one, and so is what the user
    has said so far; a finished turn makes void what was told of it before. Nothing else is ever left out: where more
    than HELD items or `most_bytes` wait, all of them go, and a gap ends the stream.
    """

    def __init__(self, session: Running, kinds: Iterable[str] = (), *, most_bytes: int) -> None:
        """Raises Problem for an unknown kind."""
        self._session = session
        self._most_bytes = most_bytes
        self._text = isinstance(session, Stream)
        output = OUTPUT_KINDS if self._text else ()
        asked = checked_kinds(kinds, (*_SESSION_KINDS, "gap", "*", *output))
        wanted = (asked or frozenset(COARSE_KINDS)) | (set(_SESSION_KINDS) if "*" in asked else set())
        self._kinds = wanted & set(_SESSION_KINDS)
        self._output = wanted & set(output)

    @property
    def hub(self) -> EventHub[Any]:
        """See `Followed`."""
        return self._session.hub

    def follow(self, after: int | None = None) -> Following[Numbered[Any]] | None:
        """See `Followed`."""
        backlog: Backlog[Numbered[Any]] = Backlog(items=HELD, weight=self._most_bytes, standing=_standing_of)
        select = self._of_stream(after) if self._text else self._of_session
        return self._session.hub.follow(select, backlog=backlog, gap=Missed, after=after)

    def snapshot(self) -> dict[str, Any]:
        """See `Followed`."""
        state = self._session.state
        return {"at_s": state["elapsed_s"], "state": state}

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
        """See `Followed`."""
        return self._lines_of(item) if isinstance(item, _Shown) else [item.as_dict()]

    def _lines_of(self, item: "_Shown") -> list[dict[str, Any]]:
        shown = [] if item.event is None else [item.event.as_dict()]
        line = None if item.output is None else as_wire(item.output)
        return shown if line is None else [*shown, line]


@dataclass(frozen=True, slots=True)
class _Shown:
    """What a watcher of a stream gets of one output: as an event of every session, as itself, or as both."""

    event: Event | None
    output: OutputEvent | None


def _standing_of(one: Numbered[Any]) -> Standing:
    item = one.item
    if isinstance(item, Event):
        return _of_event(item)
    standing = _ORDINARY if item.event is None else _of_event(item.event)
    return standing if item.output is None else Standing(voids=standing.voids)  # the output itself waits


def _of_event(event: Event) -> Standing:
    return _STANDINGS.get((event.kind, str(event.data.get("speaker", ""))), _ORDINARY)
