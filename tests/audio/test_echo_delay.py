"""How late the echo is: when it is looked for, and what follows from what was found."""

import pytest

from discussion_helper.audio.echo_delay import FAR, NEAR, RECENT, SEARCHED, EchoDelay

LATE = 12_000
"""0.75 s."""


def due(delay: EchoDelay, blocks: int, *, near: float = 1e-3, left: float = 1e-3, expected: float = 1e-3) -> int:
    """How often the echo is to be looked for in so many blocks."""
    return sum(delay.is_due(near, left, expected) for _ in range(blocks))


def heard() -> EchoDelay:
    delay = EchoDelay()
    delay.played()
    return delay


def test_what_the_canceller_leaves_is_looked_into_five_times_a_second() -> None:
    assert 5 == due(heard(), 5 * SEARCHED)


@pytest.mark.parametrize(
    "powers",
    [
        {"near": 1e-3, "left": 1e-5},  # it was removed
        {"near": 1e-6, "left": 1e-6},  # nobody would answer it
    ],
)
def test_where_there_is_nothing_to_find_nothing_is_looked_for(powers: dict[str, float]) -> None:
    assert 0 == due(heard(), 150, **powers)


def test_what_was_removed_but_not_expected_is_looked_for() -> None:
    assert 1 == due(heard(), SEARCHED, left=1e-5, expected=1e-4)


def test_long_after_the_last_sound_there_is_no_echo() -> None:
    delay = heard()
    due(delay, RECENT, near=0.0)

    assert 0 == due(delay, 100)
    delay.played()
    assert 5 == due(delay, 100)


def test_a_late_echo_that_was_found_twice_moves_the_reference_to_it() -> None:
    delay = EchoDelay()

    assert 0 == delay.delay_for(LATE, 0)
    assert LATE + 30 - NEAR * 16_000 == delay.delay_for(LATE + 30, 0)


def test_what_is_found_elsewhere_each_time_moves_nothing() -> None:
    delay = EchoDelay()

    assert {0} == {delay.delay_for(place, 0) for place in (9_000, 12_000, 15_000, None, 12_000, None, 12_000)}


@pytest.mark.parametrize("found", [0, 1_600, round(FAR * 16_000)])
def test_the_canceller_finds_by_itself_what_is_not_late(found: int) -> None:
    delay = EchoDelay()

    assert [0, 0, 0] == [delay.delay_for(found, 0) for _ in range(3)]


@pytest.mark.parametrize(("found", "wanted"), [(1_600, 800), (320, 0), (-400, 0)])
def test_a_reference_that_has_become_too_late_is_moved_back(found: int, wanted: int) -> None:
    delay = EchoDelay()
    delay.delay_for(found, LATE)

    assert wanted == delay.delay_for(found, LATE)


def test_a_reset_forgets_what_was_found() -> None:
    delay = heard()
    delay.delay_for(LATE, 0)
    delay.reset()

    assert 0 == delay.delay_for(LATE, 0)
    assert 0 == due(delay, 50)
