"""The keys as a live view gets them."""

from collections.abc import Iterable

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys

from discussion_helper.commands.keyboard import ENTERS, LONG, Keyboard

PASTE = Keys.BracketedPaste


def handed(text: str) -> list[KeyPress]:
    with create_pipe_input() as keyboard:
        keyboard.send_text(text)
        ours = Keyboard(keyboard, (Keys.ControlC,))
        return [*ours.read_keys(), *ours.flush_keys()]


def names(keys: Iterable[KeyPress]) -> list[str]:
    return [key.key.value if isinstance(key.key, Keys) else key.key for key in keys]


@pytest.mark.parametrize("text", ["", "Hello.", "x" * LONG, "日本"])
def test_what_a_person_types_comes_key_by_key(text: str) -> None:
    assert list(text) == names(handed(text))


def test_much_text_at_once_is_a_paste() -> None:
    assert [KeyPress(PASTE, "x" * 10_000)] == handed("x" * 10_000)
    assert ["a\tb" * 10, "\r", "c"] == [key.data for key in handed("a\tb" * 10 + "\rc")]


def test_the_keys_that_end_come_first() -> None:
    assert ["c-c", "a", "c-m"] == names(handed("a\r\x03"))
    assert ["c-c", PASTE.value] == names(handed("x" * 10_000 + "\x03"))


def test_a_key_that_is_taken_apart_stays_so() -> None:
    assert ["escape", *"[13;2uhe", PASTE.value] == names(handed(f"\x1b[13;2uhello{'x' * LONG}"))
    assert ["up", "down"] == names(handed("\x1b[A\x1b[B"))


def test_of_many_line_ends_the_first_send_and_the_others_are_text() -> None:
    keys = handed("a\r" * 500)

    assert ["a", "c-m"] * ENTERS == names(keys)[: 2 * ENTERS]
    assert [KeyPress(PASTE, "a\r" * (500 - ENTERS))] == keys[2 * ENTERS :]
