"""The history that fits: the oldest turns go, the newest stays."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.responder.history import fitting, size_of, weight_of, without_fragments
from discussion_helper.types import Message


def turns(*texts: str) -> list[Message]:
    return [{"role": "assistant" if index % 2 else "user", "content": text} for index, text in enumerate(texts)]


def size(messages: list[Message]) -> int:
    return sum(size_of(message["content"]) for message in messages)


def test_what_fits_is_kept_whole() -> None:
    messages = turns("one", "two", "three")
    assert fitting(messages, size(messages)) == messages


def test_the_oldest_go_first() -> None:
    messages = turns(*"abcdefgh")
    assert fitting(messages, size(messages) - 1) == messages[2:]  # a quarter of the room is two turns


def test_a_growing_conversation_keeps_its_beginning_for_several_turns() -> None:
    texts = [f"turn {number:02}" for number in range(40)]
    room = 20 * size_of("turn 00")
    beginnings = {fitting(turns(*texts[:count]), room)[0]["content"] for count in range(1, 41)}
    assert len(beginnings) == 5


def test_of_a_message_that_is_too_long_the_end_is_kept() -> None:
    messages = turns("old", "older", "a" * 1000 + "é the question?")
    [kept] = fitting(messages, 64)
    assert kept["content"].endswith("é the question?")
    assert size([kept]) <= 64


def test_half_a_character_is_not_kept() -> None:
    [kept] = fitting(turns("é" * 100), size_of("x") + 2)
    assert set(kept["content"]) == {"é"}


def test_no_messages_fit_anywhere() -> None:
    assert fitting([], 1) == []


def looked_up(question: str, result: str) -> list[dict[str, Any]]:
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    return [
        {"role": "user", "content": question},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": result},
    ]


def test_a_result_goes_with_its_call() -> None:
    messages = [*looked_up("old", "x" * 40), *looked_up("new", "y")]
    for room in range(1, sum(map(weight_of, messages))):
        kept = fitting(messages, room)
        assert kept[0]["role"] != "tool"
        assert kept[-3:] == messages[3:]  # the question stays with what came of it, whatever the room


def test_a_call_counts_with_its_arguments() -> None:
    _, calling, _ = looked_up("q", "r")
    assert weight_of(calling) > 60 + size_of("")


@given(st.lists(st.text(max_size=30), min_size=1, max_size=30), st.integers(min_value=1, max_value=500))
def test_what_is_kept_is_the_newest_part_and_fits(texts: list[str], room: int) -> None:
    messages = turns(*texts)
    kept = fitting(messages, room)
    assert kept
    assert size(kept) <= max(room, size_of("x" * 4))
    assert kept == messages[-len(kept) :] or (len(kept) == 1 and messages[-1]["content"].endswith(kept[0]["content"]))


def test_a_reply_that_was_cut_after_a_word_or_two_is_left_out() -> None:
    messages: list[Message] = [
        {"role": "user", "content": "Who was that?"},
        {"role": "assistant", "content": "The"},
        {"role": "user", "content": "No."},
        {"role": "assistant", "content": "Yes."},
        {"role": "assistant", "content": "The old man"},
    ]

    assert ["Who was that?", "No.", "Yes.", "The old man"] == [m["content"] for m in without_fragments(messages)]
