"""Two pieces of a turn become one: their sound where it is short enough, else their texts."""

import numpy as np
import pytest

from discussion_helper.audio.frames import Samples
from discussion_helper.turn.turns import TurnEnded, TurnPaused, TurnStarted
from discussion_helper.types import SpokenUtterance
from discussion_helper.voice.heard_turns import HeardTurns
from discussion_helper.voice.notes import Turn
from discussion_helper.voice.rejoining import LONGEST_S, RATE, Rejoining

pytestmark = pytest.mark.anyio


def sound(seconds: float, level: float) -> Samples:
    return np.full(round(seconds * RATE), level, np.float32)


def ended(from_s: float, until_s: float, level: float, *, jitter_s: float = 0.0) -> Turn:
    """A turn with that sound; times count from the first sample."""
    event = TurnEnded(sound(until_s - from_s, level), round(from_s * RATE), round(until_s * RATE), until_s - from_s)
    return Turn(event, until_s + 0.3, from_s + 0.3 + jitter_s, until_s - 0.2)


def started(at_s: float, *, own: bool = False) -> Turn:
    return Turn(TurnStarted(round(at_s * RATE)), at_s + 0.1, at_s, at_s + 0.1, own)


def given(length_s: float = 2.0) -> Rejoining:
    rejoining = Rejoining()
    rejoining.given(ended(0.0, length_s, 0.1), SpokenUtterance("user", "I want"))
    return rejoining


def pause(turn: Turn) -> TurnPaused:
    event = turn.event
    assert isinstance(event, TurnEnded)
    return TurnPaused(event.samples, event.start, event.end, event.voiced_s)


@pytest.mark.parametrize("jitter_s", [0.0, 0.002, -0.002])
def test_both_are_recognised_with_silence_between_them(jitter_s: float) -> None:
    rejoining, second = given(), ended(3.0, 4.0, 0.2, jitter_s=jitter_s)
    rejoining.begins(started(3.3))
    assert rejoining.reopen(within_s=1.2)
    samples, start, voiced_s = rejoining.whole(pause(second))

    assert (0, 4 * RATE, 3.0) == (start, len(samples), voiced_s)
    assert [0.1, 0.0, 0.2] == [pytest.approx(samples[round(at_s * RATE)]) for at_s in (1.0, 2.5, 3.5)]
    assert "I want a pizza" == rejoining.text(second, "I want a pizza")
    assert "" == rejoining.text(second, "I want.")  # nothing was added
    assert "I want" == getattr(rejoining.before(second), "text", "")
    rejoining.close(second)
    assert rejoining.before(second) is None
    assert "a pizza" == rejoining.text(second, "a pizza")


def test_what_was_recognised_alone_is_put_behind_it() -> None:
    rejoining, second = given(), ended(3.0, 4.0, 0.2)
    rejoining.begins(started(3.3))
    assert rejoining.reopen(within_s=1.2)
    assert "I want a pizza" == rejoining.text(second, "a pizza")
    assert "" == rejoining.text(second, "")


def test_what_is_too_long_is_recognised_alone() -> None:
    rejoining = given(LONGEST_S - 0.5)
    at_s = LONGEST_S + 0.5
    second = ended(at_s, at_s + 1.0, 0.2)
    rejoining.begins(started(at_s + 0.3))
    assert rejoining.reopen(within_s=2.0)
    assert len(rejoining.whole(pause(second))[0]) == RATE
    assert "I want a pizza" == rejoining.text(second, "a pizza")


def test_pieces_that_overlap_hold_nothing_twice() -> None:
    rejoining, second = given(), ended(1.9, 3.0, 0.2)
    rejoining.begins(started(2.2))
    assert rejoining.reopen(within_s=1.2)
    assert 3 * RATE == len(rejoining.whole(pause(second))[0])


@pytest.mark.parametrize(("at_s", "own", "within_s"), [(3.6, False, 1.2), (3.3, True, 1.2), (3.3, False, 0.5)])
def test_too_late_or_the_agent_itself_goes_on_with_nothing(at_s: float, own: bool, within_s: float) -> None:
    rejoining = given()
    rejoining.begins(started(at_s, own=own))
    assert not rejoining.reopen(within_s=within_s)


def test_nothing_goes_on_at_another_microphone_or_after_a_stop() -> None:
    rejoining = given()
    rejoining.begins(started(3.3))
    rejoining.reset()
    assert not rejoining.reopen(within_s=1.2)
    rejoining.given(ended(4.0, 5.0, 0.1), SpokenUtterance("user", "stop", wants_answer=False))
    rejoining.begins(started(5.3))
    assert not rejoining.reopen(within_s=1.2)


async def test_who_waits_is_told_of_the_next_voice() -> None:
    rejoining = given()
    rejoining.begins(started(3.0))
    await rejoining.resumed()


def test_what_came_to_nothing_goes_on_with_nothing_once_it_is_over() -> None:
    heard, noise = HeardTurns(8), ended(3.0, 4.0, 0.2)
    heard.rejoining.given(ended(0.0, 2.0, 0.1), SpokenUtterance("user", "I want"))
    heard.rejoining.begins(started(3.3))
    heard.put(noise, SpokenUtterance("user", ""), float)
    heard.over(noise)
    assert "" == heard.take().text
    assert (False, None) == heard.reopen(7.0)

    heard.rejoining.begins(started(4.3))
    heard.over(ended(4.0, 5.0, 0.2))  # ignored, as a listener's response is
    assert (False, None) == heard.reopen(7.0)

    heard.rejoining.begins(started(5.3))
    assert (True, None) == heard.reopen(7.0)


def test_a_turn_that_waits_to_be_taken_may_go_on_with_the_one_before() -> None:
    heard, second = HeardTurns(8), ended(3.0, 4.0, 0.2)
    heard.rejoining.given(ended(0.0, 2.0, 0.1), SpokenUtterance("user", "I want"))
    heard.rejoining.begins(started(3.3))
    heard.put(second, SpokenUtterance("user", "a pizza"), float)
    heard.over(second)
    assert (True, second) == heard.reopen(7.0)
