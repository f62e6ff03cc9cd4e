"""How much audio the encoder is shown."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.audio.frames import silence
from discussion_helper.stt.windows import FULL, LEAST, RATE, split, window_frames


@pytest.mark.parametrize(("seconds", "frames"), [(0.1, 1600), (13.0, 1600), (13.01, 1602), (20.0, 2300), (27.0, 3000)])
def test_a_window_is_three_seconds_longer_than_the_audio_from_16_s_on(seconds: float, frames: int) -> None:
    assert window_frames(round(seconds * RATE)) == frames


@given(st.integers(1, 40 * RATE))
def test_a_window_is_even_and_within_bounds(samples: int) -> None:
    frames = window_frames(samples)

    assert frames % 2 == 0
    assert LEAST <= frames <= FULL


def test_what_fits_is_not_cut() -> None:
    samples = silence(27.0, RATE)

    [piece] = split(samples)

    assert piece is samples


def test_long_audio_is_cut_in_its_pauses() -> None:
    samples = np.random.default_rng(0).normal(0, 0.1, 60 * RATE).astype(np.float32)
    pauses = [(20, 20.4), (25, 25.2), (43, 43.5)]
    for start, end in pauses:
        samples[round(start * RATE) : round(end * RATE)] *= 0.01

    pieces = split(samples)

    assert np.array_equal(np.concatenate(pieces), samples)
    cuts = np.cumsum([len(piece) for piece in pieces])[:-1] / RATE
    assert len(cuts) == 2
    assert any(start <= cuts[0] <= end for start, end in pauses[:2])
    assert 43 <= cuts[1] <= 43.5


@given(st.integers(1, 120))
def test_every_piece_fits_a_window_with_its_margin(seconds: int) -> None:
    pieces = split(np.ones(seconds * RATE, np.float32))

    assert sum(map(len, pieces)) == seconds * RATE
    assert all(0 < len(piece) <= 27 * RATE for piece in pieces)
