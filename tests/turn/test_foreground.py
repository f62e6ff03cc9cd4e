"""Whose voice it is, by its level."""

import numpy as np
import pytest

from discussion_helper.audio.frames import Samples
from discussion_helper.turn.foreground import Foreground

FRAME = 512
FRAMES_S = 16_000 / FRAME


def frames(seconds: float, dbfs: float) -> list[Samples]:
    dice = np.random.default_rng(0)
    count = round(seconds * FRAMES_S)
    return [(10 ** (dbfs / 20) * dice.normal(0.0, 1.0, FRAME)).astype(np.float32) for _ in range(count)]


def admitted(foreground: Foreground, seconds: float, dbfs: float, *, voice: bool = True) -> float:
    """The share of such frames that may be the speaker's."""
    heard = [foreground.admits(frame, voice=voice) for frame in frames(seconds, dbfs)]
    return sum(heard) / len(heard)


@pytest.fixture
def foreground() -> Foreground:
    return Foreground(rate=16_000, frame_samples=FRAME)


def test_a_voice_behind_a_louder_one_is_not_the_speakers(foreground: Foreground) -> None:
    assert admitted(foreground, 2.0, -26.0) == 1.0
    assert admitted(foreground, 3.0, -41.0) < 0.15


def test_a_speaker_may_be_quieter_and_pause(foreground: Foreground) -> None:
    assert admitted(foreground, 2.0, -26.0) == 1.0
    assert admitted(foreground, 1.0, -80.0, voice=False) == 1.0
    assert admitted(foreground, 2.0, -36.0) == 1.0


def test_a_syllable_may_be_much_quieter_and_a_cough_much_louder(foreground: Foreground) -> None:
    assert admitted(foreground, 2.0, -26.0) == 1.0
    assert admitted(foreground, 0.2, -45.0) == 1.0
    assert admitted(foreground, 0.2, -6.0) == 1.0
    assert admitted(foreground, 2.0, -26.0) == 1.0


def test_who_is_alone_for_long_is_the_speaker_however_quiet(foreground: Foreground) -> None:
    admitted(foreground, 2.0, -26.0)

    assert admitted(foreground, 9.0, -41.0) < 0.15
    assert admitted(foreground, 3.0, -41.0) > 0.5


def test_before_there_is_enough_of_a_voice_and_after_a_reset_nobody_is_turned_down(foreground: Foreground) -> None:
    assert admitted(foreground, 0.25, -10.0) == 1.0
    assert admitted(foreground, 0.5, -45.0) == 1.0
    admitted(foreground, 2.0, -10.0)
    foreground.reset()

    assert admitted(foreground, 0.5, -45.0) == 1.0
