"""The measures of the bench, on signals whose answers are known."""

import math

import numpy as np
import pytest

from discussion_helper.audio.analysis import (
    Span,
    at_level,
    audible,
    first_above,
    holes,
    last_above,
    longest_quiet,
    percentile,
    turned_down,
    voiced,
)
from discussion_helper.audio.frames import Samples

RATE = 48_000


def noise(seconds: float, dbfs: float) -> Samples:
    samples = np.random.default_rng(7).normal(0.0, 10.0 ** (dbfs / 20.0), round(seconds * RATE))
    return samples.astype(np.float32)


def silence(seconds: float) -> Samples:
    return np.zeros(round(seconds * RATE), np.float32)


def joined(*pieces: Samples) -> Samples:
    return np.concatenate(pieces)


@pytest.mark.parametrize("room_dbfs", [-120.0, -70.0, -50.0])
@pytest.mark.parametrize("gain_db", [0.0, -12.0])
def test_the_voice_is_found_to_10_ms_at_any_level(room_dbfs: float, gain_db: float) -> None:
    clip = joined(noise(0.5, room_dbfs), noise(1.0, -20.0), noise(0.3, room_dbfs)) * np.float32(10 ** (gain_db / 20))
    found = voiced(clip, RATE)
    assert found.start / RATE == pytest.approx(0.5, abs=0.01)
    assert found.end / RATE == pytest.approx(1.5, abs=0.01)
    assert found.level_dbfs == pytest.approx(-20.0 + gain_db, abs=0.5)


def test_a_pause_is_inside_the_voice_and_a_click_after_it_is_not() -> None:
    click = np.full(48, 0.5, np.float32)
    clip = joined(noise(0.5, -20.0), silence(0.5), noise(0.5, -25.0), silence(0.4), click, silence(0.1))
    found = voiced(clip, RATE)
    assert found.start == 0
    assert found.end / RATE == pytest.approx(1.5, abs=0.01)


@pytest.mark.parametrize("click_dbfs", [-45.0, -20.0])
def test_the_click_of_lips_before_the_first_word_is_no_voice(click_dbfs: float) -> None:
    room = noise(1.0, -75.0)
    word = noise(0.45, -25.0)
    clip = joined(room, noise(0.04, click_dbfs), room[: round(0.35 * RATE)], word, room)
    found = voiced(clip, RATE)
    assert found.start / RATE == pytest.approx(1.39, abs=0.01)
    assert found.end / RATE == pytest.approx(1.84, abs=0.01)


def test_a_first_consonant_belongs_to_its_word() -> None:
    room = noise(1.0, -75.0)
    clip = joined(room, noise(0.03, -40.0), room[: round(0.06 * RATE)], noise(0.3, -25.0), room)
    assert voiced(clip, RATE).start / RATE == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("closed_s", [0.1, 0.2])
def test_the_released_stop_at_the_end_of_a_word_belongs_to_it(closed_s: float) -> None:
    room = noise(1.0, -75.0)
    clip = joined(room, noise(0.25, -25.0), room[: round(closed_s * RATE)], noise(0.03, -45.0), room)
    assert voiced(clip, RATE).end / RATE == pytest.approx(1.28 + closed_s, abs=0.01)


