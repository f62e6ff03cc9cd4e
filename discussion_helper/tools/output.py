"""What a tool gave, as text for the model and as a value that JSON can hold."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from discussion_helper.tools.bounded import Unbounded, check_bounded

__all__ = ["Output", "Unsendable", "output_of"]


class Unsendable(Exception):
    """A tool's result cannot go to the model; the text, for the model, says why."""


@dataclass(frozen=True, slots=True)
class Output:
    """`text` for the model, `value` for whoever computes with it; None where the text is all there is."""

    text: str
    value: Any = None


def output_of(value: Any, *, render: Callable[[Any], str] | None, max_chars: int) -> Output:
    """A text is itself, anything else its JSON, unless `render` makes the text. Raises Unsendable.

    A value whose JSON is longer than `max_chars`, or has no end, is left out beside a text that `render` made.
    """
    if render is None and type(value) is str:
        return Output(_bounded(value, max_chars))
    if isinstance(value, Iterator):
        raise Unsendable(f"its result, a {type(value).__name__}, may have no end; return a list")
    if render is None:
        encoded = _json_of(value, max_chars)
        if encoded is None:
            raise Unsendable(f"its result, a {type(value).__name__}, has no form in JSON")
        plain = json.loads(_bounded(encoded, max_chars))
        return Output(plain) if isinstance(plain, str) else Output(encoded, plain)
    text = render(value)
    if not isinstance(text, str):
        raise Unsendable(f"its result was rendered as a {type(text).__name__}, not as text")
    return Output(_bounded(text, max_chars), _kept(value, max_chars))


def _kept(value: Any, max_chars: int) -> Any:
    """The value as JSON holds it, where it is short enough."""
    try:
        encoded = _json_of(value, max_chars)
    except Unsendable:
        return None
    return json.loads(encoded) if encoded is not None and len(encoded) <= max_chars else None


def _bounded(text: str, max_chars: int) -> str:
    if len(text) > max_chars:
        raise Unsendable(f"its result has {len(text)} characters, and {max_chars} are the most; ask for less of it")
    return text.encode("utf-8", "replace").decode()  # half an emoji can be neither stored nor sent


def _json_of(value: Any, max_chars: int) -> str | None:
    """Compact JSON; None for what has none. Numbers that JSON does not know are null. Raises Unsendable."""
    from pydantic_core import PydanticSerializationError, to_json

    try:
        check_bounded(value, max_chars=max_chars)
    except Unbounded as problem:
        raise Unsendable(f"its result, a {type(value).__name__}, {problem}") from None
    try:
        return to_json(value, inf_nan_mode="null").decode()
    except (PydanticSerializationError, ValueError, TypeError, RecursionError):
        return None
