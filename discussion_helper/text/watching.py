"""A stream's output as the events that every session has: who has the floor, finished turns, the end."""

from discussion_helper.events import Event
from discussion_helper.text.artifacts import TextDelta
from discussion_helper.text.outputs import (
    ArtifactEvent,
    ClosedEvent,
    ErrorEvent,
    LifecycleEvent,
    OutputEvent,
    Phase,
    TurnCompleteEvent,
)
from discussion_helper.types import Floor

__all__ = ["floor_in", "to_event"]


def floor_in(phase: Phase) -> Floor | None:
    """Who has the floor from this phase on; None if that does not change."""
    match phase:
        case "submitted":
            return Floor.THINKING
        case "streaming":
            return Floor.SPEAKING
        case "done":
            return Floor.LISTENING
    return None


def to_event(output: OutputEvent) -> Event | None:
    """The event that a page about any session shows; None for what is of the stream alone."""
    match output:
        case LifecycleEvent(phase, at_s=at_s):
            floor = floor_in(phase)
            if floor is None:
                return Event("interruption", at_s, {"by": "cancel"})
            return Event("floor", at_s, {"floor": floor.value})
        case TurnCompleteEvent(turn, at_s=at_s) if turn.role in ("user", "assistant") and turn.text:
            speaker = "user" if turn.role == "user" else "agent"
            return Event("utterance", at_s, {"speaker": speaker, "text": turn.text, "interrupted": turn.interrupted})
        case ArtifactEvent(TextDelta(content), at_s=at_s):
            return Event("partial", at_s, {"speaker": "agent", "delta": content})
        case ErrorEvent(at_s=at_s):
            return Event("decision", at_s, {"what": "failed", "why": output.message})
        case ClosedEvent(at_s=at_s):
            return Event("ended", at_s, {"reason": "stopped"})
    return None