def test_the_click_of_a_button_long_after_the_last_word_is_no_voice() -> None:
    room = noise(1.0, -75.0)
    clip = joined(room, noise(0.5, -25.0), room[: RATE // 2], noise(0.05, -20.0), room)
    assert voiced(clip, RATE).end / RATE == pytest.approx(1.5, abs=0.01)


def test_sound_that_never_lasts_counts_from_the_first_to_the_last() -> None:
    room = noise(1.0, -75.0)
    clip = joined(room, noise(0.05, -25.0), room, noise(0.05, -25.0), room)
    found = voiced(clip, RATE)
    assert (found.start / RATE, found.end / RATE) == pytest.approx((1.0, 2.1), abs=0.01)


def test_a_quiet_last_syllable_counts_and_a_breath_does_not() -> None:
    clip = joined(noise(1.0, -20.0), noise(0.2, -45.0), noise(0.2, -60.0), silence(0.4))
    assert voiced(clip, RATE).end / RATE == pytest.approx(1.2, abs=0.01)


def test_steady_noise_is_voice_from_end_to_end() -> None:
    found = voiced(noise(1.0, -40.0), RATE)
    assert (found.start, found.end) == (0, RATE)


@pytest.mark.parametrize("clip", [silence(1.0), silence(0.001)])
def test_silence_has_no_voice(clip: Samples) -> None:
    with pytest.raises(ValueError, match="silent"):
        voiced(clip, RATE)


def test_a_clip_is_brought_to_a_level_but_never_beyond_full_scale() -> None:
    clip = noise(1.0, -20.0)
    level = voiced(clip, RATE).level_dbfs
    assert voiced(at_level(clip, level, -32.0), RATE).level_dbfs == pytest.approx(-32.0, abs=0.1)
    loud = at_level(clip, level, 20.0)
    assert np.abs(loud).max() == pytest.approx(1.0)
    assert loud.dtype == np.float32


def test_audible_is_what_is_above_minus_40_dbfs() -> None:
    sound = silence(1.0)
    sound[1_000], sound[2_000], sound[3_000] = 0.0099, 0.0101, -0.02
    assert audible(sound) == Span(2_000, 3_001)
    assert audible(sound, after=3_001) is None
    assert first_above(sound, -60.0, after=500) == 1_000
    assert last_above(sound, -60.0) == 3_000
    assert first_above(sound, -6.0) is None


def test_a_hole_is_60_ms_of_digital_silence_inside_a_stretch() -> None:
    faint = np.full(RATE // 10, 1e-4, np.float32)  # -80 dBFS: a quiet voice, no hole
    sound = joined(
        silence(0.2), noise(0.3, -20.0), silence(0.07), noise(0.2, -20.0), silence(0.05), faint, silence(0.1)
    )
    span = Span(round(0.2 * RATE), len(sound) - round(0.1 * RATE))
    (gap,) = holes(sound, RATE, span)
    assert gap.start / RATE == pytest.approx(0.5, abs=0.001)
    assert len(gap) / RATE == pytest.approx(0.07, abs=0.001)


def test_the_longest_quiet_stretch_is_found_also_at_the_edge_and_if_there_is_none() -> None:
    sound = joined(noise(0.2, -20.0), silence(0.1), noise(0.2, -20.0), silence(0.3))
    assert len(longest_quiet(sound, -60.0, Span(0, len(sound)))) / RATE == pytest.approx(0.3, abs=0.001)
    assert len(longest_quiet(np.ones(10, np.float32), -60.0, Span(0, 10))) == 0


def test_turned_down_is_where_it_stays_20_db_below_the_speech() -> None:
    sound = joined(noise(1.0, -20.0), noise(0.5, -44.0), silence(0.5))
    assert turned_down(sound, RATE, Span(0, len(sound))) / RATE == pytest.approx(1.0, abs=0.01)
    assert turned_down(sound, RATE, Span(5, 5)) == 5


def test_what_is_turned_down_for_a_second_and_goes_on_was_turned_down_when_that_began() -> None:
    loud = noise(1.0, -20.0)
    sound = joined(loud, silence(1.2), loud, silence(0.5), loud)
    whole = Span(0, len(sound))

    assert turned_down(sound, RATE, whole) / RATE == pytest.approx(1.0, abs=0.01)
    assert turned_down(sound, RATE, whole, after=round(1.1 * RATE)) / RATE == pytest.approx(4.7, abs=0.01)


def test_percentiles_lie_between_values_and_none_of_nothing() -> None:
    assert percentile([1.0, 2.0, 3.0, 4.0], 50) == 2.5
    assert percentile([10.0], 95) == 10.0
    assert math.isnan(percentile([], 50))
