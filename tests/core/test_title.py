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
        ([user("Hello" + " " * 7_000 + "there")], "Hello"),
        ([user("می\u200cخواهم ❤\ufe0f")], "می\u200cخواهم ❤\ufe0f"),
        ([user("\u202egnp.exe \u2067here\u2069")], "gnp.exe here"),
    ],
    ids=[
        *("nothing", "blank", "agent", "user", "long", "cut-at-a-space", "no-spaces"),
        *("far-apart", "joined", "turned-round"),
    ],
)
def test_it_is_the_first_words_in_one_line(said: list[Utterance], title: str) -> None:
    assert title == title_of(said, ID)


@pytest.mark.parametrize("code", [0x200B, 0x202E, 0x2003, 0x3164, 0x2060, 0xFEFF, 0xAD, 0x200D, 0xFE0F, 0xE0041])
def test_what_nobody_sees_is_no_title(code: int) -> None:
    assert "Aq3_x9-Z" == title_of([user(chr(code)), agent(f" {chr(code)} ")], ID)
    assert "Hello." == title_of([user(chr(code)), user("Hello.")], ID)


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


@pytest.mark.parametrize("spaces", [5_960, 5_985, 5_990, 5_998, 5_999])
@pytest.mark.parametrize("key", ["sk-abc123DEF456ghi789JKLmno", "sk-abcdefghijklmnopqrstuvwxyz-0123456789"])
def test_of_one_that_begins_far_behind_no_head_is_shown(spaces: int, key: str) -> None:
    title = title_of([user("use" + " " * (spaces - 3) + key + " more" * 20)], ID)

    assert (title[:5], False) == ("use …", "sk" in title)


def test_one_with_what_nobody_sees_in_it_is_one() -> None:
    assert "use … for it" == title_of([user("use sk-live-abcDEF12345\u200b67890gh\u2060ijkl for it")], ID)


def test_long_words_of_a_language_are_not() -> None:
    words = "Donaudampfschifffahrtsgesellschaft 2024"
    assert words == title_of([user(words)], ID)


@given(texts=st.lists(st.tuples(st.sampled_from(["user", "agent"]), st.text(max_size=200))))
def test_it_is_never_empty_and_always_one_short_line(texts: list[tuple[str, str]]) -> None:
    title = title_of([user(text) if speaker == "user" else agent(text) for speaker, text in texts], ID)

    assert 1 <= len(title) <= LONGEST_TITLE
    assert [title] == title.splitlines()
