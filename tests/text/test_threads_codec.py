"""Turns as JSON: what goes in comes out, and nothing else comes in."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discussion_helper.errors import SettingError
from discussion_helper.text.artifacts import (
    ARTIFACTS,
    Image,
    Reasoning,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCall,
    ToolCallDelta,
    ToolResult,
    Usage,
)
from discussion_helper.text.state import ROLES, Turn
from discussion_helper.text.threads import codec
from discussion_helper.text.threads.codec import artifact_data, dumped, loaded, turn_data, turn_of

T = TypeVar("T")
TEXTS = st.text(st.characters(exclude_categories=()))  # also halves of surrogate pairs
WORDS = st.text()
NUMBERS = st.integers(-(2**70), 2**70)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)
ARTIFACT = st.one_of(
    st.builds(Text, WORDS),
    st.builds(Reasoning, WORDS),
    st.builds(ToolCall, WORDS, WORDS, WORDS),
    st.builds(ToolResult, WORDS, WORDS, VALUES, st.booleans()),
    st.builds(Usage, NUMBERS, NUMBERS, NUMBERS),
    st.builds(Image, WORDS),
)
TIMES = st.datetimes(
    datetime(2, 1, 1), datetime(9998, 1, 1), timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=45))])
)
TURNS = st.builds(
    Turn,
    st.sampled_from(ROLES),
    st.lists(ARTIFACT, max_size=4).map(tuple),
    interrupted=st.booleans(),
    said=WORDS,
    wants_answer=st.booleans(),
    at=TIMES,
)


def there_and_back(turn: Turn) -> Turn:
    return turn_of(loaded(dumped(turn_data(turn))))


def or_refusal(call: Callable[[], T]) -> T | str:
    """What it gives, or why it gives nothing."""
    try:
        return call()
    except SettingError as error:
        return str(error)


def typed(value: Any) -> Any:
    """A value with the types of everything in it: 1, 1.0 and True are equal in Python."""
    if isinstance(value, dict):
        return {key: typed(each) for key, each in value.items()}
    return [typed(each) for each in value] if isinstance(value, list) else (type(value), repr(value))


@given(TURNS)
def test_a_turn_comes_back_with_equal_types_and_values(turn: Turn) -> None:
    back = there_and_back(turn)
    assert (turn, turn.at, turn.interrupted, turn.said) == (back, back.at, back.interrupted, back.said)
    assert [type(each) for each in turn.artifacts] == [type(each) for each in back.artifacts]
    for before, after in zip(turn.artifacts, back.artifacts, strict=True):
        if isinstance(before, ToolResult) and isinstance(after, ToolResult):
            assert typed(before.value) == typed(after.value)


@given(TEXTS)
def test_a_text_comes_back_as_it_is_or_is_refused(text: str) -> None:
    data = or_refusal(lambda: dumped(turn_data(Turn("user", (Text(text),)))))
    if isinstance(data, str):
        assert "surrogates" in data
    else:
        assert b"\n" not in data
        assert text == turn_of(loaded(data)).text


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from([*ROLES, *ARTIFACTS]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["role", "at", "artifacts", "kind", "data", "content", "interrupted", "said"]), inner
        )
    ),
    max_leaves=10,
)


@given(JSON)
def test_whatever_the_json_says_it_is_a_turn_or_an_error(data: object) -> None:
    turn = or_refusal(lambda: turn_of(data))
    assert "\n" not in turn if isinstance(turn, str) else turn == there_and_back(turn)


@settings(max_examples=200)
@given(st.binary(max_size=40))
def test_whatever_the_bytes_are_they_are_json_or_an_error(data: bytes) -> None:
    value = or_refusal(lambda: (loaded(data),))
    assert not isinstance(value, str) or "no JSON" in value


def good() -> dict[str, Any]:
    artifacts = [
        {"kind": "text", "data": {"content": "hi"}},
        {"kind": "usage", "data": {"prompt_tokens": 1}},
        {"kind": "tool_result", "data": {"tool_call_id": "c", "is_error": True}},
    ]
    return {"role": "user", "at": "2026-01-02T03:04:05+00:00", "artifacts": artifacts}


def test_fields_that_have_a_default_may_be_missing() -> None:
    turn = turn_of(good())
    assert (Text("hi"), Usage(1), ToolResult("c", is_error=True)) == turn.artifacts
    assert (False, "") == (turn.interrupted, turn.said)


WRONG: list[tuple[tuple[str | int, ...], Any, str]] = [
    ((), [], "turn: [] is no object"),
    (("role",), "robot", "turn.role: 'robot' is no role"),
    (("role",), ["user"], "turn.role"),
    (("at",), "yesterday", "turn.at: 'yesterday' is no time"),
    (("at",), "2026-01-02T03:04:05", "turn.at"),
    (("at",), "0001-01-01T00:00:00+23:00", "turn.at"),
    (("at",), 5, "turn.at"),
    (("interrupted",), 1, "turn.interrupted: 1 is not true or false"),
    (("said",), ["all"], "turn.said: ['all'] is not a text"),
    (("mood",), "good", "mood is unknown here"),
    (("artifacts",), {}, "turn.artifacts: {} is no list"),
    (("artifacts",), [0] * 10_001, "more than 10000"),
    (("artifacts", 0), "hi", "turn.artifacts[0]: 'hi' is no object"),
    (("artifacts", 0), {"kind": "text"}, "turn.artifacts[0]: data is missing"),
    (("artifacts", 0, "kind"), "hologram", "the kind 'hologram' cannot be stored"),
    (("artifacts", 0, "kind"), ["text"], "the kind ['text'] cannot be stored"),
    (("artifacts", 0, "kind"), "text_delta", "a text_delta is only a piece"),
    (("artifacts", 0, "data"), {}, "turn.artifacts[0].data: content is missing"),
    (("artifacts", 0, "data", "content"), 5, "turn.artifacts[0].data.content: 5 is not a text"),
    (("artifacts", 0, "data", "colour"), "red", "colour is unknown here"),
    (("artifacts", 1, "data", "prompt_tokens"), True, "prompt_tokens: True is not a whole number"),
    (("artifacts", 1, "data", "prompt_tokens"), 1.0, "prompt_tokens: 1.0 is not a whole number"),
    (("artifacts", 1, "data", "prompt_tokens"), 1 << 5000, "larger than 4096 bits"),
    (("artifacts", 2, "data", "is_error"), "no", "is_error: 'no' is not true or false"),
    (("artifacts", 2, "data", "value"), [{"a": float("inf")}], "value[0]['a']: inf is no number"),
]


@pytest.mark.parametrize(("path", "value", "says"), WRONG)
def test_every_field_is_checked(path: tuple[str | int, ...], value: Any, says: str) -> None:
    data: Any = good()
    if not path:
        data = value
    else:
        inner = data
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = value
    with pytest.raises(SettingError) as caught:
        turn_of(data)
    assert says in str(caught.value)


@pytest.mark.parametrize("delta", [TextDelta("h"), ReasoningDelta("h"), ToolCallDelta(0, "c")])
def test_pieces_are_not_stored(delta: Any) -> None:
    with pytest.raises(SettingError, match="cannot be kept"):
        Turn("assistant", (delta,))
    with pytest.raises(SettingError, match="only a piece"):
        artifact_data(delta, "artifact")


class LoudText(Text):
    """A Text of one's own."""


