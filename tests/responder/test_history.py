"""The history that fits: the oldest turns go, the newest stays."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.responder.history import (
    GREETING,
    fitting,
    opened,
    size_of,
    was_cut,
    weight_of,
    with_notes,
    without_fragments,
)
from discussion_helper.responder.prompt import LAST_WORDS, LONGEST_REST, cut_note
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
        {"role": "assistant", "content": "The", "interrupted": True, "unheard": "old man."},
        {"role": "user", "content": "No."},
        {"role": "assistant", "content": "Yes"},
        {"role": "user", "content": "Who?"},
        {"role": "assistant", "content": "The old man", "interrupted": True},
        {"role": "user", "content": "Which?"},
    ]

    assert ["Who was that?", "No.", "Yes", "Who?", "The old man", "Which?"] == [
        message["content"] for message in without_fragments(messages)
    ]


# -- cut replies


def answer(text: str) -> Message:
    return {"role": "assistant", "content": text}


def cut(heard: str, unheard: str = "") -> Message:
    message: Message = {"role": "assistant", "content": heard, "interrupted": True}
    return {**message, "unheard": unheard} if unheard else message


def test_a_model_is_told_where_it_was_cut_off_and_what_was_not_heard_before_the_user_goes_on() -> None:
    messages = [*turns("How far is it?"), cut("It is about", "ten miles."), *turns("By car?")]

    assert [
        {"role": "user", "content": "How far is it?"},
        {"role": "assistant", "content": "It is about"},
        {
            "role": "user",
            "content": '[Your last answer was cut off after "It is about". Not heard: "ten miles." '
            "Do not repeat what was heard.]\nBy car?",
        },
    ] == with_notes(messages)


def test_a_reply_of_which_nothing_was_heard_leaves_a_note_and_no_empty_turn() -> None:
    told = with_notes([*turns("How far is it?"), cut("", "Ten miles."), *turns("Hello?")])

    assert ["user", "user"] == [message["role"] for message in told]
    assert (
        '[Your last answer was cut off before a word of it was heard. Not heard: "Ten miles."]\nHello?'
        == (told[1]["content"])
    )


def test_the_newest_reply_was_cut_or_not() -> None:
    assert was_cut([*turns("One?"), cut("It"), *turns("Two?", "Yes.")[:1]])
    assert not was_cut([*turns("One?"), cut("It"), *turns("Two?", "Yes.", "Three?")])
    assert not was_cut([*turns("One?"), cut("It"), answer("is."), *turns("Two?")])
    assert not was_cut([])


def test_of_an_older_cut_only_the_place_is_told() -> None:
    messages = [*turns("One?"), cut("It is", "not far."), *turns("Two?", "Yes."), *turns("Three?")]
    told = with_notes(messages)

    assert '[Your last answer was cut off after "It is". Do not repeat what was heard.]\nTwo?' == told[2]["content"]
    assert "Three?" == told[-1]["content"]
    assert with_notes([*messages, *turns("Four?")])[: len(told)] == told  # the beginning stays as a model has it cached


def test_a_reply_that_went_on_is_one_and_was_not_cut() -> None:
    messages = [*turns("How far is it?"), cut("It is", "ten miles."), answer("ten miles."), *turns("Thanks.")]
    whole = turns("How far is it?", "It is ten miles.", "Thanks.")

    assert whole == with_notes(messages) == without_fragments(messages)
    assert turns("Well?", "Yes.") == with_notes([*turns("Well?"), cut("", "Yes."), answer("Yes.")])


TEXT = st.text('ab. é\n“"', max_size=20) | st.text("word ", max_size=900)


def message_of(role: str, text: str, rest: str | None) -> Message:
    if role == "user":
        return {"role": "user", "content": text}
    return answer(text) if rest is None else cut(text, rest)


MESSAGE = st.builds(message_of, st.sampled_from(["user", "assistant"]), TEXT, st.none() | TEXT)


@given(st.lists(MESSAGE, max_size=8))
def test_whatever_was_cut_a_note_is_bounded_and_no_key_is_left_that_a_server_does_not_know(
    messages: list[Message],
) -> None:
    longest = LAST_WORDS + LONGEST_REST + 140
    for told in (with_notes(messages), without_fragments(messages)):
        assert all({"role", "content"} == set(message) for message in told)
        assert [m["content"] for m in messages if m["role"] == "user"] == [
            m["content"].partition("]\n")[2] if m["content"].startswith("[Your last answer") else m["content"]
            for m in told
            if m["role"] == "user"
        ]
        notes = [m["content"].partition("]\n")[0] for m in told if m["content"].startswith("[Your last answer")]
        assert all(len(note) <= longest and "\n" not in note for note in notes)


@pytest.mark.parametrize("text", ["word " * 200, "x" * 900, "语" * 900, "a b"])
def test_a_note_repeats_whole_words_from_the_end_of_what_was_heard_and_the_beginning_of_the_rest(text: str) -> None:
    _, heard, _, rest, end = cut_note(text, text).split('"')

    assert " ".join(text.split()).endswith(heard)
    assert text.startswith(rest)
    assert set(heard.split()) | set(rest.split()) <= set(text.split()) or " " not in text
    assert min(len(text.split()[0]), LAST_WORDS) <= len(heard) <= LAST_WORDS
    assert min(len(text.split()[0]), LONGEST_REST) <= len(rest) <= LONGEST_REST
    assert " Do not repeat what was heard.]" == end


CALLED: Message = {
    "role": "assistant",
    "content": "",
    "interrupted": True,
    "calls": [{"id": "c", "name": "book", "arguments": "{}", "result": "booked", "is_error": False}],
}


@pytest.mark.parametrize(
    ("messages", "first"),
    [
        ([{"role": "user", "content": "Hi."}, CALLED], None),
        ([CALLED, {"role": "user", "content": "A table for two."}], "A table for two."),
        ([{"role": "assistant", "content": "Welcome."}, {"role": "user", "content": "A table."}], GREETING),
        ([CALLED], GREETING),
        ([], None),
    ],
    ids=["user first", "taken back", "agent first", "no user", "nothing"],
)
@pytest.mark.parametrize("made", [with_notes, without_fragments])
def test_a_conversation_begins_with_the_user_and_no_call_is_lost(
    made: Any, messages: list[Message], first: Any
) -> None:
    told = opened(made(messages), messages)
    assert made(messages) == (told if first is None else told[1:])
    assert first is None or {"role": "user", "content": first} == told[0]


@given(st.integers(1, 12), st.integers(1, 400))
def test_what_is_left_of_a_conversation_begins_with_the_user(count: int, room: int) -> None:
    kept = fitting(turns(*(f"turn {number}" for number in range(2 * count - 1))), room)
    assert "user" == kept[0]["role"]
