"""A client's clock, as its frames arrive."""

import random

import pytest

from discussion_helper.voice.remote_clock import RemoteClock


def test_the_shortest_way_is_what_counts() -> None:
    ways, clock = random.Random(5), RemoteClock()
    for number in range(200):
        at = number * 0.02
        clock.arrived(at, 1_000.0 + at + 0.01 + ways.random() * 0.2)

    assert clock.of(4.0) == pytest.approx(1_004.01, abs=0.01)


def test_a_clock_that_is_slower_is_followed() -> None:
    clock = RemoteClock()
    for number in range(50_000):
        clock.arrived(number * 0.02 * (1 - 2e-4), 1_000.0 + number * 0.02)

    assert clock.of(50_000 * 0.02 * (1 - 2e-4)) == pytest.approx(2_000.0, abs=0.002)


def test_a_clock_that_stood_still_is_followed_within_four_seconds() -> None:
    clock = RemoteClock()
    clock.arrived(1.0, 1_001.0)
    for number in range(200):
        clock.arrived(1.0 + number * 0.02, 1_061.0 + number * 0.02)

    assert clock.of(5.0) == pytest.approx(1_065.0, abs=0.01)


def test_frames_that_are_late_for_a_moment_move_nothing() -> None:
    clock = RemoteClock()
    for number in range(500):
        late_s = 1.0 - (number - 100) * 0.02 if 100 <= number < 150 else 0.0  # they all come together then
        clock.arrived(number * 0.02, 1_000.0 + number * 0.02 + late_s)
        assert clock.of(0.0) == pytest.approx(1_000.0, abs=0.002)


def test_a_clock_that_jumped_ahead_is_followed_at_once() -> None:
    clock = RemoteClock()
    clock.arrived(1.0, 1_001.0)
    clock.arrived(11.0, 1_001.02)

    assert clock.of(11.0) == pytest.approx(1_001.02)
