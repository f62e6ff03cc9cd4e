"""The bounds of what a tool gave: looked at before JSON is made of it, which would not stop by itself."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import chain
from typing import Any

from discussion_helper.tools.json_text import DEEPEST

__all__ = ["Unbounded", "check_bounded"]

_BITS = 13_000
"""Of a whole number: some 3,900 digits, and Python reads 4,300."""
_BYTES_A_CHAR = 4
"""Of UTF-8, at most."""
_HOLDERS: tuple[Any, ...] = (list, tuple, set, frozenset, deque)
"""What JSON has a list for, beside generators."""


class Unbounded(Exception):
    """The value has no end, or none within the bounds; the text says why, as "its result ..."."""


def check_bounded(value: Any, *, max_chars: int) -> None:
    """Raises Unbounded unless its JSON has an end, by what can be seen without making it.

    No iterator in it is used up, and no more than `max_chars` of its values are looked at: each takes a character at
    least. What passes may still be too long, by little, or have no form in JSON.
    """
    _Look(max_chars).at(value, ())


class _Look:
    def __init__(self, max_chars: int) -> None:
        self._most = self._left = max_chars

    def at(self, value: Any, around: tuple[int, ...]) -> None:
        self._spend(_least_chars(value))
        inside = _inside(value)
        if inside is None:
            return
        if id(value) in around:
            raise Unbounded(f"holds itself, in a {_kind(value)}; return it without that")
        if len(around) >= DEEPEST:
            raise Unbounded(f"is nested more than {DEEPEST} times; return something flatter")
        for each in inside:
            self.at(each, (*around, id(value)))

    def _spend(self, chars: int) -> None:
        self._left -= chars
        if self._left < 0:
            raise Unbounded(f"has more than {self._most} characters, which are the most; ask for less of it")


def _least_chars(value: Any) -> int:
    """Of its JSON, without what is inside. Raises Unbounded for a number that nobody could read again."""
    if isinstance(value, int) and value.bit_length() > _BITS:
        raise Unbounded("holds a whole number of thousands of digits; return it as a text, or as a float")
    if isinstance(value, str):
        return max(1, len(value))
    return max(1, len(value) // _BYTES_A_CHAR) if isinstance(value, bytes | bytearray) else 1


def _inside(value: Any) -> Iterable[Any] | None:
    """What is in it; None where nothing can be. Raises Unbounded for what may have no end."""
    if value is None or isinstance(value, str | bytes | bytearray | int | float):
        return None
    if isinstance(value, Iterator):
        raise Unbounded(f"holds a {_kind(value)}, which may have no end; return a list")
    if isinstance(value, dict):
        return (part for pair in dict.items(value) for part in pair)
    for kind in _HOLDERS:
        if isinstance(value, kind):
            inside: Iterable[Any] = kind.__iter__(value)  # as JSON is made of it, whatever a class of one's own gives
            return inside
    if isinstance(value, Enum):
        return (value.value,)
    if isinstance(value, type):
        return None
    return _inside_model(value) if hasattr(value, "__pydantic_decorators__") else _inside_fields(value)


def _inside_fields(value: Any) -> Iterable[Any] | None:
    return (getattr(value, each.name, None) for each in fields(value)) if is_dataclass(value) else None


def _inside_model(value: Any) -> Iterable[Any]:
    """Of what pydantic made, what is in its JSON as it is; what a function makes of the rest is for that to bound."""
    kind = type(value)
    if kind.__pydantic_decorators__.model_serializers:
        return ()
    made = {name for each in kind.__pydantic_decorators__.field_serializers.values() for name in each.info.fields}
    own = {name: field for name, field in kind.__pydantic_fields__.items() if name not in made and _is_plain(field)}
    computed = (name for name in kind.__pydantic_decorators__.computed_fields if name not in made)
    more = getattr(value, "model_extra", None) or {}
    return chain((getattr(value, name, None) for name in chain(own, computed)), more.values())


def _is_plain(field: Any) -> bool:
    from pydantic import PlainSerializer, WrapSerializer

    return not field.exclude and not any(isinstance(each, PlainSerializer | WrapSerializer) for each in field.metadata)


def _kind(value: Any) -> str:
    return type(value).__name__
