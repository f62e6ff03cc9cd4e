"""What the bodies of requests may hold, made from the classes that check them."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, get_args

from discussion_helper.policy import RANGES, Policy
from discussion_helper.web.bodies import (
    LONGEST_SYSTEM,
    MessageBody,
    MuteBody,
    OpeningBody,
    SayBody,
    SpeakBody,
    Transport,
)
from discussion_helper.web.feed import OUTPUT_KINDS
from discussion_helper.web.json_schema import Schema, always, either, list_of, one_of, ref, told

__all__ = ["body_schemas"]

_NOTHING: Schema = {"type": "null"}
_NOT_BLANK: Schema = {"type": "string", "pattern": r"\S"}
_PHRASES: Schema = {
    "type": "array",
    "maxItems": 200,
    "items": {**_NOT_BLANK, "maxLength": 60, "description": "With a letter or a digit in it."},
}
_CHECKED: Mapping[str, Schema] = {
    "text": _NOT_BLANK,
    "content": _NOT_BLANK,
    "wake_word": _NOT_BLANK,
    "system": {
        "type": ["string", "null"],
        "pattern": r"\S",
        "maxLength": LONGEST_SYSTEM,
        "description": "What the model is told beforehand: who the agent is. Without it what the server was told.",
    },
    "keep": {
        "description": "Keep what is said by voice, as a new thread; without it what the server was told, by "
        "`serve --keep`. With `thread_id` it is kept there, and in writing always.",
    },
    "barge_in_backchannels": _PHRASES,
    "barge_in_stop_words": _PHRASES,
    "kinds": either(list_of(one_of(OUTPUT_KINDS)), _NOTHING),
    **{name: {"minimum": least, "maximum": most} for name, (least, most) in RANGES.items()},
}
"""What the types alone do not say."""
_SHAPES: tuple[type[Any], ...] = (SayBody, SpeakBody, MessageBody, MuteBody)
_NO_TURNS: Schema = {"type": "array", "maxItems": 0}
_KEPT: Schema = either(always(True), _NOTHING)
_NOT_KEPT: Schema = {
    "properties": {"keep": always(False), "thread_id": {"type": "string"}},
    "required": ["keep", "thread_id"],
}
"""What is said in a session on a stored thread is kept."""
_ELSEWHERE = [name for name in get_args(Transport) if name != "fake"]


def body_schemas() -> dict[str, Schema]:
    """By name. Loads pydantic."""
    return {
        **{shape.__name__.removesuffix("Body"): _closed(_members(shape)) for shape in _SHAPES},
        **_openings(),
    }


def _openings() -> dict[str, Schema]:
    """Three, for what one may say depends on what is opened."""
    own = _members(OpeningBody)["properties"]
    own = {name: schema for name, schema in own.items() if name != "policy"}
    voice = {**own, "kind": always("voice"), **_members(Policy)["properties"]}
    script = told(own["turns"], "What a fake user says; then the session ends. Without any it stays open.")
    kinds = {
        "OpeningText": (["kind"], {**own, "kind": always("text"), "turns": _NO_TURNS, "keep": _KEPT}),
        "OpeningVoice": ([], {**voice, "transport": one_of(_ELSEWHERE), "turns": _NO_TURNS}),
        "OpeningFake": (["transport"], {**voice, "transport": always("fake"), "turns": script}),
    }
    made = {
        name: _closed({"required": needs, "properties": has, "not": _NOT_KEPT}) for name, (needs, has) in kinds.items()
    }
    return {**made, "Opening": either(*map(ref, made))}


def _members(shape: type[Any]) -> dict[str, Any]:
    """Its properties, and which of them must be there."""
    from pydantic import TypeAdapter

    made = TypeAdapter(shape).json_schema()
    properties = {each.name: _member(each.name, made["properties"][each.name]) for each in fields(shape)}
    return {"required": made.get("required", []), "properties": properties}


def _member(name: str, made: Mapping[str, Any]) -> Schema:
    return {**{key: value for key, value in made.items() if key not in ("title", *_replaced(name))}, **_checked(name)}


def _checked(name: str) -> Schema:
    return _CHECKED.get(name, {})


def _replaced(name: str) -> tuple[str, ...]:
    """What of the type's schema says less than what stands in its place."""
    return ("type", "items", "anyOf") if {"type", "anyOf"} & _checked(name).keys() else ()


def _closed(members: Mapping[str, Any]) -> Schema:
    return {"type": "object", **members, "additionalProperties": False}