@pytest.mark.parametrize(
    ("artifacts", "says"),
    [
        ([Text("hi")], "artifacts: it is a list"),
        (("hi",), "artifact: 'hi' (str) is none"),
        ((LoudText("hi"),), "artifacts: LoudText (text) cannot be kept"),
        ((Text(None),), "Text.content: 'None' is no str"),  # type: ignore[arg-type]
        ((ToolResult("c", is_error=1),), "ToolResult.is_error: '1' is no bool"),  # type: ignore[arg-type]
    ],
)
def test_what_would_not_come_back_is_in_no_turn(artifacts: Any, says: str) -> None:
    with pytest.raises(SettingError) as caught:
        Turn("user", artifacts)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("artifact", "says"),
    [
        ("hi", "the kind None"),
        (LoudText("hi"), "a LoudText cannot be stored"),
        (Text(None), "artifact.content: None is not a text"),  # type: ignore[arg-type]
    ],
)
def test_what_would_not_come_back_is_not_stored(artifact: Any, says: str) -> None:
    with pytest.raises(SettingError) as caught:
        artifact_data(artifact, "artifact")
    assert says in str(caught.value)


def test_a_time_without_a_zone_is_not_stored() -> None:
    with pytest.raises(SettingError, match="no time with a time zone"):
        turn_data(Turn("user", at=datetime(2026, 1, 1)))


def test_texts_and_depths_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    value: Any = 1
    for _ in range(codec.DEEPEST):
        value = [value]
    assert value == there_and_back(Turn("tool", (ToolResult("c", value=value),))).artifacts[0].value  # type: ignore[attr-defined]
    with pytest.raises(SettingError, match="deeper than 64"):
        turn_data(Turn("tool", (ToolResult("c", value=[value]),)))
    monkeypatch.setattr(codec, "LONGEST_TEXT", 5)
    assert turn_data(Turn("user", (Text("12345"),)))
    with pytest.raises(SettingError, match="6 characters are more than 5"):
        turn_data(Turn("user", (Text("123456"),)))


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b"[" * 100_000, b"1" * 5000])
def test_broken_json_is_one_line(data: bytes) -> None:
    with pytest.raises(SettingError, match="no JSON") as caught:
        loaded(data)
    assert "\n" not in str(caught.value)


def test_a_turn_is_plain_json() -> None:
    turn = Turn("assistant", (Text("Grüße"),), interrupted=True, said="Grüße!", at=datetime(2026, 1, 2, tzinfo=UTC))
    assert {
        "role": "assistant",
        "at": "2026-01-02T00:00:00+00:00",
        "interrupted": True,
        "said": "Grüße!",
        "artifacts": [{"kind": "text", "data": {"content": "Grüße"}}],
    } == json.loads(dumped(turn_data(turn)))
    assert "Grüße".encode() in dumped(turn_data(turn))


def test_an_unknown_key_is_told_without_what_a_terminal_obeys() -> None:
    with pytest.raises(SettingError) as caught:
        turn_of({"role": "user", "at": "2026-01-01T00:00:00+00:00", "artifacts": [], "\x1b[2J\u202e\ud800": 1})
    assert str(caught.value).isprintable()
