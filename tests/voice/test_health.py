"""How late blocks were."""

import pytest

from discussion_helper.voice.health import BUCKET_S, Lateness


def test_nothing_was_late_yet() -> None:
    lateness = Lateness()
    assert (lateness.blocks, lateness.worst_s, lateness.percentile_s(99.0)) == (0, 0.0, 0.0)


def test_the_percentile_is_right_to_half_a_millisecond_and_the_worst_exactly() -> None:
    lateness = Lateness()
    for number in range(1000):
        lateness.add(number * 1e-5)
    lateness.add(0.0712)

    assert lateness.percentile_s(99.0) == pytest.approx(0.0099, abs=BUCKET_S)
    assert lateness.percentile_s(50.0) == pytest.approx(0.005, abs=BUCKET_S)
    assert lateness.percentile_s(100.0) == lateness.worst_s == 0.0712
    assert lateness.blocks == 1001


def test_hours_late_and_early_take_no_more_memory() -> None:
    lateness = Lateness()
    for late_s in (-0.5, 5000.0, 1e9):
        lateness.add(late_s)

    assert lateness.worst_s == 1e9
    assert lateness.percentile_s(99.0) == pytest.approx(1.0, abs=2 * BUCKET_S)
    assert len(lateness._counts) == 2001
