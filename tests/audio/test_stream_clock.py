"""The stream's clock: what samples' times are, whatever the host says and however late the callbacks run."""

import numpy as np
import pytest

from discussion_helper.audio.stream_clock import StreamClock

RATE = 48_000
BLOCK_S = 0.01


def told(
    clock: StreamClock,
    blocks: range,
    *,
    ahead: float = 10_000.0,
    scatter: float = 0.0,
    late: float = 0.0,
    moved: float = 0.0,
) -> list[float]:
    """The errors of the clock in seconds, for blocks whose first sample is at the converter at 10 ms times its number.

    The stream's clock is `ahead` of ours. The host's stamps are off by up to `scatter`, callbacks late by up to `late`,
    and the converter stood still for `moved` seconds before these blocks.
    """
    random = np.random.default_rng(3)
    errors = []
    for number in blocks:
        true = number * BLOCK_S + moved
        now = true + BLOCK_S
        stamp = true + ahead + random.uniform(-scatter, scatter)
        at_s = clock.at(number * 480, stamp, now + ahead, now + random.uniform(0.0, late), usual=-0.02)
        errors.append(at_s - true)
    return errors


def test_exact_stamps_are_told_on_our_clock() -> None:
    clock = StreamClock(RATE, current=10_000.0, now=0.0)

    assert np.allclose(told(clock, range(1000)), 0.0, atol=1e-9)


def test_a_callback_that_runs_late_does_not_move_the_time() -> None:
    clock = StreamClock(RATE, current=10_000.0, now=0.0)

    errors = told(clock, range(2000), late=0.02)

    assert np.abs(errors).max() < 0.001


def test_scattered_stamps_are_averaged_and_times_stay_even() -> None:
    clock = StreamClock(RATE, current=10_000.0, now=0.0)

    errors = told(clock, range(2000), scatter=0.015)

    assert np.abs(errors[500:]).max() < 0.002
    assert np.abs(np.diff(errors[500:])).max() < 0.0001


@pytest.mark.parametrize("step", [3600.0, -3600.0, 0.5, -0.5])
def test_a_wall_clock_that_is_set_while_the_stream_runs_is_followed_at_once(step: float) -> None:
    clock = StreamClock(RATE, current=10_000.0, now=0.0)
    told(clock, range(200))

    errors = told(clock, range(200, 400), ahead=10_000.0 + step)

    assert np.allclose(errors, 0.0, atol=1e-6)


def test_a_wall_clock_that_is_slewed_is_followed() -> None:
    clock = StreamClock(RATE, current=10_000.0, now=0.0)
    errors = [told(clock, range(n, n + 1), ahead=10_000.0 - 4e-4 * n * BLOCK_S)[0] for n in range(5000)]

    assert np.abs(errors).max() < 0.003


@pytest.mark.parametrize(("event", "current"), [(0.0, 100.0), (100.0, 0.0), (0.0, 0.0), (7.0, 100.0), (-5.0, 1.0)])
def test_without_a_sensible_stamp_the_usual_latency_counts(event: float, current: float) -> None:
    clock = StreamClock(RATE, current=100.0, now=50.0)

    assert clock.at(0, event, current, 51.0, usual=-0.02) == pytest.approx(50.98)


def test_a_host_that_told_no_time_at_the_start_is_believed_later() -> None:
    clock = StreamClock(RATE, current=0.0, now=0.0)

    assert np.allclose(told(clock, range(10)), 0.0, atol=1e-9)


def test_a_stream_that_stood_still_is_noticed_at_once() -> None:
    clock = StreamClock(RATE, current=10_000.0, now=0.0)
    told(clock, range(1000))

    assert np.allclose(told(clock, range(1000, 1100), moved=0.3), 0.0, atol=1e-6)


def test_after_a_restart_the_next_stamp_counts_alone() -> None:
    clock = StreamClock(RATE, current=10_000.0, now=0.0)
    told(clock, range(1000))
    clock.restart()

    assert np.allclose(told(clock, range(1000, 1100), moved=0.02), 0.0, atol=1e-6)
