"""The last resort against an agent that talks with itself."""

import pytest

from discussion_helper.voice.loop_breaker import LoopBreaker

SPOKEN = ["The museum opens at nine in the morning.", "On Mondays it is closed."]
ECHO = "museum opens at night in the mourning"


def trips(*turns: str) -> list[bool]:
    breaker = LoopBreaker()
    return [breaker.turn(text, SPOKEN) for text in turns]


def test_three_turns_of_the_agents_own_words_in_a_row_trip_it_once() -> None:
    assert [False, False, True, False, False] == trips(*[ECHO] * 5)


def test_a_turn_of_the_users_begins_anew() -> None:
    assert not any(trips(ECHO, ECHO, "And what does it cost?", ECHO, ECHO))


@pytest.mark.parametrize("nothing", ["", "  "])
def test_a_turn_without_words_counts_as_nothing(nothing: str) -> None:
    assert [False, False, False, True] == trips(ECHO, ECHO, nothing, ECHO)


def test_turns_that_sound_like_the_agent_count_whatever_their_words() -> None:
    breaker = LoopBreaker()

    assert [False, False, True] == [breaker.turn("", SPOKEN, own=True) for _ in range(3)]


def test_it_can_trip_again_after_a_reset() -> None:
    breaker = LoopBreaker()
    for _ in range(2):
        assert [False, False, True] == [breaker.turn(ECHO, SPOKEN) for _ in range(3)]
        breaker.reset()
