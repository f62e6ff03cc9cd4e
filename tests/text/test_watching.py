"""What a watcher of coarse kinds is told of a stream."""

from typing import Any

import pytest

from discussion_helper.text.artifacts import Text, TextDelta
from discussion_helper.text.inputs import EventContext
from discussion_helper.text.outputs import (
    ArtifactEvent,
    ClosedEvent,
    ErrorEvent,
    LifecycleEvent,
    OutputEvent,
    TurnCompleteEvent,
)
from discussion_helper.text.state import Turn
from discussion_helper.text.watching import Watching
from discussion_helper.types import Floor

ONE, TWO = EventContext(event_id="one"), EventContext(event_id="two")
CANCELLED = {"floor": "listening", "reason": "cancelled"}
FAILED = {"floor": "listening", "reason": "failed", "error": "no more words"}


def phases(*names: Any, of: EventContext = ONE) -> list[OutputEvent]:
    return [LifecycleEvent(name, of) for name in names]


def floors(*outputs: OutputEvent, floor: Floor | None = Floor.LISTENING) -> list[dict[str, Any]]:
    watching = Watching(floor)
    events = [watching.event_of(output) for output in outputs]
    return [event.data for event in events if event is not None and event.kind == "floor"]


@pytest.mark.parametrize(
    ("outputs", "told"),
    [
        (phases("submitted", "streaming", "done"), ["thinking", "speaking", "listening"]),
        (phases("submitted", "submitted", "streaming", "done"), ["thinking", "speaking", "listening"]),
        (phases("submitted", "streaming") * 2 + phases("done"), ["thinking", "speaking"] * 2 + ["listening"]),
        (phases("done"), []),
        ([*phases("submitted", "done"), *phases("done", of=TWO)], ["thinking", "listening"]),
    ],
)
def test_the_floor_is_told_when_it_changes(outputs: list[OutputEvent], told: list[str]) -> None:
    assert [{"floor": floor} for floor in told] == floors(*outputs)


def test_a_cancelled_turn_gives_the_floor_back_once_and_says_why() -> None:
    interrupted = [*phases("submitted", "streaming", "cancelled", "done"), *phases("done", of=TWO)]

    assert CANCELLED == floors(*interrupted)[-1]
    assert 3 == len(floors(*interrupted))
    assert {"floor": "listening"} == floors(*interrupted, *phases("submitted", "done", of=TWO))[-1]


def test_a_failed_turn_too_and_no_other_turns_failure_is_told_of_it() -> None:
    error = ErrorEvent(ValueError("no more words"), ONE)

    assert FAILED == floors(*phases("submitted"), error, *phases("done"))[-1]
    assert {"floor": "listening"} == floors(*phases("submitted"), error, *phases("done", of=TWO))[-1]


def test_who_does_not_know_the_floor_is_told_the_first_one() -> None:
    assert [{"floor": "listening"}] == floors(*phases("done", "done"), floor=None)


def test_everything_else_is_told_as_it_is() -> None:
    watching = Watching(Floor.SPEAKING)
    outputs: list[OutputEvent] = [
        TurnCompleteEvent(Turn("user", (Text("Hi"),))),
        ArtifactEvent(TextDelta("He")),
        ErrorEvent(ValueError()),
        *phases("cancelled"),
        ClosedEvent(),
    ]
    kinds = [event.kind for output in outputs if (event := watching.event_of(output)) is not None]

    assert ["utterance", "partial", "decision", "interruption", "ended"] == kinds


def test_a_turn_is_told_with_its_times() -> None:
    told = Watching(Floor.SPEAKING).event_of(TurnCompleteEvent(Turn("user", (Text("Hi"),)), at_s=2.00049))

    assert told is not None
    assert (2.0, 2.0) == (told.data["started_s"], told.data["ended_s"])


def test_a_reason_is_told_of_the_turn_that_ended_with_it_and_of_no_retry() -> None:
    error = ErrorEvent(ValueError("no more words"), ONE)
    failed = [*phases("submitted"), error, *phases("done")]

    assert {"floor": "listening"} == floors(*failed, *phases("submitted", "streaming", "done"))[-1]
    assert {"floor": "listening"} == floors(error, *phases("submitted", "done"))[-1]
    assert {"floor": "listening"} == floors(*phases("cancelled", "submitted", "done"))[-1]
    assert FAILED == floors(*failed, *failed)[-1]


def test_an_error_in_passing_is_no_reason_and_hides_none() -> None:
    error, passing = ErrorEvent(ValueError("no more words"), ONE), ErrorEvent(OSError("else"), ONE, passing=True)
    other = ErrorEvent(OSError("else"), passing=True)

    assert {"floor": "listening"} == floors(*phases("submitted"), passing, *phases("done"))[-1]
    assert FAILED == floors(*phases("submitted"), error, passing, other, *phases("done"))[-1]


def test_an_unknown_phase_is_no_event_of_the_session() -> None:
    assert [] == [event for output in phases("paused") if (event := Watching(None).event_of(output)) is not None]
