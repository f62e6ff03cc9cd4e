"""Text for a terminal."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from discussion_helper.commands.wrap import Line, cells, printable, shortened, wrap


def plain(lines: list[Line]) -> list[str]:
    return ["".join(text for _, text in line) for line in lines]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Hello there.", "Hello there."),
        ("one\ntwo\tthree\r\n", "one two three  "),
        ("\x1b[31mred\x1b[0m\x07", "�[31mred�[0m�"),
        ("\x9b2J\x7f", "�2J�"),
        ("\udcff", "�"),
        ("abc\u202etxt.exe\u202c", "abctxt.exe"),
        ("café, 日本語, हिन्दी", "café, 日本語, हिन्दी"),
        ("👩🏽\u200d🚀 ❤\ufe0f 1\ufe0f\u20e3 🇩🇪", "👩🚀 ❤ 1 DE"),
        ("क\u094d\u200dष", "क\u094d\u200dष"),
    ],
)
def test_what_a_terminal_would_obey_is_not_sent_to_it(text: str, shown: str) -> None:
    assert shown == printable(text)


@given(st.text())
def test_no_text_gets_a_control_character_through(text: str) -> None:
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 or 0xD800 <= ord(c) < 0xE000 for c in printable(text))


def test_lines_break_between_words_and_keep_their_styles() -> None:
    lines = wrap([("bold", "you   "), ("", "one two three four")], 14, indent=6)

    assert ["you   one two ", "      three ", "      four"] == plain(lines)
    assert [("bold", "you"), ("bold", "   "), ("", "one"), ("", " "), ("", "two"), ("", " ")] == lines[0]


def test_words_longer_than_a_line_break_inside() -> None:
    assert ["ab cd", "efghi", "j"] == plain(wrap([("", "ab cdefghij")], 5))
    assert ["日本", "語を", "話す"] == plain(wrap([("", "日本語を話す")], 5))


@given(st.text(st.characters(min_codepoint=32, exclude_categories=("Cc", "Cs"))), st.integers(2, 90), st.integers(0, 9))
def test_no_line_is_wider_and_nothing_but_spaces_is_lost(text: str, width: int, indent: int) -> None:
    text = printable(text)
    lines = wrap([("", text)], width, indent=indent)

    assert all(cells(line) <= width for line in lines)
    assert text.replace(" ", "") == "".join(plain(lines)).replace(" ", "")


def test_a_column_that_is_too_narrow_for_a_character_still_ends() -> None:
    assert ["日", "本"] == plain(wrap([("", "日本")], 1))


@example("000\U000e000000", 4)
@given(st.text(), st.integers(1, 20))
def test_a_shortened_text_fits(text: str, width: int) -> None:
    text = printable(text)
    short = shortened(text, width)

    assert get_cwidth(short) <= width
    assert text == short or short.endswith("…")
