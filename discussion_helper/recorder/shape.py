"""The shape of what a record says in JSON: which fields of which kinds, and numbers that a talk can have."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, Literal, TypeVar, get_args, get_origin

from discussion_helper.audio.frames import Samples
from discussion_helper.turn.evidence import Reason
from discussion_helper.turn.turns import TurnEvent
from discussion_helper.voice.audio_work import Listening
from discussion_helper.voice.notes import Note

__all__ = ["LATEST", "MOST_S", "RATES", "check_note", "loaded", "made", "number", "whole"]

MOST_S = 1e10
"""Of a time in seconds, on whatever clock: three hundred years."""
LATEST = 1 << 48
"""The last sample of a stream: at the highest rate after twenty years."""
RATES = range(4_000, 384_001)
"""Hertz of a sound."""
_WHOLE = 1 << 53
_UNBOUNDED = ("db", "dbfs", "doubt")
"""What the names of numbers end in that may be infinite, or no number where a device delivers none."""
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_NOTES = {note.__name__: note for note in get_args(Note)}
_TURN_EVENTS = {event.__name__: event for event in get_args(TurnEvent)}

T = TypeVar("T")


def loaded(payload: bytes) -> Any:
    """What the JSON says. Raises ValueError and RecursionError, also for text that is not of whole characters."""
    text = payload.decode("utf-8")
    value = json.loads(text)
    if _HALF.search(text):
        _check_characters(json.dumps(value, ensure_ascii=False))
    return value


def made(kind: type[T], values: Any) -> T:
    """A value of that dataclass. Raises ValueError and TypeError where fields are missing, unknown or wrong."""
    _check_fields(kind, values)
    inner = {
        field.name: made(Listening, values[field.name])
        for field in fields(kind)  # type: ignore[arg-type]
        if field.type is Listening and field.name in values
    }
    return kind(**{**values, **inner})


def check_note(values: Any) -> None:
    """Raises ValueError unless it is a note of the hearing with all its fields."""
    _check_fields(_named(_NOTES, values, "note"), values)


def number(name: str, value: object, least: float = -MOST_S, most: float = MOST_S) -> float:
    """The value, if it is a number in these bounds. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise ValueError(f"{name} is no number of a talk")
    return float(value)


def whole(name: str, value: object, least: int, most: int) -> int:
    """The same for a whole number."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise ValueError(f"{name} is no number of a talk")
    return value


def _check_characters(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError("a text with half a character") from error


def _check_fields(kind: type, values: Any) -> None:
    if not isinstance(values, dict):
        raise ValueError(f"{kind.__name__} is no object")
    for field in fields(kind):
        if field.name in values:
            _check(field.name, field.type, values[field.name])
        elif field.default is MISSING and field.default_factory is MISSING:
            raise ValueError(f"{kind.__name__} without {field.name}")
    if kind is Listening:
        _check_rate(values.get("rate", 0))


def _check(name: str, kind: Any, value: object) -> None:
    if kind is float and name.endswith(_UNBOUNDED):
        if not (isinstance(value, float) and math.isnan(value)):
            number(name, value, -math.inf, math.inf)
    elif kind is float:
        number(name, value)
    elif kind is int:
        whole(name, value, -_WHOLE, _WHOLE)
    elif kind is Samples:
        _check_samples(name, value)
    elif kind == TurnEvent:
        _check_fields(_named(_TURN_EVENTS, value, "event"), value)
    elif kind in (Listening, Reason):
        _check_fields(kind, value)
    elif get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ValueError(f"{name} is not known")
    elif not isinstance(value, get_origin(kind) or kind):
        raise ValueError(f"{name} is of another kind")


def _check_rate(rate: int) -> None:
    """Of a microphone, or that of none."""
    if rate and rate not in RATES:
        raise ValueError("rate is no number of a talk")


def _check_samples(name: str, value: object) -> None:
    """They stand in a note as their number and their checksum."""
    if not isinstance(value, dict):
        raise ValueError(f"{name} is no object")
    for key in ("samples", "crc32"):
        whole(f"{name}.{key}", value.get(key), 0, _WHOLE)


def _named(kinds: Mapping[str, type], values: Any, key: str) -> type:
    """Which of them it is, by its name."""
    name = values.get(key) if isinstance(values, dict) else None
    if not isinstance(name, str) or name not in kinds:
        raise ValueError(f"no {key} of that name")
    return kinds[name]
