"""What a talk looks like, from its events."""

from typing import Any

import pytest

from discussion_helper.commands.talk_state import LEVELS, Remark, TalkState, Turn, Wait, waits_of
from discussion_helper.events import Event
from discussion_helper.types import Floor, TurnTiming


def event(kind: str, **data: Any) -> Event:
    return Event(kind, 1.0, data)


def state_after(*events: Event) -> TalkState:
    state = TalkState()
    for each in events:
        state.take(each)
    return state


def test_turns_come_into_the_transcript_with_what_was_not_heard() -> None:
    state = state_after(
        event("utterance", speaker="user", text="Hello.", interrupted=False),
        event("utterance", speaker="agent", text="Good day", interrupted=True, said="Good day to you. How are you?"),
        event("timing", **TurnTiming(0.2, 0.15, 0.1, 0.05).as_dict()),
    )

    assert [
        Turn("user", "Hello."),
        Turn("agent", "Good day", "to you. How are you?", interrupted=True),
        Wait((("endpoint", 200), ("recognise", 150), ("think", 100), ("speak", 50)), 500),
    ] == state.entries


def test_a_turn_that_goes_on_with_the_one_before_it_says_so() -> None:
    state = state_after(
        event("utterance", speaker="user", text="I am hungry.", interrupted=False),
        event("utterance", speaker="user", text="I am hungry. Give me a pizza.", interrupted=False, revises=[0]),
    )

    assert ["I am hungry.", "I am hungry. Give me a pizza. [with the turn before]"] == list(map(str, state.entries))


@pytest.mark.parametrize(
    ("timing", "told"),
    [
        (TurnTiming(0.0, 0.0, 0.08, 0.0), "think 80  = 80 ms"),
        (TurnTiming(0.0, 0.0, 0.0, 0.0), "= 0 ms"),
        (TurnTiming(0.5, 0.0, 0.1, 0.0), "endpoint 500  recognise 0  think 100  speak 0  = 600 ms"),
    ],
)
def test_the_delay_of_a_typed_turn_has_no_empty_stages(timing: TurnTiming, told: str) -> None:
    assert told == str(waits_of(event("timing", **timing.as_dict())))


@pytest.mark.parametrize(
    ("heard", "said", "unheard"),
    [
        ("", "All of it.", "All of it."),
        ("今日は", "今日は良い天気です。", "良い天気です。"),
        ("one two", "One, two, three.", "three."),
        ("same", "same", ""),
        ("more than was said", "more", ""),
    ],
)
def test_unheard_is_what_follows_the_words_heard(heard: str, said: str, unheard: str) -> None:
    state = state_after(event("utterance", speaker="agent", text=heard, interrupted=True, said=said))

    assert [Turn("agent", heard, unheard, interrupted=True)] == state.entries


def test_a_partial_text_stands_until_its_turn_is_over() -> None:
    state = state_after(event("partial", text="What is"))
    assert state.partial == "What is"

    state.take(event("utterance", speaker="user", text="What is this?", interrupted=False))
    assert state.partial == ""


def test_a_partial_text_goes_when_the_turn_is_ignored() -> None:
    state = state_after(event("partial", text="mm"), event("decision", what="ignored", why="no words"))

    assert ("", "ignored: no words") == (state.partial, state.note)


def test_the_sentences_of_the_agent_stand_until_its_turn_is_over() -> None:
    state = state_after(event("partial", text="Hel"), event("partial", speaker="agent", text="Good day."))
    assert ("Good day.", "Hel") == (state.saying, state.partial)
    state.take(event("partial", speaker="agent", text="And you?"))
    assert "Good day. And you?" == state.saying

    state.take(event("utterance", speaker="agent", text="Good day. And you?", interrupted=False))
    assert state.saying == ""


def test_a_device_problem_stands_with_its_fix_until_it_is_over() -> None:
    state = state_after(event("device", which="microphone", state="silent", fix="Unmute it."))
    assert {"microphone": "The microphone is silent. Unmute it."} == state.problems

    state.take(event("device", which="microphone", state="open"))
    assert {} == state.problems


def test_muting_shows_and_empties_the_meter() -> None:
    state = state_after(event("level", dbfs=-20.0), event("device", which="microphone", state="muted"))
    assert (True, 0) == (state.muted, state.level)

    state.take(event("device", which="microphone", state="silent", fix="Unmute it."))
    assert state.muted

    state.take(event("device", which="microphone", state="open"))
    assert not state.muted


@pytest.mark.parametrize(
    ("dbfs", "level"), [(-200.0, 0), (float("-inf"), 0), (float("nan"), 0), (-41.0, 3), (-1.0, 11), (6.0, LEVELS)]
)
def test_the_level_is_steps_of_5_db(dbfs: float, level: int) -> None:
    assert level == state_after(event("level", dbfs=dbfs)).level


def test_a_level_that_trembles_at_the_edge_of_a_step_draws_nothing() -> None:
    state = state_after(event("level", dbfs=-50.0))

    assert [False] * 4 == [state.take(event("level", dbfs=dbfs)) for dbfs in (-50.6, -49.5, -51.0, -44.0)]
    assert state.take(event("level", dbfs=-43.0))


