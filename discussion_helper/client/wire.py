"""The frames of `discussion-helper.audio.v1` as a client writes and reads them; web/protocol.md says what they mean."""

import json
import struct
from typing import Any

import numpy as np

from discussion_helper.audio.frames import Samples
from discussion_helper.client.errors import ServerError
from discussion_helper.voice.remote_messages import Play

__all__ = ["SUBPROTOCOL", "read", "sound"]

SUBPROTOCOL = "discussion-helper.audio.v1"

_MICROPHONE = struct.Struct("<BBHIQd")
_PLAY = struct.Struct("<BBHIIIQ")
_FIX = "See whether the server is of this client's version."


def sound(samples: Samples, *, seq: int, sample: int, at_s: float) -> bytes:
    """A block of the microphone. `sample`: index of its first one since the hello, `at_s`: when that was heard."""
    data: bytes = np.rint(np.clip(samples, -1.0, 1.0) * 32_767.0).astype("<i2").tobytes()
    return _MICROPHONE.pack(1, 0, 0, seq % 2**32, sample, at_s) + data


def read(frame: str | bytes) -> Play | dict[str, Any]:
    """Sound to play, or a message with its `type`. Raises ServerError for what is neither."""
    try:
        return _play(frame) if isinstance(frame, bytes) else _message(frame)
    except (ValueError, TypeError, KeyError, struct.error, RecursionError):
        raise ServerError("A frame of the server has another form.", fix=_FIX) from None


def _play(frame: bytes) -> Play:
    kind, flags, _, _, reply, _, sample = _PLAY.unpack_from(frame)
    if kind != 2:
        raise ValueError("no sound to play")
    samples = np.frombuffer(frame, "<i2", offset=_PLAY.size).astype(np.float32) / np.float32(32_768.0)
    return Play(reply, sample, samples, last=bool(flags & 1))


def _message(frame: str) -> dict[str, Any]:
    message = json.loads(frame)
    if not isinstance(message["type"], str):
        raise TypeError("no type")
    return dict(message)
