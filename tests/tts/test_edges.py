"""The edges of a synthesised stretch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.audio.frames import Samples
from discussion_helper.tts.edges import LEAD_S, even, pause_after, pieces, shape

RATE = 1000


def sound(*, before: int, length: int, after: int, peak: float = 0.5) -> Samples:
    tone = np.full(length, peak, np.float32)
    return np.concatenate([np.zeros(before, np.float32), tone, np.zeros(after, np.float32)])


def test_long_silence_before_and_after_is_cut() -> None:
    shaped, before = shape(sound(before=300, length=100, after=400), RATE, pause_s=0.05)
    assert before == 300 - LEAD_S * RATE
    assert len(shaped) == LEAD_S * RATE + 100 + 5 + 50
    assert not shaped[-50:].any()


def test_a_start_without_silence_stays_and_a_short_end_gets_its_pause() -> None:
    shaped, before = shape(sound(before=0, length=100, after=0), RATE, pause_s=0.2)
    assert (len(shaped), before) == (300, 0)
    assert shaped[0] == 0.5


def test_the_end_fades_instead_of_clicking() -> None:
    shaped, _ = shape(sound(before=0, length=100, after=0), RATE, pause_s=0)
    assert shaped[-1] == 0


def test_silence_becomes_nothing() -> None:
    for count in (500, 0):
        shaped, before = shape(np.zeros(count, np.float32), RATE, pause_s=0.1)
        assert (shaped.size, before) == (0, count)


def test_loud_and_quiet_become_equally_loud() -> None:
    noise = np.random.default_rng(1).normal(0, 0.1, 5000).astype(np.float32)
    levels = [np.sqrt(np.mean(even(noise * gain, level=0.1) ** 2)) for gain in (0.2, 1.0, 1.5)]
    assert max(levels) - min(levels) < 0.01


def test_no_peak_comes_near_full_scale() -> None:
    spiky = sound(before=0, length=5000, after=0, peak=0.01)
    spiky[100] = 0.8
    assert np.abs(even(spiky, level=0.5)).max() == pytest.approx(0.9)


def test_nothing_is_evened_to_nothing() -> None:
    assert even(np.zeros(0, np.float32), level=0.1).size == 0


def test_a_sentence_pauses_longer_than_a_clause_and_a_clause_than_a_cut() -> None:
    assert pause_after("Done.") > pause_after("Done,") > pause_after("done") > 0
    assert pause_after("Done. ") == pause_after("Done?") == pause_after("完。")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("short", ["short"]),
        ("one, two three four", ["one,", "two three", "four"]),
        ("onetwothreefourfive", ["onetwothre", "efourfive"]),
        ("一二三，四五六七八九十", ["一二三，", "四五六七八九十"]),
    ],
)
def test_long_text_is_parted_at_marks_then_at_spaces(text: str, parts: list[str]) -> None:
    assert pieces(text, longest=10) == parts


@given(st.text(max_size=200), st.integers(4, 30))
def test_parting_loses_nothing(text: str, longest: int) -> None:
    parts = pieces(text, longest=longest)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert all(0 < len(part) <= longest for part in parts)
