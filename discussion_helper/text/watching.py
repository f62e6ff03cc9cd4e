"""A stream's output as the events that every session has: who has the floor, finished turns, the end."""

from dataclasses import replace
from typing import Any

from discussion_helper.events import Event
from discussion_helper.text.artifacts import TextDelta
from discussion_helper.text.inputs import EventContext
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

__all__ = ["Watching", "floor_in", "to_event"]


def floor_in(phase: Phase) -> Floor | None:
    """Who has the floor from this phase on; None if that does not change, as in a phase that is not ours."""
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
        case LifecycleEvent("cancelled", at_s=at_s):
            return Event("interruption", at_s, {"by": "cancel"})
        case LifecycleEvent(phase, at_s=at_s):
            floor = floor_in(phase)
            return None if floor is None else Event("floor", at_s, {"floor": floor.value})
        case TurnCompleteEvent(turn, at_s=at_s) if turn.role in ("user", "assistant") and turn.text:
            speaker = "user" if turn.role == "user" else "agent"
            times = dict.fromkeys(("started_s", "ended_s"), round(at_s, 3))
            return Event(
                "utterance",
                at_s,
                {"speaker": speaker, "text": turn.text, **times, "interrupted": turn.interrupted},
            )
        case ArtifactEvent(TextDelta(content), at_s=at_s):
            return Event("partial", at_s, {"speaker": "agent", "delta": content})
        case ErrorEvent(at_s=at_s):
            return Event("decision", at_s, {"what": "failed", "why": output.message})
        case ClosedEvent(at_s=at_s):
            return Event("ended", at_s, {"reason": "stopped"})
    return None


class Watching:
    """What one watcher is told: `to_event`, with the floor only when it changes, and why a turn gave it back.

    A turn that was cancelled gives `floor` with `"reason": "cancelled"`, one that failed `"reason": "failed"` and
    `"error"`, as `ended` does: the thread keeps no answer of either, so that there is no utterance to carry it, and a
    page that shows coarse kinds alone can mark the question. An event that never asked the model changes no floor.
    """

    def __init__(self, floor: Floor | None) -> None:
        """`floor`: whose it is when the watching begins; None = not known, and the first one is told."""
        self._floor = floor
        self._broken: EventContext | None = None
        self._why: dict[str, Any] = {}

    def event_of(self, output: OutputEvent) -> Event | None:
        """The event for this watcher. Wants every output, in order."""
        event = to_event(output)
        match output:
            case ErrorEvent(context=context, passing=False):
                self._broken, self._why = context, {"reason": "failed", "error": output.message}
            case LifecycleEvent("cancelled", context):
                self._broken, self._why = context, {"reason": "cancelled"}
            case LifecycleEvent(phase, context):
                why = self._why_of(phase, context)
                return None if event is None else self._changed(event, why)
        return event

    def _why_of(self, phase: Phase, context: EventContext) -> dict[str, Any]:
        """An event's end follows its reason at once; any other phase is of an event that goes on, or another one."""
        broken, why, self._broken, self._why = self._broken, self._why, None, {}
        return why if phase == "done" and context == broken else {}

    def _changed(self, event: Event, why: dict[str, Any]) -> Event | None:
        floor = Floor(event.data["floor"])
        if floor is self._floor:
            return None
        self._floor = floor
        return replace(event, data={**event.data, **why})