def test_a_tool_is_shown_while_it_runs_and_what_came_of_it_stays() -> None:
    call = {"id": "c1", "name": "weather", "arguments": '{"town":\n "Oslo"}'}
    state = TalkState()

    assert state.take(event("tool", state="called", **call))
    assert {"c1": 'weather {"town": "Oslo"}'} == {key: line[6:-2] for key, line in state.calls.items()}
    assert state.take(event("floor", floor="speaking"))
    assert state.calls
    assert state.take(event("tool", state="done", **call, result="rain", is_error=False, took_s=1.234))
    assert ({}, [Remark('weather {"town": "Oslo"} gives rain (1.2 s)')]) == (state.calls, state.entries)


def test_a_tool_that_fails_says_so_and_a_long_result_is_cut() -> None:
    state = state_after(event("tool", state="done", id="c1", name="order", result="x" * 5000, is_error=True))

    (remark,) = state.entries
    assert isinstance(remark, Remark)
    assert remark.text.startswith("order fails xxx")
    assert remark.text.endswith("x…")
    assert len(remark.text) < 180


def test_no_tool_runs_after_the_end() -> None:
    called = event("tool", state="called", id="c1", name="order", arguments="{}")

    assert {} == state_after(called, event("ended", reason="stopped")).calls


def test_what_changes_nothing_draws_nothing() -> None:
    state = TalkState()

    assert not state.take(event("interruption", by="onset"))
    assert state.take(event("floor", floor="speaking"))
    assert state.floor is Floor.SPEAKING


@pytest.mark.parametrize(
    ("reason", "says"), [("stopped", "The talk was ended. (A part hung.)"), ("failed", "The talk failed.")]
)
def test_the_end_tells_its_reason_and_an_error_that_is_not_told_otherwise(reason: str, says: str) -> None:
    state = state_after(event("partial", text="x"), event("ended", reason=reason, error="A part hung."))

    assert [Remark(says)] == state.entries
    assert state.partial == ""


def test_a_typed_turn_waits_until_it_is_said() -> None:
    state = TalkState(waiting=["One.", "Two.", "Two."])

    state.take(event("utterance", speaker="user", text="One.", interrupted=False))
    assert ["Two.", "Two."] == state.waiting
    state.take(event("utterance", speaker="agent", text="Two.", interrupted=False))
    state.take(event("utterance", speaker="user", text="Two.", interrupted=False))
    assert ["Two."] == state.waiting


def test_a_typed_turn_that_the_end_overtakes_is_told() -> None:
    state = TalkState(waiting=["One.", "Two."])
    state.take(event("ended", reason="stopped"))

    assert ["Not answered: One.", "Not answered: Two."] == [
        entry.text for entry in state.entries[:2] if isinstance(entry, Remark)
    ]
    assert [] == state.waiting


def test_missed_events_are_told() -> None:
    assert state_after(event("gap", missed=3)).note == "3 events were missed"


def test_what_was_ignored_is_noted_and_what_is_a_turn_is_not() -> None:
    state = TalkState()
    state.take(Event("decision", 1.0, {"what": "ignored", "why": "a listener's response"}))
    assert "ignored: a listener's response" == state.note

    for what in ("turn", "interruption"):
        state.take(Event("decision", 2.0, {"what": what, "why": "words"}))
        assert "" == state.note


def test_what_was_ignored_stays_below_the_reply_that_it_was_over() -> None:
    ignored = [event("decision", what="ignored", why=why) for why in ("a sound", "no words", "a sound")]
    reply = event("utterance", speaker="agent", text="Good day.", interrupted=False)
    state = state_after(*ignored, reply, reply, ignored[0], event("ended", reason="stopped"))

    turn = Turn("agent", "Good day.")
    told = [Remark("ignored: a sound (2 times)"), Remark("ignored: no words")]
    assert [turn, *told, turn, Remark("ignored: a sound"), Remark("The talk was ended.")] == state.entries


def test_what_was_ignored_before_a_turn_stands_above_it() -> None:
    said = event("utterance", speaker="user", text="Hello.", interrupted=False)
    state = state_after(event("decision", what="ignored", why="no words"), said)

    assert [Remark("ignored: no words"), Turn("user", "Hello.")] == state.entries


def test_a_device_that_the_talk_moved_to_is_told() -> None:
    state = state_after(
        event("device", which="microphone", state="open", name="Mic [ALSA]"),
        event("device", which="microphone", state="open", name="Headset [ALSA]", reason="the default device changed"),
    )
    assert [Remark('The microphone is now "Headset [ALSA]": the default device changed.')] == state.entries


def test_a_device_that_is_lost_is_told_with_how_long_it_is_waited_for() -> None:
    state = state_after(event("device", which="loudspeaker", state="lost", reason="It is gone.", fix=""))

    assert ["The loudspeaker is lost: it is waited for, 30 s."] == list(state.problems.values())


def test_a_decision_that_wants_something_done_stays_as_a_problem_with_its_fix() -> None:
    state = TalkState()
    state.take(Event("decision", 1.0, {"what": "half duplex", "why": "an echo", "fix": "Use headphones."}))
    state.take(Event("decision", 2.0, {"what": "turn", "why": "words"}))

    assert ["Half duplex: an echo. Use headphones."] == list(state.problems.values())
