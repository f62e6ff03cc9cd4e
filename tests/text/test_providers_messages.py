"""A thread as a server gets it: whole calls with their results, nothing empty, nothing that it would refuse."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.text.artifacts import Artifact, Image, Reasoning, Text, ToolCall, ToolResult, Usage
from discussion_helper.text.providers.messages import CUT_OFF, messages_of
from discussion_helper.text.state import ROLES, State, Turn


def sent(*turns: tuple[Any, ...]) -> list[dict[str, Any]]:
    return messages_of(State([Turn(role, tuple(artifacts)) for role, *artifacts in turns]))


def wire_call(call_id: str, name: str = "add", arguments: str = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_a_tool_loop_is_sent_as_it_was() -> None:
    call = ToolCall("c1", "add", '{"a": 1}')
    assert sent(
        ("system", Text("Be brief.")),
        ("user", Text("One and one?")),
        ("assistant", Reasoning("Hm."), Text("Let me see."), call, Usage(1, 2, 3)),
        ("tool", ToolResult("c1", "2", 2)),
        ("assistant", Text("Two.")),
    ) == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "One and one?"},
        {"role": "assistant", "content": "Let me see.", "tool_calls": [wire_call("c1", arguments='{"a": 1}')]},
        {"role": "tool", "tool_call_id": "c1", "content": "2"},
        {"role": "assistant", "content": "Two."},
    ]


def test_calls_without_a_result_are_told_as_cut_off() -> None:
    messages = sent(
        ("assistant", ToolCall("1", "add"), ToolCall("2", "add")),
        ("tool", ToolResult("1", "done")),
        ("user", Text("And?")),
        ("tool", ToolResult("2", "too late, and of no call")),
    )
    assert messages == [
        {"role": "assistant", "content": None, "tool_calls": [wire_call("1"), wire_call("2")]},
        {"role": "tool", "tool_call_id": "1", "content": "done"},
        {"role": "tool", "tool_call_id": "2", "content": CUT_OFF},
        {"role": "user", "content": "And?"},
    ]


def test_results_stand_in_the_order_of_their_calls() -> None:
    messages = sent(
        ("assistant", ToolCall("1", "a"), ToolCall("2", "b")),
        ("tool", ToolResult("2", "second"), ToolResult("1", "first"), ToolResult("1", "again")),
    )
    assert [message["content"] for message in messages[1:]] == ["first", "second"]


def test_an_id_that_is_empty_or_repeated_is_replaced() -> None:
    messages = sent(
        ("assistant", ToolCall("", "a"), ToolCall("", "b")),
        ("tool", ToolResult("", "A")),
        ("tool", ToolResult("", "B")),
        ("assistant", ToolCall("call_1", "c")),
        ("tool", ToolResult("call_1", "C")),
        ("assistant", ToolCall("call_1", "d")),
        ("tool", ToolResult("call_1", "D")),
    )
    ids = [call["id"] for message in messages for call in message.get("tool_calls", [])]
    assert ids == ["call_2", "call_3", "call_1", "call_4"]
    results = [(message["tool_call_id"], message["content"]) for message in messages if message["role"] == "tool"]
    assert results == list(zip(ids, "ABCD", strict=True))


REFUSED = [
    '{"a": NaN}',
    '{"a": -Infinity}',
    '{"a": 1e999}',
    '{"a": 1' + "0" * 400 + "}",
    '{"a": 1' + "0" * 5000 + "}",
    '{"a": 1e999, "a": 1}',
    '{"a": "\\ud800"}',
    '{"\\udc00": 1}',
    '{"a": "\\ud800", "a": 1}',
    '{"a": ' + "[" * 150 + "]" * 150 + "}",
    '{"a": "\x1f"}',
    '\ufeff{"a": 1}',
]
"""No JSON, or nothing that every parser takes; Python's takes most of it."""


@pytest.mark.parametrize("arguments", ["", "{", "[1]", '"x"', "[" * 100_000, '{"a": "\ud800"}', *REFUSED])
def test_arguments_that_are_no_object_are_sent_as_none(arguments: str) -> None:
    [message, _] = sent(("assistant", ToolCall("c", "a", arguments)))
    assert message["tool_calls"] == [wire_call("c", "a")]


