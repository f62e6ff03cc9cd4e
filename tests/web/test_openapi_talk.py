"""The events and the state of a talk with real parts are what the OpenAPI document says, member by member."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from discussion_helper.audio.files import load
from discussion_helper.event import Event
from discussion_helper.testing import EchoResponder
from discussion_helper.testing.room import After, CutSynthesiser, NoEchoPath, Room, cheap_detectors, run_in_room
from discussion_helper.web.openapi import document_of

SPEECH = Path(__file__).parents[2] / "audio" / "speech"


def talk() -> tuple[list[Event], list[dict[str, Any]]]:
    """One with an interruption: its events, and its state in the middle and at the end."""
    goforward, bobby = (load(SPEECH / f"sphinx_{name}.wav", 48_000) for name in ("goforward", "cards_002"))

    async def run(room: Room) -> tuple[list[Event], list[dict[str, Any]]]:
        session = room.session(
            responder=EchoResponder(sentences=3),
            recogniser=room.recogniser(),
            synthesiser=CutSynthesiser(voice=bobby.samples, delay_s=0.1),
        )
        events = session.events("*")
        session.start()
        room.say(goforward, at_s=0.5, text="go forward ten meters")
        room.say(bobby, after=After("reply", 1, 1.5), text="the second of them")
        await room.reached("reply", 2)
        states = [session.state]
        await room.quiet(1.0)
        await session.stop()
        return [event async for event in events], [*states, session.state]

    return run_in_room(run, Room(detectors=cheap_detectors, echo_path=NoEchoPath))


def test_a_talk_with_real_parts_is_as_described(closed: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    told, states = talk()
    components = closed(document_of([], cookie=None, has_password=False))["components"]

    def check(content: dict[str, Any], name: str) -> None:
        Draft202012Validator({"$ref": f"#/components/schemas/{name}", "components": components}).validate(content)

    for event in told:
        check(event.as_dict(), "Event")
    for state in states:
        check(state, "State")
    kinds = {event.kind for event in told}
    assert {"floor", "utterance", "timing", "ended", "partial", "decision", "interruption", "device", "level"} <= kinds
    assert states[0]["live"]["level"] is not None
    assert states[0]["decisions"]
