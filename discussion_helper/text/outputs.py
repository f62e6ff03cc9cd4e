"""What a stream gives: finished turns, artifacts as they come, phases, errors, properties."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any, ClassVar, Literal, Protocol

from discussion_helper.errors import SettingError
from discussion_helper.failures import told
from discussion_helper.text.artifacts import Artifact, payload_of
from discussion_helper.text.inputs import EventContext
from discussion_helper.text.state import Turn

__all__ = [
    "ArtifactEvent",
    "ClosedEvent",
    "ErrorEvent",
    "LifecycleEvent",
    "OutputEvent",
    "Phase",
    "PropertiesEvent",
    "TurnCompleteEvent",
    "as_wire",
    "check_output",
    "is_droppable",
    "stamped",
]

Phase = Literal["submitted", "streaming", "cancelled", "done"]
"""The model is asked; its first artifact came; the turn was cancelled; the event is over, and durable."""


class OutputEvent(Protocol):
    """Anything with a kind and a context can be emitted; those below go over the wire."""

    @property
    def kind(self) -> str:
        """Its name on the wire."""
        ...

    @property
    def context(self) -> EventContext:
        """What caused it."""
        ...


@dataclass(frozen=True, slots=True)
class TurnCompleteEvent:
    """A turn is whole, and in the thread."""

    turn: Turn
    context: EventContext = field(default_factory=EventContext)
    at_s: float = 0.0
    """Seconds since the stream was made."""
    kind: ClassVar[str] = "turn_complete"


@dataclass(frozen=True, slots=True)
class ArtifactEvent:
    """A model or a tool produced something; its kind is the artifact's."""

    artifact: Artifact
    context: EventContext = field(default_factory=EventContext)
    at_s: float = 0.0

    @property
    def kind(self) -> str:
        """The artifact's."""
        return self.artifact.kind


@dataclass(frozen=True, slots=True)
class LifecycleEvent:
    """Where an event is in its life."""

    phase: Phase
    context: EventContext = field(default_factory=EventContext)
    at_s: float = 0.0
    kind: ClassVar[str] = "lifecycle"


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """An event failed."""

    error: BaseException
    context: EventContext = field(default_factory=EventContext)
    at_s: float = 0.0
    passing: bool = field(default=False, kw_only=True, compare=False)
    """It is not what an event ended with: a processor told it and went on, or the application did."""
    kind: ClassVar[str] = "error"

    @property
    def message(self) -> str:
        """What it failed with, in a line."""
        return told(self.error)


@dataclass(frozen=True, slots=True)
class PropertiesEvent:
    """Something about the stream that is so until it is said otherwise, key by key; None takes a key away."""

    properties: Mapping[str, str | None]
    context: EventContext = field(default_factory=EventContext)
    at_s: float = 0.0
    kind: ClassVar[str] = "properties"


@dataclass(frozen=True, slots=True)
class ClosedEvent:
    """The stream's last word, for those who follow sessions; `subscribe` just ends."""

    at_s: float = 0.0
    context: EventContext = field(default_factory=EventContext)
    kind: ClassVar[str] = "closed"


_new = object.__new__
_Getter = Callable[[object], object]
_Setter = Callable[[object, object], None]


def _accessors(made: Any) -> tuple[type[Any], _Getter, _Setter, _Setter, _Setter]:
    payload: str = made.__match_args__[0]
    setters = getattr(made, payload).__set__, made.context.__set__, made.at_s.__set__
    return made, attrgetter(payload), *setters


_STAMPED: dict[type[Any], tuple[type[Any], _Getter, _Setter, _Setter, _Setter]] = {
    made: _accessors(made) for made in (TurnCompleteEvent, ArtifactEvent, LifecycleEvent, PropertiesEvent)
}
"""What gets the first field of one, and what sets the three of a new one."""


def stamped(event: OutputEvent, at_s: float) -> OutputEvent:
    """One of the events above with this time, made anew; others have none. An error is `passing` then.

    Raises SettingError for what is no event.
    Every event from outside comes through here; the constructor of a frozen dataclass takes two thirds longer.
    """
    fields = _STAMPED.get(type(event))
    if fields is None:
        check_output(event)
        return replace(event, at_s=at_s, passing=True) if type(event) is ErrorEvent else event
    made, get_payload, set_payload, set_context, set_at_s = fields
    context = event.context
    if type(context) is not EventContext or made is ArtifactEvent:
        check_output(event)
    again: OutputEvent = _new(made)
    set_payload(again, get_payload(event))
    set_context(again, context)
    set_at_s(again, at_s)
    return again


def check_output(event: object) -> None:
    """Raises SettingError for what watchers cannot be given: what has no kind, or no EventContext."""
    kind, context = getattr(event, "kind", None), getattr(event, "context", None)
    if isinstance(kind, str) and isinstance(context, EventContext):
        return
    what = f"the class {event.__name__}" if isinstance(event, type) else f"a {type(event).__name__}"
    lacks = "EventContext as its context" if isinstance(kind, str) else "kind that is a text"
    raise SettingError(f"event: {what} has no {lacks}.", fix="Use an object with both, as PropertiesEvent(...).")


def is_droppable(event: OutputEvent) -> bool:
    """Whether a watcher who does not keep up may miss it: everything but what tells the state of affairs."""
    return event.kind not in ("turn_complete", "lifecycle", "error", "closed")


def as_wire(event: OutputEvent) -> dict[str, Any] | None:
    """The event as one JSON object, what says nothing left out; None for one that is not ours."""
    payload = _payload(event)
    if payload is None:
        return None
    context = {name: getattr(event.context, name) for name in ("provenance", "event_id")}
    said = {name: value for name, value in context.items() if value}
    return {"kind": event.kind, **payload} | ({"context": said} if said else {})


def _payload(event: OutputEvent) -> dict[str, Any] | None:
    match event:
        case TurnCompleteEvent(turn):
            artifacts = [{"kind": a.kind, **p} for a in turn.artifacts if (p := payload_of(a)) is not None]
            return {"turn": {"role": turn.role, "artifacts": artifacts}}
        case ArtifactEvent(artifact):
            return payload_of(artifact)
        case LifecycleEvent(phase):
            return {"phase": phase}
        case ErrorEvent():
            return {"message": event.message}
        case PropertiesEvent(properties):
            return {"properties": dict(properties)}
    return None
