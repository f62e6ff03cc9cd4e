"""Which alarms of the eager gate count."""

import pytest

from discussion_helper.voice.alarms import CALM_S, FALSE_ALARMS, PAUSE_S, WITHIN_S, Alarms


def test_what_is_heard_all_the_time_alarms_once() -> None:
    alarms = Alarms()

    assert 1 == sum(alarms.is_raised(0.01 * number, eager=True) for number in range(500))


@pytest.mark.parametrize(("away_s", "again"), [(CALM_S - 0.02, False), (CALM_S + 0.02, True)])
def test_it_must_have_been_away_to_alarm_again(away_s: float, again: bool) -> None:
    alarms = Alarms()

    assert alarms.is_raised(1.0, eager=True)
    assert again is alarms.is_raised(1.0 + away_s, eager=True)


def test_after_so_many_false_ones_there_is_none_for_a_while() -> None:
    alarms = Alarms()
    for number in range(FALSE_ALARMS):
        alarms.was_false(1.0 + number)

    assert not alarms.is_raised(6.0, eager=True)
    assert alarms.is_raised(1.0 + WITHIN_S, eager=True)


def test_a_sound_goes_on_until_it_was_away_for_a_pause_and_how_much_was_heard_of_it_is_counted() -> None:
    alarms = Alarms()
    alarms.begin()
    for number in range(10):
        alarms.follow(1.0 + 0.01 * number, eager=number < 7)

    assert (7, 10) == (alarms.heard, alarms.steps)
    assert alarms.goes_on(1.06 + PAUSE_S - 0.001)
    assert not alarms.goes_on(1.06 + PAUSE_S + 0.001)
    alarms.begin()
    assert (0, 0) == (alarms.heard, alarms.steps)
