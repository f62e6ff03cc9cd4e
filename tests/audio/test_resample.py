"""Resampling: what passes, what does not, and how late it is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.resample import HALF, MOST_APART, MOST_WEIGHTS, PLACES, ClipResampler, Resampler, resample
from discussion_helper.errors import SettingError

RATES = [(48_000, 16_000), (44_100, 16_000), (96_000, 16_000), (22_050, 48_000), (8_000, 16_000), (16_000, 44_100)]
PRIME = [(44_101, 16_000), (16_000, 44_101), (192_007, 16_000)]


def tone(hertz: float, rate: int, seconds: float = 1.0) -> Samples:
    return np.asarray(np.sin(2 * np.pi * hertz / rate * np.arange(round(seconds * rate))), np.float32)


def streamed(samples: Samples, source: int, target: int, block: int) -> Samples:
    resampler = Resampler(source, target)
    return np.concatenate([resampler.process(samples[i : i + block]) for i in range(0, len(samples), block)])


def decibels(samples: Samples) -> float:
    return float(10 * np.log10(2 * np.mean(np.square(samples, dtype=np.float64)) + 1e-15))


@pytest.mark.parametrize("source", [48_000, 44_100, 44_101])
@pytest.mark.parametrize("hertz", [9_000, 10_500, 12_000, 15_000, 16_300, 18_000, 20_000])
def test_tones_the_detectors_cannot_have_do_not_come_back_as_others(source: int, hertz: int) -> None:
    assert decibels(streamed(tone(hertz, source), source, 16_000, source // 100)[800:]) < -75
    assert decibels(resample(tone(hertz, source), source, 16_000)[800:-800]) < -75


@pytest.mark.parametrize(("source", "target"), [*RATES, *PRIME])
@pytest.mark.parametrize("hertz", [120, 1_000, 3_300])
def test_speech_passes_unchanged_and_as_late_as_is_said(source: int, target: int, hertz: int) -> None:
    out = streamed(tone(hertz, source), source, target, source // 100)

    late = Resampler(source, target).delay_s
    expected = np.sin(2 * np.pi * hertz * (np.arange(len(out)) / target - late))
    np.testing.assert_allclose(out[target // 10 :], expected[target // 10 :], atol=3e-4)
    assert late <= 0.0025


@pytest.mark.parametrize(("source", "target"), RATES)
def test_a_clip_keeps_its_place_and_length(source: int, target: int) -> None:
    out = resample(tone(1_000, source), source, target)

    assert abs(len(out) - target) <= 1
    assert out.dtype == np.float32
    expected = tone(1_000, target)
    np.testing.assert_allclose(out[800:-800], expected[800 : len(out) - 800], atol=1e-3)


@pytest.mark.parametrize(("source", "target"), [(48_000, 16_000), (44_100, 16_000), (16_000, 48_000), (32_000, 16_000)])
def test_every_block_of_ten_milliseconds_gives_one_back(source: int, target: int) -> None:
    resampler = Resampler(source, target)

    lengths = {len(resampler.process(np.zeros(source // 100, np.float32))) for _ in range(300)}

    assert lengths == {target // 100}


@settings(max_examples=60)
@given(rates=st.sampled_from(RATES + PRIME), cuts=st.lists(st.integers(0, 700), min_size=1, max_size=12))
def test_how_a_stream_is_cut_makes_no_difference(rates: tuple[int, int], cuts: list[int]) -> None:
    samples = np.random.default_rng(0).standard_normal(sum(cuts)).astype(np.float32)
    resampler = Resampler(*rates)

    pieces = [resampler.process(piece) for piece in np.split(samples, np.cumsum(cuts)[:-1])]

    np.testing.assert_allclose(np.concatenate(pieces), Resampler(*rates).process(samples), atol=1e-5)
    assert len(np.concatenate(pieces)) == -(-len(samples) * rates[1] // rates[0])


@pytest.mark.parametrize(("source", "target"), RATES)
def test_the_end_of_a_stream_can_be_had_and_another_begun(source: int, target: int) -> None:
    resampler = Resampler(source, target)
    clip = tone(1_000, source, 0.1)

    first = np.concatenate((resampler.process(clip), resampler.flush()))
    second = np.concatenate((resampler.process(clip), resampler.flush()))

    places = np.arange(len(first)) / target - resampler.delay_s
    inside = (places > 0.005) & (places < 0.095)
    np.testing.assert_allclose(first[inside], np.sin(2 * np.pi * 1_000 * places[inside]), atol=1e-3)
    assert places[-1] > 0.1 - 1.01 / min(source, target)
    np.testing.assert_array_equal(first, second)


def test_equal_rates_change_nothing_and_cost_no_time() -> None:
    samples = tone(440, 16_000)
    resampler = Resampler(16_000, 16_000)

    assert resampler.process(samples) is samples
    assert resampler.delay_s == 0.0
    assert not len(resampler.flush())
    assert resample(samples, 16_000, 16_000) is samples


def test_nothing_becomes_nothing() -> None:
    nothing = np.zeros(0, np.float32)

    assert not len(Resampler(48_000, 16_000).process(nothing))
    assert not len(resample(nothing, 22_050, 48_000))


@pytest.mark.parametrize(
    "rates", [*RATES, *PRIME, (44_100, 48_000), (11_025, 48_000), (384_000, 44_100), (65_473, 1_023), (199_999, 2_000)]
)
def test_no_rate_takes_more_weights_than_are_computed_at_once(rates: tuple[int, int]) -> None:
    """Of a prime rate there were 1,776,000, and of some 100 times as many."""
    apart = max(rates) / min(rates)

    assert Resampler(*rates)._filters.size <= max(MOST_WEIGHTS, (PLACES + 1) * (2 * HALF * apart + 1))


def test_rates_too_far_apart_are_refused() -> None:
    Resampler(MOST_APART * 160, 160)
    with pytest.raises(SettingError, match="too far"):
        Resampler(MOST_APART * 160 + 1, 160)


@pytest.mark.parametrize("rates", [(0, 16_000), (48_000, 0), (-1, 16_000)])
def test_an_impossible_rate_is_refused(rates: tuple[int, int]) -> None:
    with pytest.raises(SettingError, match="sample rate"):
        Resampler(*rates)
    with pytest.raises(SettingError, match="sample rate"):
        resample(tone(100, 16_000, 0.01), *rates)


@pytest.mark.parametrize("rate", [22_050, 44_100, 48_000, 16_000])
@pytest.mark.parametrize("first", [0, 1, 300, 8_000])
def test_a_clip_in_parts_is_the_whole_clip(rate: int, first: int) -> None:
    clip = np.sin(np.arange(22_050) / 5).astype(np.float32)
    resampler = ClipResampler(22_050, rate)
    parts = [resampler.process(clip[:first], last=False), resampler.process(clip[first:], last=True)]

    whole, joined = resample(clip, 22_050, rate), np.concatenate(parts)
    assert len(whole) == len(joined)
    assert np.abs(whole - joined).max() < 1e-4
