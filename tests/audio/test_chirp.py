"""The chirp and what is found of it, in simulated rooms."""

import numpy as np
import pytest
import soxr
from hypothesis import given, settings
from hypothesis import strategies as st

from discussion_helper.audio.chirp import CHIRP_S, LEVEL_DBFS, RATE, EchoFound, chirp, find_echo, level_dbfs
from discussion_helper.audio.frames import Samples

FINE = 48_000
"""Hertz at which a room is simulated, so that delays need not be whole samples."""


def heard(
    gain_db: float, noise_dbfs: float, delay_s: float, *, rate: int = 48_000, ppm: float = 0.0, reverb_s: float = 0.0
) -> Samples:
    """At 16 kHz: a second of noise, then the chirp as a microphone hears it whose clock is `ppm` fast."""
    random = np.random.default_rng(3)
    played = np.pad(soxr.resample(chirp(rate), rate, FINE), (FINE, 2 * FINE))
    seconds = np.arange(4 * rate) / rate
    sound = np.interp((1.0 + (seconds - 1.0) * (1.0 + ppm * 1e-6) - delay_s) * FINE, np.arange(len(played)), played)
    near = soxr.resample(sound, rate, RATE)
    if reverb_s:
        answer = random.normal(size=round(reverb_s * RATE)) * np.exp(
            -6.9 * np.arange(round(reverb_s * RATE)) / reverb_s / RATE
        )
        answer *= 1.0 / np.sqrt(np.sum(answer**2))
        answer[0] = 1.0
        near = np.convolve(near, answer / np.sqrt(np.sum(answer**2)))[: len(near)]
    noise = random.normal(size=len(near)) * 10.0 ** (noise_dbfs / 20.0)
    return np.asarray(near * 10.0 ** (gain_db / 20.0) + noise, np.float32)


def assert_found(found: EchoFound, gain_db: float, delay_s: float, *, within_db: float) -> None:
    assert found.heard, found
    assert delay_s == pytest.approx(found.delay_s, abs=0.001)
    assert gain_db == pytest.approx(found.gain_db, abs=within_db)


@settings(max_examples=15, derandomize=True)
@given(
    gain_db=st.floats(-40.0, 0.0),
    noise_dbfs=st.floats(-100.0, -50.0),
    delay_s=st.floats(0.005, 0.6),
    rate=st.sampled_from([16_000, 44_100, 48_000]),
    ppm=st.floats(-200.0, 200.0),
    reverb_s=st.sampled_from([0.0, 0.1, 0.25]),
)
def test_delay_and_gain_are_found_in_any_room(
    gain_db: float, noise_dbfs: float, delay_s: float, rate: int, ppm: float, reverb_s: float
) -> None:
    near = heard(gain_db, noise_dbfs, delay_s, rate=rate, ppm=ppm, reverb_s=reverb_s)

    # A room's answer has peaks and holes, and the sweep does not weigh all frequencies alike.
    assert_found(find_echo(near, RATE), gain_db, delay_s, within_db=3.0 if reverb_s else 1.5)


@settings(max_examples=15, derandomize=True)
@given(seed=st.integers(0, 10_000), dbfs=st.floats(-90.0, -10.0), swells=st.floats(0.5, 12.0))
def test_noise_that_swells_like_speech_is_no_echo(seed: int, dbfs: float, swells: float) -> None:
    noise = np.random.default_rng(seed).normal(size=4 * RATE) * 10.0 ** (dbfs / 20.0)
    sound = noise * (1.0 + np.sin(2.0 * np.pi * swells * np.arange(len(noise)) / RATE)) ** 3

    assert not find_echo(sound.astype(np.float32), RATE).heard


def test_silence_is_no_echo() -> None:
    assert not find_echo(np.zeros(4 * RATE, np.float32), RATE).heard


def test_a_tone_is_no_echo() -> None:
    tone = 0.1 * np.sin(2.0 * np.pi * 1_000.0 * np.arange(4 * RATE) / RATE)

    assert not find_echo(tone.astype(np.float32), RATE).heard


def test_an_echo_that_seems_to_come_too_early_is_found() -> None:
    near = heard(-10.0, -70.0, 0.0)

    assert find_echo(near, RATE + 800, earliest_s=-0.1).delay_s == pytest.approx(-0.05, abs=0.001)


def test_drift_shows_as_spread() -> None:
    assert find_echo(heard(-10.0, -80.0, 0.1), RATE).spread_s == 0.0
    assert find_echo(heard(-10.0, -80.0, 0.1, ppm=500.0), RATE).spread_s == pytest.approx(0.0006, abs=0.0001)


def test_one_lost_sweep_does_not_change_the_place() -> None:
    near = heard(-10.0, -80.0, 0.1)
    near[round(1.35 * RATE) : round(1.55 * RATE)] = 0.0

    assert find_echo(near, RATE).delay_s == pytest.approx(0.1, abs=0.001)


def test_a_recording_that_is_too_short_is_refused() -> None:
    with pytest.raises(ValueError, match="does not hold"):
        find_echo(np.zeros(2 * RATE, np.float32), RATE)
    with pytest.raises(ValueError, match="does not hold"):
        find_echo(np.zeros(4 * RATE, np.float32), 10, earliest_s=-0.1)


@pytest.mark.parametrize("rate", [8_000, 16_000, 44_100, 48_000, 96_000])
def test_the_chirp_is_short_modest_and_the_same_each_time(rate: int) -> None:
    sound = chirp(rate)

    assert len(sound) == pytest.approx(CHIRP_S * rate, abs=1)
    assert CHIRP_S < 1.5
    assert np.abs(sound).max() < 0.7
    assert np.array_equal(sound, chirp(rate))
    if rate >= RATE:
        assert LEVEL_DBFS == pytest.approx(level_dbfs(sound[: round(0.2 * rate)]), abs=1.0)


def test_a_click_is_no_noise() -> None:
    quiet = np.random.default_rng(0).normal(0.0, 1e-3, RATE).astype(np.float32)
    quiet[800:900] = 0.9

    assert -60.0 == pytest.approx(level_dbfs(quiet), abs=0.5)
    assert -120.0 == level_dbfs(np.zeros(RATE, np.float32))
    assert -120.0 == level_dbfs(np.zeros(3, np.float32))
