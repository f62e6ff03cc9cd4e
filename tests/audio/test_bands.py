"""The bands of a sound."""

import numpy as np
import pytest

from discussion_helper.audio.bands import COUNT, Bands, over_db


def powers(hertz: float, level: float = 0.1) -> np.ndarray:
    """Of a tone that has lasted for 100 ms."""
    bands, tone = Bands(), level * np.sin(2.0 * np.pi * hertz * np.arange(1_600) / 16_000)
    return [bands.push(np.asarray(block, np.float32)) for block in tone.reshape(-1, 160)][-1]


@pytest.mark.parametrize(("hertz", "band"), [(400.0, 0), (1_000.0, 1), (2_000.0, 2), (5_000.0, 3)])
def test_a_tone_is_in_its_band_and_in_no_other(hertz: float, band: int) -> None:
    found = powers(hertz)

    assert band == int(np.argmax(found))
    assert np.delete(found, band).max() < 1e-3 * found[band]


def test_a_hum_is_in_none() -> None:
    assert powers(60.0).sum() < 1e-2 * powers(400.0).sum()


def test_twice_the_amplitude_is_6_db_over() -> None:
    assert over_db(powers(1_000.0, 0.2), powers(1_000.0, 0.1)) == pytest.approx(6.02, abs=0.1)


def test_one_band_alone_counts_half() -> None:
    expected = np.full(COUNT, 1e-4)
    near = expected * [100.0, 1.0, 1.0, 1.0]

    assert over_db(near, expected) == pytest.approx(10.0)
