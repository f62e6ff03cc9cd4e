"""The reasoning filter: nothing between tags is spoken, everything else is, however the text is cut."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.responder.reasoning import ReasoningFilter


def filtered(*pieces: str) -> str:
    reasoning = ReasoningFilter()
    return "".join([*map(reasoning.feed, pieces), reasoning.flush()])


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Hello.", "Hello."),
        ("<think>Hm.</think>Hello.", "Hello."),
        ("<THINKING>Hm < 3 <b>.</Thinking>\n\nHello.", "\n\nHello."),
        ("<reasoning>a</reasoning>b<thought>c</thought>d", "bd"),
        ("<think>It never ends", ""),
        ("Before.<think>It never ends", "Before."),
        ("opened in the prompt</think>Hello.", "opened in the promptHello."),
        ("3 < 4 and <b>bold</b>", "3 < 4 and <b>bold</b>"),
        ("a <thin", "a <thin"),
        ("<think></think", ""),
        ("<<think>a</think>b", "<b"),
    ],
)
def test_what_is_between_the_tags_is_not_spoken(text: str, spoken: str) -> None:
    assert filtered(text) == spoken
    assert filtered(*text) == spoken


@pytest.mark.parametrize("text", ["<" * 100_000, "<thi" * 50_000, "<think>" * 30_000 + "a<"])
def test_a_long_text_takes_no_longer_than_its_length(text: str) -> None:
    began = time.perf_counter()
    filtered(text)
    assert time.perf_counter() - began < 2  # it takes 0.1 s; in the square of the length it would be many


def test_what_cannot_become_a_tag_is_not_held_back() -> None:
    reasoning = ReasoningFilter()
    assert [reasoning.feed(piece) for piece in ("a <th", "e")] == ["a ", "<the"]


@given(
    st.lists(st.sampled_from(["<think>", "</think>", "<", ">", "think", "/", "a b", "<Thought>", "</thought>"])),
    st.data(),
)
def test_the_cuts_make_no_difference(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text)))))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    assert filtered(*pieces) == filtered(text)
