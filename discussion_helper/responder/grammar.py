"""Schemas of tools as llama.cpp makes a grammar of them, by which it chooses words."""

from collections.abc import Mapping
from typing import Any

__all__ = ["for_grammar"]

_MOST = {"minLength": 1000, "maxLength": 1000, "minItems": 500, "maxItems": 500}
"""From 2000 repetitions on llama.cpp refuses the grammar and prints all of it (measured)."""
_LARGEST = 2**53
"""Of whole numbers. It reads them as 64 bits, and fails with larger ones (measured)."""
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_PAIRS = (("minLength", "maxLength"), ("minItems", "maxItems"), ("minimum", "maximum"))
_VALUES = ("default", "enum", "const", "examples")
"""Keys under which values stand, not schemas."""
_NAMED = ("properties", "$defs")
"""Keys under which schemas stand by names."""


def for_grammar(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A tool as OpenAI's interface takes it, without what llama.cpp cannot choose words by.

    It prints warnings of patterns, and fails with large bounds. They are told in the description instead; arguments
    are checked with all of them when the tool is called.
    """
    function = dict(tool["function"])
    return {**tool, "function": {**function, "parameters": _simple(function["parameters"])}}


def _simple(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_simple(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    told = _too_hard(schema)
    kept = {key: _part(key, value) for key, value in schema.items() if key not in told}
    if told:
        note = ", ".join(f"{key} {schema[key]}" for key in sorted(told))
        kept["description"] = f"{schema.get('description', '')} ({note})".strip()
    return kept


def _part(key: str, value: Any) -> Any:
    if key in _VALUES:
        return value
    if key in _NAMED and isinstance(value, dict):
        return {name: _simple(each) for name, each in value.items()}
    return _simple(value)


def _too_hard(schema: Mapping[str, Any]) -> set[str]:
    hard = {"pattern"} & set(schema)
    hard |= {key for key, most in _MOST.items() if key in schema and not _within(schema[key], most)}
    hard |= {key for key in _BOUNDS if key in schema and not _within(schema[key], _LARGEST)}
    for least, most in _PAIRS:
        if not hard & {least, most} and {least, most} <= set(schema) and schema[least] > schema[most]:
            hard |= {least, most}
    return hard


def _within(value: Any, most: int) -> bool:
    return isinstance(value, int | float) and -most <= value <= most
