"""Words in time, from the durations of phonemes."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.tts.base import Word
from discussion_helper.tts.phonemes import Phoneme, moved, place, timed
from discussion_helper.tts.words import words_of

IDS = {
    "^": [1],
    "_": [0],
    "$": [2],
    " ": [3],
    ".": [4],
    "ˈ": [5],
    **{letter: [9] for letter in "abcdefghiklmnoprstuvw"},
}


def sound(phonemes: str, *, each: int = 10) -> list[Phoneme]:
    """Every phoneme lasts equally long."""
    return [Phoneme(symbol, each * index, each * (index + 1)) for index, symbol in enumerate(phonemes)]


def alone(word: str) -> Sequence[str]:
    """Spelt as spoken, but for the marks."""
    return [letter for letter in word.lower() if letter.isalpha()]


def words(text: str, spoken: str, phonemes: str) -> list[tuple[str, int, int]]:
    found, end = [], 0
    for word in words_of(text, [(spoken, sound(phonemes))], language="en", sounds=alone) or ():
        found.append((text[end : word.end], word.start, word.stop))
        end = word.end
    return found


def test_phonemes_last_as_long_as_their_ids_and_the_gap_after_them() -> None:
    widths = np.array([100, 7, 20, 3, 30, 4, 50])
    assert timed(["a", "ˈ"], IDS, widths) == [Phoneme("a", 107, 130), Phoneme("ˈ", 130, 164)]


def test_a_phoneme_that_the_voice_does_not_know_lasts_no_time() -> None:
    assert timed(["a", "ʢ", "b"], IDS, np.array([1, 1, 1, 1, 1, 1, 1])) == [Phoneme("a", 2, 4), Phoneme("b", 4, 6)]


def test_durations_of_something_else_are_not_believed() -> None:
    assert timed(["a", "b"], IDS, np.array([1, 1, 1, 1])) is None
    assert timed(["a"], IDS, None) is None


def test_a_sentence_moves_to_its_place_and_ends_where_its_audio_was_cut() -> None:
    there = moved(sound("ab"), by=95, start=100, count=12)
    assert there == [Phoneme("a", 100, 105), Phoneme("b", 105, 112), Phoneme(" ", 112, 112)]


def test_words_that_were_joined_are_parted_between_their_sounds() -> None:
    assert place(["of", "the", "cat"], sound("ofthe ˈcat"), alone) == [(0, 20), (20, 50), (60, 100)]


def test_a_stressed_word_begins_with_its_stress() -> None:
    assert place(["a", "bad"], sound("aˈbad"), alone) == [(0, 10), (10, 50)]


def test_sounds_that_nobody_expected_belong_to_the_word_beside_them() -> None:
    assert place(["one", "two"], sound("onest two."), alone) == [(0, 50), (60, 90)]


def test_a_word_without_a_sound_takes_no_time() -> None:
    assert place(["a", "!", "b"], sound("a b"), alone) == [(0, 10), (10, 10), (20, 30)]


def test_pauses_belong_to_no_word() -> None:
    assert words("Hello, you.", "Hello, you.", "hello, you.") == [("Hello,", 0, 50), (" you.", 70, 100)]


def test_a_number_is_heard_as_it_is_written() -> None:
    assert words("It is 21 °C!", "It is two one c", "it is two one c.") == [
        ("It", 0, 20),
        (" is", 30, 50),
        (" 21", 60, 130),
        (" °C!", 140, 150),
    ]


def test_a_script_without_spaces_is_cut_between_letters() -> None:
    assert words("ไทย", "ไทย", "tai") == [("ไ", 0, 10), ("ท", 10, 20), ("ย", 20, 30)]


def test_text_without_sound_has_no_words() -> None:
    assert words_of("🙂", [], language="en", sounds=alone) == ()


def test_pieces_follow_each_other() -> None:
    later = moved(sound("cd"), by=30, start=30, count=20)
    found = words_of("ab, x cd", [("ab, x", sound("ab,")), ("cd", later)], language="en", sounds=alone)
    assert found == (Word(3, 0, 20), Word(5, 20, 20), Word(8, 30, 50))


def test_words_of_which_most_are_not_in_the_audio_are_not_told() -> None:
    assert words_of("ab cd gh", [("ab cd gh", sound("ab ."))], language="en", sounds=alone) is None
    assert words_of("one two", [("one two", sound("."))], language="en", sounds=alone) is None


SPOKEN = st.lists(st.text("abcdefghi.,", min_size=1, max_size=6), max_size=8).map(" ".join)


@given(SPOKEN, st.text("abcdefghi .,ˈ", max_size=40))
def test_words_cover_the_text_and_never_go_back_whatever_was_made_of_it(text: str, phonemes: str) -> None:
    found = words_of(text, [(text, sound(phonemes))], language="en", sounds=alone) or ()
    times = [time for word in found for time in (word.start, word.stop)]
    assert times == sorted(times)
    assert [word.end for word in found] == sorted({word.end for word in found})
    assert all(0 <= time <= 10 * len(phonemes) for time in times)
    assert not found or found[-1].end == len(text)


def test_a_word_says_where_it_ends_and_when() -> None:
    assert words_of("ab", [("ab", sound("ab"))], language="en", sounds=alone) == (Word(end=2, start=0, stop=20),)


@pytest.mark.parametrize("text", ["  ab  ", "ab 🙂", "** ab **"])
def test_the_last_word_ends_with_the_text(text: str) -> None:
    assert words_of(text, [("ab", sound("ab"))], language="en", sounds=alone) == (Word(len(text), 0, 20),)
