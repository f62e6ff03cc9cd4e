"""Comparing what was said with what was understood."""

import pytest

from discussion_helper.bench.texts import TEXTS
from discussion_helper.bench.words import said_once, word_errors, words_of, words_reached


def test_case_punctuation_and_digits_make_no_difference() -> None:
    assert words_of("Go forward 10 meters!") == words_of("go forward ten meters") == ["go", "forward", "ten", "meters"]
    assert words_of("I don’t, Mr. Dashwood") == ["i", "don't", "mister", "dashwood"]


@pytest.mark.parametrize(
    ("heard", "errors"),
    [
        ("four queen of clubs", 0),
        ("four queens of clubs", 1),
        ("four of clubs", 1),
        ("for a queen of clubs", 2),
        ("", 4),
    ],
)
def test_word_errors_are_replaced_dropped_and_inserted_words(heard: str, errors: int) -> None:
    assert word_errors(words_of("Four queen of clubs."), words_of(heard)) == errors


@pytest.mark.parametrize(
    ("heard", "reached"),
    [
        ("the old lighthouse stands on", 5),
        ("the old light house stands on", 5),  # a mistake in the middle
        ("the old lighthouse stands in", 5),  # and at the end
        ("the old lighthouse stands on a", 6),
        ("", 0),
        ("nothing alike", 2),
        ("the old lighthouse strip", 4),  # a word that comes much later
    ],
)
def test_the_words_that_have_gone_by_are_counted_in_spite_of_mistakes(heard: str, reached: int) -> None:
    assert words_reached(words_of("The old lighthouse stands on a narrow strip"), words_of(heard)) == reached


@pytest.mark.parametrize(
    ("heard", "once"),
    [
        ("bread needs flour bread needs flour bread needs", "bread needs flour"),
        ("the the the bread", "the bread"),
        ("bread needs flour and water", "bread needs flour and water"),
        ("so it rose and rose and rose", "so it rose and rose and rose"),  # as it is said
        ("", ""),
    ],
)
def test_what_a_recogniser_says_over_and_over_counts_once(heard: str, once: str) -> None:
    said = words_of("Bread needs flour and water, so it rose and rose and rose.")

    assert once.split() == said_once(heard.split(), said)


def test_the_texts_are_counted_alike_as_words_and_between_spaces() -> None:
    assert [len(words_of(text)) for text in TEXTS] == [len(text.split()) for text in TEXTS]
