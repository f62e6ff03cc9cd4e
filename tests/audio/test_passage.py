"""The way past the canceller."""

import numpy as np

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.passage import HOLD, OVER_DB, Passage

LAG = 128


def block(number: int) -> Samples:
    return np.arange(160 * number, 160 * (number + 1), dtype=np.float32)


def picked(passage: Passage, overs: list[float], *, first: int = 0) -> list[Samples]:
    """A microphone that counts up, behind a canceller that leaves nothing."""
    silent = np.zeros(160, np.float32)
    return [passage.pick(block(first + number), silent, over) for number, over in enumerate(overs)]


def test_what_is_no_louder_than_expected_goes_through_the_canceller() -> None:
    assert not np.concatenate(picked(Passage(LAG), [OVER_DB] * 10)).any()


def test_who_is_much_louder_is_heard_as_they_came_equally_late() -> None:
    out = picked(Passage(LAG), [OVER_DB + 1.0] * 3)

    np.testing.assert_array_equal(out[2], block(2) - LAG)


def test_it_fades_without_a_step_both_ways_and_holds_through_a_syllable() -> None:
    passage = Passage(LAG)
    out = picked(passage, [0.0, OVER_DB + 1.0, *[0.0] * (HOLD + 1)])

    assert 0.0 == out[1][0]
    np.testing.assert_array_equal(out[HOLD], block(HOLD) - LAG)
    assert 0.0 == out[HOLD + 1][-1]
    assert not out[HOLD + 2].any()


def test_a_reset_goes_back_to_the_canceller() -> None:
    passage = Passage(LAG)
    picked(passage, [OVER_DB + 1.0])

    passage.reset()

    assert not np.concatenate(picked(passage, [0.0] * 2)).any()
