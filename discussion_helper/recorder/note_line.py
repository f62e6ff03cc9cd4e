"""A note in its canonical form: the same note, the same bytes."""

import json
from dataclasses import fields
from typing import Any
from zlib import crc32

import numpy as np

from discussion_helper.turn.evidence import Reason
from discussion_helper.turn.turns import TurnEnded, TurnPaused, TurnResumed, TurnStarted
from discussion_helper.voice.notes import Note

__all__ = ["note_line"]


def note_line(note: Note) -> bytes:
    """JSON with every digit; samples are their number and their checksum."""
    return json.dumps({"note": type(note).__name__, **_fields(note)}, sort_keys=True, separators=(",", ":")).encode()


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}


def _plain(value: Any) -> Any:
    match value:
        case np.ndarray():
            return {"samples": len(value), "crc32": crc32(np.ascontiguousarray(value, "<f4").tobytes())}
        case TurnStarted() | TurnPaused() | TurnResumed() | TurnEnded():
            return {"event": type(value).__name__, **_fields(value)}
        case Reason():
            return _fields(value)
        case bool() | np.bool_():
            return bool(value)
        case int() | np.integer():
            return int(value)
        case float() | np.floating():
            return float(value)
        case str():
            return value.encode("utf-8", "replace").decode("utf-8")  # halves of characters cannot be read again
        case _:
            return value
