"""A client's clock, as its frames arrive."""

import random

import pytest

from discussion_helper.voice.remote_clock import RemoteClock


def test_the_shortest_way_is_what_counts() -> None:
    ways, clock = random.Random(5), RemoteClock()
    for number in range(200):
        at = number * 0.02
        clock.arrived(at, 1_000.0 + at + 0.01 + ways.random() * 0.2)

    assert clock.of(4.0, 1_004.0) == pytest.approx(1_004.01, abs=0.01)


def test_a_clock_that_is_slower_is_followed() -> None:
    clock = RemoteClock()
    for number in range(50_000):
        clock.arrived(number * 0.02 * (1 - 2e-4), 1_000.0 + number * 0.02)

    assert clock.of(50_000 * 0.02 * (1 - 2e-4), 2_000.0) == pytest.approx(2_000.0, abs=0.002)


def test_a_clock_that_stood_still_is_followed_at_once() -> None:
    clock = RemoteClock()
    clock.arrived(1.0, 1_001.0)
    clock.arrived(1.02, 1_061.02)

    assert clock.of(1.02, 1_061.02) == pytest.approx(1_061.02)


def test_a_clock_that_jumped_back_is_followed_within_four_seconds() -> None:
    clock = RemoteClock()
    for number in range(200):
        clock.arrived(100.0 + number * 0.02, 1_000.0 + number * 0.02)
    for number in range(200):
        clock.arrived(number * 0.02, 1_004.0 + number * 0.02)

    assert clock.of(4.0, 1_008.0) == pytest.approx(1_008.0, abs=0.01)


def test_frames_that_are_late_for_a_moment_move_nothing() -> None:
    clock = RemoteClock()
    for number in range(500):
        late_s = 1.0 - (number - 100) * 0.02 if 100 <= number < 150 else 0.0  # they all come together then
        clock.arrived(number * 0.02, 1_000.0 + number * 0.02 + late_s)
        assert clock.of(number * 0.02, 1_000.0 + number * 0.02) == pytest.approx(1_000.0 + number * 0.02, abs=0.002)


def test_a_clock_that_jumped_ahead_is_followed_at_once() -> None:
    clock = RemoteClock()
    clock.arrived(1.0, 1_001.0)
    clock.arrived(11.0, 1_001.02)

    assert clock.of(11.0, 1_001.02) == pytest.approx(1_001.02)


def test_what_is_far_from_now_is_now() -> None:
    clock = RemoteClock()
    before = clock.of(3.0, 50.0)
    clock.arrived(3.0, 50.0)

    assert [50.0, 50.5, 55.0] == [before, clock.of(3.5, 50.4), clock.of(1e9, 55.0)]