@pytest.mark.parametrize("arguments", ['{"a": "\\ud83d\\ude00", "b": -1.5e300}', ' {"a": 1}\n', '{"a": 1}\x0c'])
def test_other_arguments_are_sent_as_they_are(arguments: str) -> None:
    [message, _] = sent(("assistant", ToolCall("c", "a", arguments)))
    assert message["tool_calls"] == [wire_call("c", "a", arguments.strip())]


CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"a": [float("nan"), 1.5, float("-inf")]}, '{"a": [null, 1.5, null]}'),
        ({"a": {1}}, '{"a": "{1}"}'),
        ({(1,): 1}, "(dict: it has no form in JSON)"),
        (CIRCLE, "(list: it has no form in JSON)"),
        ([10**5000], "(list: it has no form in JSON)"),
        ("half \ud83d", '"half ?"'),
    ],
)
def test_any_value_of_a_result_can_be_sent(value: Any, told: str) -> None:
    [_, message] = sent(("assistant", ToolCall("c", "a")), ("tool", ToolResult("c", value=value)))
    assert message["content"] == told


def test_turns_that_say_nothing_are_left_out_and_one_speaker_has_one_message() -> None:
    messages = sent(
        ("user", Text("Hello?")),
        ("assistant",),
        ("assistant", Reasoning("Hm."), Text(" \n")),
        ("user", Text("Anybody?")),
        ("tool", ToolResult("x", "of no call")),
        ("user", Text("")),
    )
    assert messages == [{"role": "user", "content": "Hello?\nAnybody?"}]


def test_a_users_picture_is_sent_and_nobody_elses() -> None:
    picture = {"type": "image_url", "image_url": {"url": "https://host/a.png"}}
    image = Image("https://host/a.png")
    assert sent(("user", Text("What is"), image, Text("this?")), ("user", Text("Well?"))) == [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "What is"},
                picture,
                {"type": "text", "text": "this?"},
                {"type": "text", "text": "Well?"},
            ],
        }
    ]
    assert sent(("user", image)) == [{"role": "user", "content": [picture]}]
    assert sent(("assistant", image, Text("That."))) == [{"role": "assistant", "content": "That."}]


IDS = st.sampled_from(["", "a", "b", "call_1", "call_2"])
TEXTS = st.sampled_from(["", " ", "word", "half \ud83d"])
ARTIFACTS: st.SearchStrategy[Artifact] = st.one_of(
    st.builds(Text, TEXTS),
    st.builds(Image, st.just("https://host/a.png")),
    st.builds(
        ToolCall, IDS, st.sampled_from(["", "add", "a b", "x" * 99]), st.sampled_from(["", '{"a": 1}', *REFUSED[:2]])
    ),
    st.builds(ToolResult, IDS, TEXTS, st.none() | st.integers()),
)
TURNS = st.lists(st.builds(Turn, st.sampled_from(ROLES), st.lists(ARTIFACTS, max_size=4).map(tuple)), max_size=8)


@given(turns=TURNS)
def test_any_thread_makes_a_request_that_a_server_takes(turns: list[Turn]) -> None:
    messages = messages_of(State(turns))
    json.dumps(messages).encode()
    open_calls: list[str] = []
    seen: set[str] = set()
    for before, message in zip([{}, *messages], messages, strict=False):
        if message["role"] == "tool":
            assert message["tool_call_id"] == open_calls.pop(0)
            message["content"].encode()
            continue
        assert open_calls == []
        assert message["content"] or message.get("tool_calls")
        assert before.get("role") != message["role"] or "tool_calls" in (*before, *message)
        for call in message.get("tool_calls", []):
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call["function"]["name"])
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
            open_calls.append(call["id"])
        assert not seen & set(open_calls)
        assert all(open_calls)
        seen |= set(open_calls)
    assert open_calls == []
    called = [
        call for turn in turns if turn.role == "assistant" for call in turn.artifacts if isinstance(call, ToolCall)
    ]
    assert len(seen) == len(called)
