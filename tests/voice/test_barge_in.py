"""The rule: so much voice that is not the agent's own is an interruption."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.errors import SettingError
from discussion_helper.voice.barge_in import OnsetRule

FRAME_S = 0.032


def told_at(rule: OnsetRule, *own: bool) -> list[int]:
    """The frames at which it said so, in a turn whose frames of voice are the agent's own or not."""
    return [number for number, mine in enumerate(own, 1) if rule.step(number * FRAME_S, own=mine)]


def test_enough_voice_is_told_once_in_each_turn() -> None:
    rule = OnsetRule(min_speech_s=0.16)

    assert [5] == told_at(rule, *[False] * 20)
    rule.step(0.0)
    assert [5] == told_at(rule, *[False] * 20)


def test_a_turn_that_begins_right_after_another_counts_anew() -> None:
    rule = OnsetRule(min_speech_s=0.16)

    assert [5] == told_at(rule, *[False] * 20)
    assert [5] == told_at(rule, *[False] * 20)


def test_the_agents_own_voice_is_never_told_and_the_turn_is_its_own() -> None:
    rule = OnsetRule(min_speech_s=0.16)

    assert [] == told_at(rule, *[True] * 100)
    assert rule.is_own


def test_a_leak_of_which_some_is_misjudged_does_not_add_up() -> None:
    rule = OnsetRule(min_speech_s=0.16)

    assert [] == told_at(rule, *[True, True, False] * 100)
    assert rule.is_own


def test_a_user_who_takes_over_from_a_leak_is_told_as_soon_as_one_who_begins() -> None:
    rule = OnsetRule(min_speech_s=0.16)

    assert [15] == told_at(rule, *[True] * 10, *[False] * 10)
    assert not rule.is_own


def test_a_user_of_whom_some_is_misjudged_is_told_two_frames_later_for_each() -> None:
    assert [7] == told_at(OnsetRule(min_speech_s=0.16), False, False, False, True, *[False] * 10)


def test_a_short_word_is_no_turn_of_the_agent() -> None:
    rule = OnsetRule(min_speech_s=0.16)
    told_at(rule, False, False, True)

    assert not rule.is_own


@given(st.lists(st.booleans(), max_size=60))
def test_it_is_told_at_most_once_and_then_the_turn_is_not_the_agents(own: list[bool]) -> None:
    rule = OnsetRule(min_speech_s=0.16)
    told = told_at(rule, *own)

    assert len(told) <= 1
    assert not (told and rule.is_own)
    assert all(own[:number].count(False) >= 5 for number in told)


def test_no_length_is_refused() -> None:
    with pytest.raises(SettingError, match="min_speech_s"):
        OnsetRule(min_speech_s=0.0)
