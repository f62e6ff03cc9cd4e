"""The words that were heard, by their times and by an estimate."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discussion_helper.tts.base import Word
from discussion_helper.tts.heard import heard_of, heard_words

TEXTS = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from(["word", " ", "a", ", ", ". ", "$3.50", "你好", "。", "**", "สวัสดี", "e\u0301", "👋", "\n"]),
        max_size=30,
    ).map("".join),
)
SECONDS = st.floats(0, 100, allow_nan=False)


@given(TEXTS, SECONDS, SECONDS, st.floats(0.001, 100))
@settings(max_examples=300)
def test_more_time_never_gives_fewer_words(text: str, one: float, other: float, total: float) -> None:
    less, more = sorted((one, other))
    heard = heard_words(text, less, total)
    assert text.startswith(heard)
    assert heard_words(text, more, total).startswith(heard)


@given(TEXTS, st.floats(0.001, 100))
def test_nothing_at_the_start_and_everything_at_the_end(text: str, total: float) -> None:
    assert heard_words(text, 0, total) == ""
    assert heard_words(text, total, total) == text
    assert heard_words(text, total + 1, total) == text


@given(st.lists(st.text("abcdefg", min_size=1, max_size=9), min_size=1, max_size=12), SECONDS)
def test_words_are_heard_whole(words: list[str], played: float) -> None:
    heard = heard_words(" ".join(words), played, 100).split()
    assert heard == words[: len(heard)]


@pytest.mark.parametrize(
    ("text", "share", "heard"),
    [
        ("one two three four", 0.5, "one two"),
        ("The ticket costs $3.50 today.", 0.5, "The ticket costs"),
        ("It is $3.50 and more", 0.5, "It is"),
        ("Yes, I know", 0.55, "Yes,"),
        ("你好世界", 0.5, "你好"),
        ("你好，世界。", 0.4, "你好，"),
        ("สวัสดีครับ", 0.5, "สวัส"),
        ("** bold", 0.5, "**"),
        ("...", 0.5, ""),
        ("Hello there, my friend", 0.05, ""),
    ],
)
def test_time_is_shared_out_by_what_is_spoken(text: str, share: float, heard: str) -> None:
    assert heard_words(text, share * 10, 10) == heard


@pytest.mark.parametrize("total", [0, -1])
def test_audio_without_length_was_heard_whole_once_anything_was(total: float) -> None:
    assert heard_words("Hello", 0, total) == ""
    assert heard_words("Hello", 0.1, total) == "Hello"


TIMED = (Word(3, 100, 200), Word(7, 220, 300), Word(13, 400, 500))


@pytest.mark.parametrize(
    ("played", "heard"),
    [
        (0, ""),
        (174, ""),
        (175, "one"),
        (279, "one"),
        (280, "one two"),
        (399, "one two"),
        (474, "one two"),
        (475, "one two three"),
        (9999, "one two three"),
    ],
)
def test_a_word_is_heard_once_three_quarters_of_it_were_played(played: int, heard: str) -> None:
    assert heard_of("one two three", TIMED, played) == heard


def test_nothing_is_heard_of_nothing() -> None:
    assert heard_of("one", (Word(3, 0, 0),), 0) == ""
    assert heard_of("", (), 100) == ""
