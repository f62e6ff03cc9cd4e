"""The agent's own words."""

import pytest

from discussion_helper.voice.echo_text import is_echo

SPOKEN = [
    "The museum opens at nine in the morning.",
    "On Mondays it is closed, but the garden next to it is always open.",
]


@pytest.mark.parametrize(
    "text",
    [
        "The museum opens at nine in the morning.",
        "museum opens at nine in the",
        "on mondays it is closed but the guard next to it is always open",
        "in the morning on mondays it is closed",
    ],
)
def test_words_that_come_back_are_an_echo(text: str) -> None:
    assert is_echo(text, SPOKEN)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nine?",
        "At nine in",
        "the garden",
        "Is it open on Sundays in the afternoon as well?",
        "The thing is that I am at work in the morning, and it is next to nothing.",
    ],
)
def test_what_a_user_says_is_not(text: str) -> None:
    assert not is_echo(text, SPOKEN)


def test_nothing_is_an_echo_of_silence() -> None:
    assert not is_echo("the museum opens at nine", [])
