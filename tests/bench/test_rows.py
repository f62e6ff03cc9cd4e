"""What the runs make of a take: of recordings whose answers are known, and of what the talk told meanwhile."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discussion_helper.audio.clips import Clip
from discussion_helper.audio.frames import Samples
from discussion_helper.bench.barge_in_run import barge_in_row
from discussion_helper.bench.clips import Saying
from discussion_helper.bench.echo_run import echo_row
from discussion_helper.bench.noise_run import noise_row
from discussion_helper.bench.take import Take
from discussion_helper.bench.talk_handle import Told
from discussion_helper.bench.turns_run import turn_row

RATE = 48_000
ZERO_S = 100.0  # of the recording, on the clock of the talk
CLIP = Clip(
    path=Path("jfk.wav"),
    kind="speech",
    duration_s=1.2,
    rate=RATE,
    channels=1,
    language="en",
    speaker="J",
    transcript="ask not",
    demo=0,
    licence="",
    licence_files=(),
    source="",
    sha256="",
)
# Voice from 0.1 s to 1.1 s of the clip, which begins at 0.5 s of every take: from 0.6 s to 1.6 s.
SAYING = Saying(CLIP, np.zeros(round(1.2 * RATE), np.float32), round(0.1 * RATE), round(1.1 * RATE), -20.0)


def told(kind: str, at_s: float, /, **data: Any) -> Told:
    return Told(kind, ZERO_S + at_s, data)


def floor(at_s: float, floor: str) -> Told:
    return told("floor", at_s, floor=floor)


def user(at_s: float, *, decided_s: float, text: str = "Ask not.") -> Told:
    return told("utterance", at_s, speaker="user", text=text, interrupted=False, **ends(decided_s))


def ends(decided_s: float) -> dict[str, float]:
    """The talk saw the last voice half a second before it decided."""
    return {"decided_s": ZERO_S + decided_s, "voiced_until_s": ZERO_S + decided_s - 0.5}


def agent(at_s: float, text: str = "Fine.", *, interrupted: bool = False) -> Told:
    return told("utterance", at_s, speaker="agent", text=text, interrupted=interrupted)


def timing(at_s: float, endpoint_s: float = 0.5) -> Told:
    return told("timing", at_s, endpoint_s=endpoint_s, recognise_s=0.1, think_s=0.05, speak_s=0.02)


def take(*events: Told, sound: list[tuple[float, float]], seconds: float = 8.0, level: float = 0.1) -> Take:
    """A take in which the loudspeaker is audible in the stretches of `sound`, in seconds."""
    loudspeaker: Samples = np.zeros(round(seconds * RATE), np.float32)
    for start_s, end_s in sound:
        loudspeaker[round(start_s * RATE) : round(end_s * RATE)] = level
    microphone = loudspeaker * np.float32(0.5)
    return Take(loudspeaker, microphone, RATE, ZERO_S, events, round(0.5 * RATE), 0.99)


ANSWER = (user(2.2, decided_s=2.1), floor(2.2, "thinking"), floor(2.25, "speaking"), agent(4.0), timing(4.0))


def test_voice_to_voice_is_from_the_last_voice_to_the_first_audible_sample() -> None:
    row = turn_row(take(*ANSWER, sound=[(2.3, 4.0)]), SAYING, [1.0, 3.0])
    assert row.voice_to_voice_ms == 700.0
    assert (row.endpoint_ms, row.recognise_ms, row.think_ms, row.speak_ms) == (500.0, 100.0, 50.0, 20.0)
    assert (row.turns, row.early, row.spoke_over, row.answered) == (1, False, False, True)
    assert (row.voice_s, row.reply_s, row.understood) == (1.0, 1.7, "Ask not.")
    assert (row.reply, row.voice_end_ms, row.lag_p99_ms) == ("Fine.", 0.0, 3.0)


def test_a_clip_that_nobody_answers_has_no_delay() -> None:
    row = turn_row(take(sound=[]), SAYING)
    assert (row.answered, row.voice_to_voice_ms, row.endpoint_ms, row.reply_s, row.turns) == (False, None, None, 0.0, 0)


def test_a_turn_that_was_over_before_the_clip_is_early() -> None:
    events = (user(1.4, decided_s=1.3), floor(1.5, "speaking"), agent(1.7, interrupted=True), timing(1.7, 0.4))
    again = (user(2.6, decided_s=2.5), floor(2.7, "speaking"), agent(4.0), timing(4.0, 0.6))
    row = turn_row(take(*events, *again, sound=[(1.62, 1.7), (2.8, 4.0)]), SAYING)
    assert (row.early, row.spoke_over, row.turns) == (True, False, 2)
    assert row.voice_to_voice_ms == 20.0  # which is why such turns are left out of the medians
    assert row.endpoint_ms == 400.0


def test_an_agent_that_begins_before_the_end_of_the_clip_speaks_over_the_user() -> None:
    row = turn_row(take(*ANSWER, sound=[(1.0, 1.2), (2.3, 4.0)]), SAYING)
    assert (row.spoke_over, row.voice_to_voice_ms, row.answered) == (True, None, True)


def test_holes_are_counted_inside_the_reply_and_apart_while_the_model_decodes() -> None:
    events = (*ANSWER[:3], told("decoding", 3.0, on=False), *ANSWER[3:])
    row = turn_row(take(*events, sound=[(2.3, 2.6), (2.7, 3.2), (3.25, 3.5), (3.76, 4.0)]), SAYING)
    assert (row.holes, row.long_holes, row.hole_s) == (2, 1, 0.36)
    assert (row.decoding_holes, row.decoding_s) == (1, 0.7)


def test_the_silence_between_two_replies_is_no_hole() -> None:
    later = (user(5.0, decided_s=4.9), floor(5.1, "speaking"), agent(6.0), timing(6.0))
    row = turn_row(take(*ANSWER, *later, sound=[(2.3, 4.0), (5.2, 6.0)]), SAYING)
    assert (row.holes, row.reply_s, row.turns) == (0, 1.7, 2)


CUT = (floor(0.1, "speaking"), agent(0.9, "Once upon", interrupted=True), floor(0.9, "listening"))


def test_a_barge_in_is_over_with_the_last_sound_of_the_reply() -> None:
    answer = (user(2.2, decided_s=2.1), floor(2.3, "speaking"), agent(4.0))
    found = barge_in_row(take(*CUT, *answer, sound=[(0.2, 0.85), (2.4, 4.0)]), SAYING, "Once upon a time there was")
    row = found.row
    assert (row.interrupted, row.resumed, row.offset_s) == (True, False, 0.4)
    assert row.stop_ms == 250.0
    assert row.turned_down_ms == 250.0
    assert (row.heard, row.heard_words) == ("Once upon", 2)
    assert len(found.played) == round(0.65 * RATE)
    assert found.counted(3).row.played_words == 3


def test_a_reply_that_goes_on_was_not_stopped() -> None:
    again = (floor(2.0, "speaking"), agent(5.0))
    assert barge_in_row(take(*CUT, *again, sound=[(0.2, 0.85), (2.1, 5.0)]), SAYING, "Once").row.resumed


def test_a_barge_in_that_is_not_heard_has_no_stop() -> None:
    events = (floor(0.1, "speaking"), agent(5.0, "Once upon a time"))
    row = barge_in_row(take(*events, sound=[(0.2, 5.0)]), SAYING, "Once upon a time").row
    assert (row.interrupted, row.stop_ms, row.turned_down_ms, row.heard_words) == (False, None, None, 4)


@pytest.mark.parametrize(("again_s", "lost"), [(2.5, False), (3.5, True)])
def test_a_reply_cut_by_a_noise_has_to_go_on_within_2_s(again_s: float, lost: bool) -> None:
    events = (*CUT, told("decision", 2.0, what="resumed", why="no words"), floor(2.0, "speaking"), agent(6.0))
    row = noise_row(take(*events, sound=[(0.2, 0.9), (again_s, 6.0)]), SAYING)
    assert (row.interrupted, row.lost, row.resume_ms) == (True, lost, round((again_s - 0.9) * 1e3, 1))
    assert row.decisions == "resumed: no words"


def test_a_noise_that_is_answered_has_cost_the_reply() -> None:
    events = (*CUT, user(2.0, decided_s=1.9, text="Hm."), floor(2.1, "speaking"), agent(4.0))
    row = noise_row(take(*events, sound=[(0.2, 0.9), (2.2, 4.0)]), SAYING)
    assert (row.lost, row.resume_ms, row.understood) == (True, None, "Hm.")


def test_a_noise_that_changes_nothing_is_told_from_one_that_makes_a_pause() -> None:
    events = (floor(0.1, "speaking"),)  # the reply lasts longer than the take
    row = noise_row(take(*events, sound=[(0.2, 3.0), (3.7, 8.0)]), SAYING)
    assert (row.interrupted, row.lost, row.longest_quiet_ms) == (False, False, 700.0)


def test_echo_counts_interruptions_and_user_turns_and_measures_its_level() -> None:
    events = (
        floor(0.1, "speaking"),
        told("interruption", 2.0, by="onset"),
        agent(2.0, interrupted=True),
        user(3.0, decided_s=2.9, text="Once upon"),
        told("decision", 3.1, what="ignored", why="echo"),
    )
    row = echo_row(take(*events, sound=[(0.2, 2.0)]), 1)
    assert (row.interrupted, row.interruptions, row.user_turns, row.ignored) == (True, 1, 1, 1)
    assert row.echo_db == pytest.approx(-6.0, abs=0.1)
    assert (row.seconds, row.understood) == (1.8, "Once upon")
