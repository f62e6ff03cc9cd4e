"""The JSON of tools: what every strict parser takes, since servers and models' templates parse it again."""

import json
import math
from contextlib import suppress
from typing import Any

__all__ = ["DEEPEST", "is_object", "is_sendable", "result_text"]

DEEPEST = 100
"""Lists and objects inside each other; Rust's parser takes 127, pydantic's 200, Python's some 1000."""


def is_object(text: str) -> bool:
    """Whether it is a JSON object to the strictest: no NaN, no number beyond a double, no half of an emoji."""
    from pydantic_core import from_json

    try:
        from_json(text.encode(), allow_inf_nan=False)
        value = json.loads(text, parse_int=_finite, parse_float=_finite)  # every number, also under a repeated key
        return isinstance(value, dict) and not _is_deeper(value, DEEPEST)
    except (ValueError, RecursionError):
        return False


def is_sendable(value: Any) -> bool:
    """Whether it has a form in strict JSON."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def result_text(value: Any) -> str:
    """What a tool gave, as JSON for the model. Numbers that JSON does not know are null, what has no form a text."""
    with suppress(Exception):
        return json.dumps(value, ensure_ascii=False, allow_nan=False, default=str)
    try:
        finite = json.loads(json.dumps(value, default=str), parse_constant=lambda _: None)
    except Exception:  # whatever the text of an object inside fails with
        return f"({type(value).__name__}: it has no form in JSON)"
    return json.dumps(finite, ensure_ascii=False)


def _finite(number: str) -> float:
    if not math.isfinite(float(number)):
        raise ValueError("beyond a double")
    return 0.0


def _is_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels <= 0 or any(_is_deeper(each, levels - 1) for each in inner)
