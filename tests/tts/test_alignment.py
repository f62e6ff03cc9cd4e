"""Sounds that were made, aligned with those that were expected."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.tts.alignment import align

SOUNDS = st.text("ab kʌɪ", max_size=12)


@given(SOUNDS)
def test_like_is_aligned_with_like(sounds: str) -> None:
    assert align(sounds, sounds) == list(range(len(sounds)))


@given(SOUNDS, SOUNDS)
def test_what_is_aligned_keeps_its_order(expected: str, made: str) -> None:
    found = [index for index in align(expected, made) if index >= 0]
    assert found == sorted(set(found))
    assert all(index < len(made) for index in found)


@given(SOUNDS, SOUNDS)
def test_a_space_never_stands_for_a_sound(expected: str, made: str) -> None:
    pairs = [(sound, made[index]) for sound, index in zip(expected, align(expected, made), strict=True) if index >= 0]
    assert all((sound == " ") == (other == " ") for sound, other in pairs)


@pytest.mark.parametrize(
    ("expected", "made", "found"),
    [
        ("ʌv ðə bɪɡ", "ʌvðə bɪɡ", [0, 1, -1, 2, 3, 4, 5, 6, 7]),  # joined
        ("eɪ kæt", "ɐ kæt", [-1, 0, 1, 2, 3, 4]),  # reduced
        ("tʊ ɡoʊ", "tə ɡoʊ", [0, 1, 2, 3, 4, 5]),  # another vowel
        ("hæt", "", [-1, -1, -1]),
        ("", "hæt", []),
    ],
)
def test_words_in_a_sentence_differ_from_words_alone(expected: str, made: str, found: list[int]) -> None:
    assert align(expected, made) == found
