"""The bounds of what a tool gave, at their edges."""

import json
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest

from discussion_helper.tools.bounded import Unbounded, check_bounded
from discussion_helper.tools.json_text import DEEPEST


def nested(times: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(times - 1):
        value = [value]
    return value


class Endless(Enum):
    HOLDS = iter((1, 2))


class Plain(Enum):
    HOLDS = "text"


@dataclass
class Pair:
    one: Any
    other: Any = None


@pytest.mark.parametrize(
    "value",
    [nested(DEEPEST), "x" * 100, b"x" * 400, [1] * 99, 2**13_000 - 1, Plain.HOLDS, Pair, Pair(1)],
    ids=["deep", "text", "bytes", "list", "number", "enum", "class", "dataclass"],
)
def test_what_is_just_within_the_bounds_passes(value: Any) -> None:
    check_bounded(value, max_chars=200 if isinstance(value, list) else 100)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (nested(DEEPEST + 1), "nested"),
        ("x" * 101, "characters"),
        (b"x" * 404, "characters"),
        ([1] * 100, "characters"),
        (2**13_000, "digits"),
        (Endless.HOLDS, "no end"),
        (Pair(iter(())), "no end"),
        ({"a": {1: iter(())}}, "no end"),
    ],
    ids=["deep", "text", "bytes", "list", "number", "enum", "dataclass", "mapping"],
)
def test_what_is_just_beyond_them_is_told(value: Any, why: str) -> None:
    with pytest.raises(Unbounded, match=why):
        check_bounded(value, max_chars=200 if why == "nested" else 100)


def test_the_largest_number_can_be_read_again() -> None:
    assert json.loads(json.dumps(2**13_000 - 1)) == 2**13_000 - 1
