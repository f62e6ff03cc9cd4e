"""What a session is called in a list."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.title import LONGEST_TITLE, title_of
from discussion_helper.types import Utterance

ID = "Aq3_x9-Zt7-and-more"


def user(text: str) -> Utterance:
    return Utterance("user", text)


def agent(text: str) -> Utterance:
    return Utterance("agent", text)


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ([], "Aq3_x9-Z"),
        ([user(" \n"), agent("")], "Aq3_x9-Z"),
        ([agent("Hello."), agent("Are you there?")], "Hello."),
        ([agent("Hello."), user("  What is\n\tthe\u2028time? "), user("Thanks")], "What is the time?"),
        ([user("a" * 61 + "b")], "a" * 60),
        ([user("x" * 59 + " and more")], "x" * 59),
        ([user("水は" * 40)], "水は" * 30),
    ],
    ids=["nothing", "blank", "agent", "user", "long", "cut-at-a-space", "no-spaces"],
)
def test_it_is_the_first_words_in_one_line(said: list[Utterance], title: str) -> None:
    assert title == title_of(said, ID)


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-0123456789abcdefghijklmnop",
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "http://127.0.0.1:7654/?token=0ZkO9g1mE3rT5yU7iO9p",
    ],
)
def test_what_looks_like_a_key_is_left_out(secret: str) -> None:
    assert "use … for it" == title_of([user(f"use {secret} for it")], ID)


def test_long_words_of_a_language_are_not() -> None:
    words = "Donaudampfschifffahrtsgesellschaft 2024"
    assert words == title_of([user(words)], ID)


@given(texts=st.lists(st.tuples(st.sampled_from(["user", "agent"]), st.text(max_size=200))))
def test_it_is_never_empty_and_always_one_short_line(texts: list[tuple[str, str]]) -> None:
    title = title_of([user(text) if speaker == "user" else agent(text) for speaker, text in texts], ID)

    assert 1 <= len(title) <= LONGEST_TITLE
    assert [title] == title.splitlines()
