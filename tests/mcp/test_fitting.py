"""What a model is told is bounded in bytes, and says what is not in it."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.mcp.fitting import MOST_TEXT, first_of, fitted, size_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
    max_leaves=20,
)


def test_what_is_small_is_told_as_it_is() -> None:
    told = {"kind": "utterance", "text": "x" * MOST_TEXT, "more": [1, {"a": None}], "at_s": 1.5}

    assert told == fitted(told)


def test_a_long_text_is_cut_and_says_by_how_much() -> None:
    (text,) = fitted({"text": "x" * (MOST_TEXT + 17)}).values()

    assert f"{'x' * MOST_TEXT}\u2026 (17 more characters)" == text


def test_what_is_too_much_all_the_same_goes_with_its_largest_parts_first() -> None:
    told = fitted({"kind": "tool_result", "content": ["y" * 100] * 1000, "name": "search"})

    assert {"kind": "tool_result", "name": "search"} == {name: told[name] for name in ("kind", "name")}
    assert {"content"} == told["left_out_bytes"].keys()
    assert told["left_out_bytes"]["content"] > 100_000


def test_what_is_nested_without_end_is_cut_where_nobody_reads_it() -> None:
    deep: Any = []
    for _ in range(500):
        deep = [deep]

    assert size_of(fitted({"args": deep})) < 200


def test_of_many_as_many_are_told_as_there_is_room_for_and_always_one() -> None:
    many = [{"id": str(number), "first": "x" * 1000} for number in range(200)]

    kept = first_of(many, 20_000)  # each of them is told in two forms
    assert [one["id"] for one in many[: len(kept)]] == [one["id"] for one in kept]
    assert 8 <= len(kept) <= 10
    assert ["0"] == [one["id"] for one in first_of(many, 1)]
    assert [] == first_of([], 10)


@given(told=st.dictionaries(st.text(max_size=10), JSON, max_size=8), most=st.integers(50, 2000))
def test_it_fits_whatever_it_is(told: dict[str, Any], most: int) -> None:
    kept = fitted(told, most)
    names = {name: one for name, one in kept.items() if name != "left_out_bytes"}

    assert size_of(names) <= most + 2 * len(names) + 2  # what stands between them
    assert names.keys() <= told.keys()
    json.dumps(kept)
