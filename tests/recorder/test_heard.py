"""Notes and events in words."""

import pytest

from discussion_helper.recorder.entries import Told
from discussion_helper.recorder.heard import Happened, Heard, happened, heard
from discussion_helper.recorder.note_line import note_line
from discussion_helper.turn.turns import TurnStarted
from discussion_helper.voice.notes import Attends, Decided, Ducked, Note, Onset, Resumed, Turn


def decided(what: str, text: str = "") -> Decided:
    return Decided(
        at_s=1.0,
        started_at_s=0.0,
        voiced_until_s=0.5,
        what=what,
        why="words",
        voiced_s=0.5,
        ducked_s=0.5,
        level_dbfs=-20.0,
        over_echo_db=9.0,
        text=text,
        doubt=0.314 if text else 0.0,
    )


def told(*notes: Note) -> list[str]:
    found: list[Heard] = []
    for note in notes:
        found.append(heard(1.0, note_line(note), found))
    return [one.told for one in found]


def test_what_is_attended_to_is_told_in_words() -> None:
    assert ["released: push to talk"] == told(Attends(1.0, "released", "push to talk"))


def test_who_interrupts_is_told_from_who_begins_a_turn() -> None:
    began = told(Turn(TurnStarted(0), 1.0, 1.0, 1.0), Onset(1.0, 0.128))
    cut = told(Ducked(1.0, 1), decided("interruption", "hold on"), Onset(1.0, 0.41))

    assert ["turn began", "user is heard after 0.13 s of voice"] == began
    assert ["agent turned down", 'decided: interruption, words: "hold on", doubt 0.31'] == cut[:2]
    assert "interrupted after 0.41 s of voice" == cut[2]


def test_an_agent_that_was_cut_does_not_go_on() -> None:
    cut = told(Ducked(1.0, 1), decided("interruption"), Onset(1.0, 0.4), Resumed(2.0))
    ignored = told(Ducked(1.0, 1), decided("interruption"), Ducked(3.0, 2), Resumed(3.5), decided("ignored"))

    assert "nothing is turned down any more" == cut[-1]
    assert ["agent goes on", "decided: ignored, words"] == ignored[-2:]


@pytest.mark.parametrize(
    ("event", "text"),
    [
        ({"kind": "interruption", "by": "interrupt"}, "reply cut by a key, a typed turn or a program"),
        ({"kind": "interruption", "by": "onset"}, "reply cut by who interrupts"),
        ({"kind": "interruption", "by": 5}, "reply cut by 5"),
        ({"kind": "decision", "what": "resumed", "why": "no words"}, "resumed, no words"),
        ({"kind": "decision", "what": "turn", "why": "words", "voiced_s": 0.5, "text": "hi"}, 'turn, words: "hi"'),
        ({"kind": "decision", "what": "ignored", "why": "words", "ducked_s": 0.5}, None),  # a note says it already
        ({"kind": "floor", "floor": "idle"}, None),
    ],
)
def test_what_the_talk_itself_did_is_told(event: dict[str, object], text: str | None) -> None:
    found = happened(Told(9.0, event), 8.0)
    assert (None if text is None else Happened(1.0, str(event["kind"]), text)) == found
