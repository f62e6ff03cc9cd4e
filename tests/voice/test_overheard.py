"""Who talks over an agent that may not be interrupted: what is told of them, in sample time."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discussion_helper.audio.frames import Frame
from discussion_helper.audio.inbox import Played
from discussion_helper.testing.room import LevelDetector
from discussion_helper.voice.deciding import SOUND_S
from discussion_helper.voice.notes import Decided
from discussion_helper.voice.overheard import BARGE_IN_OFF, OWN, Overheard

QUIET, LOUD = np.full(160, 1e-4, np.float32), np.full(160, 0.1, np.float32)


def told(
    sound_s: float,
    *,
    at_s: float = 0.5,
    agent_s: float = 3.0,
    voiced_s: float = 0.0,
    own: Callable[[], bool] = lambda: False,
    before: bool = False,
) -> list[Decided]:
    """Of 5 s in which the agent speaks for `agent_s` from the beginning, and somebody for `sound_s` from `at_s` on.

    `before`: 1.5 s earlier somebody said something louder, which was a turn.
    """
    overheard, notes = Overheard(gate=LevelDetector(), clean_gate=LevelDetector()), []
    for number in range(500):
        now_s = (number + 1) / 100
        if now_s <= agent_s:
            position: Any = None
            overheard.played(Played(Frame(QUIET, 16_000, 160 * number), now_s, position))
        speaks = at_s <= now_s < at_s + sound_s
        spoke = before and at_s - 1.5 <= now_s < at_s - 1.1
        notes += overheard.block(
            LOUD if speaks or spoke else QUIET,
            QUIET,
            at_s=now_s,
            near_db=-20.0 if speaks else -10.0 if spoke else -80.0,
            expected_db=-40.0,
            voiced_s=voiced_s if speaks else 0.4 if spoke else 0.0,
            is_own=own,
        )
    return notes


def test_a_voice_that_left_no_turn_is_told_once_when_it_is_over() -> None:
    (note,) = told(0.4)

    assert ("ignored", BARGE_IN_OFF) == (note.what, note.why)
    assert 0.5 <= note.started_at_s <= 0.55
    assert note.voiced_until_s + SOUND_S == pytest.approx(note.at_s)
    assert (-20.0, 20.0) == (note.level_dbfs, note.over_echo_db)


@pytest.mark.parametrize(("own", "why"), [((1, 1, 1, 0, 0), OWN), ((0, 0, 0, 1, 1), BARGE_IN_OFF)])
def test_what_sounds_like_the_agent_half_of_the_time_is_told_as_that(own: tuple[int, ...], why: str) -> None:
    """It is asked every 0.1 s, for to compare takes longer than all the rest."""
    answers = list(own)

    assert [why] == [note.why for note in told(0.44, own=lambda: bool(answers.pop(0)))]
    assert [] == answers


def test_what_was_a_turn_says_nothing_of_what_is_said_after_it() -> None:
    (note,) = told(0.4, at_s=2.0, before=True)

    assert (-20.0, 20.0) == (note.level_dbfs, note.over_echo_db)


@pytest.mark.parametrize(
    "how",
    [{"sound_s": 0.4, "voiced_s": 0.2}, {"sound_s": 0.04}, {"sound_s": 0.4, "at_s": 3.5}, {"sound_s": 0.0}],
    ids=["a turn", "a click", "after the agent", "nobody"],
)
def test_what_is_told_otherwise_or_is_nothing_is_not_told(how: dict[str, Any]) -> None:
    assert [] == told(**how)
