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


def test_what_was_known_by_its_sound_is_no_turn_of_a_loop() -> None:
    breaker = LoopBreaker()

    assert not any(breaker.turn(ECHO, SPOKEN, own=True) for _ in range(5))
    assert [False, False, True] == [breaker.turn(ECHO, SPOKEN) for _ in range(3)]


def test_pieces_of_what_the_agent_said_count_too() -> None:
    assert [False, False, True, False] == trips("the museum", "on mondays it", "closed", "the museum")
    assert not any(trips("the museum", "closed museum", "on mondays it", "it is open", "closed"))


def test_once_tripped_no_piece_is_answered() -> None:
    breaker = LoopBreaker()
    assert not breaker.is_loop("the museum", SPOKEN)
    for _ in range(3):
        breaker.turn("the museum", SPOKEN)

    assert breaker.is_loop("on mondays", SPOKEN)
    assert not breaker.is_loop("on tuesdays", SPOKEN)


def test_it_can_trip_again_after_a_reset() -> None:
    breaker = LoopBreaker()
    for _ in range(2):
        assert [False, False, True] == [breaker.turn(ECHO, SPOKEN) for _ in range(3)]
        breaker.reset()
