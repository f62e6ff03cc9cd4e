"""The frames of `discussion-helper.audio.v1` on the wire: text is JSON, binary is audio. See protocol.md beside it."""

import json
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from discussion_helper.bounds import check_number, check_one_of, check_whole
from discussion_helper.errors import SettingError
from discussion_helper.shown import shown
from discussion_helper.voice.remote_messages import (
    MOST_RATE,
    NAME_LENGTH,
    STATES,
    Bye,
    Down,
    FrameError,
    Held,
    Hello,
    Mute,
    Pause,
    Play,
    Pong,
    Progress,
    Prompt,
    Resume,
    Sound,
    Stop,
    Up,
)

__all__ = ["LEAST_RATE", "LONGEST_S", "MOST_BYTES", "SHORTEST_S", "SUBPROTOCOL", "encode", "parse"]

SUBPROTOCOL = "discussion-helper.audio.v1"
MOST_BYTES = 64 * 1024
"""Of one frame: 200 ms at 96 kHz are 38 kB."""
LEAST_RATE = 8_000
SHORTEST_S, LONGEST_S = 0.005, 0.2
"""Of a frame of the microphone."""

_UP = struct.Struct("<BBHIQd")
_DOWN = struct.Struct("<BBHIIIQ")
_MICROPHONE, _PLAY = 1, 2
_LAST = 1
_WHOLE = 2**53
"""What every JSON reader takes for a whole number."""
_LATEST = 1e12
"""Seconds of a clock that counts from 1970 or later: anything above that is none."""
_SCALE = np.float32(32_767.0)
_HELLO_FIX = 'Begin a connection with {"type": "hello", "rate": 48000}, once.'


def parse(frame: str | bytes, rate: int | None) -> Up:
    """What the client says. `rate`: that of its hello; None before that. Raises FrameError."""
    if len(frame) > MOST_BYTES:
        raise FrameError("form", f"The frame has more than {MOST_BYTES} bytes.", fix="Send less at a time.")
    if rate is None and isinstance(frame, bytes):
        raise FrameError("order", "The first frame is no hello.", fix=_HELLO_FIX)
    up = _sound(frame, rate or 0) if isinstance(frame, bytes) else _message(frame)
    if isinstance(up, Hello) is not (rate is None):
        what = "The first frame is no hello." if rate is None else "There was a hello before."
        raise FrameError("order", what, fix=_HELLO_FIX)
    return up


def encode(down: Down | Mapping[str, Any], seq: int) -> str | bytes:
    """What is sent to the client; `seq` is the number of the next frame of audio."""
    match down:
        case Play():
            flags = _LAST if down.last else 0
            data: bytes = np.rint(np.clip(down.samples, -1.0, 1.0) * _SCALE).astype("<i2").tobytes()
            return _DOWN.pack(_PLAY, flags, 0, seq % 2**32, down.reply, 0, down.sample) + data
        case Pause():
            return json.dumps({"type": "pause", "reply": down.reply, "ramp_s": down.ramp_s})
        case Resume():
            return json.dumps({"type": "resume", "reply": down.reply, "ramp_s": down.ramp_s})
        case Stop():
            return json.dumps({"type": "stop", "reply": down.reply})
        case Held():
            return json.dumps({"type": "muted", "on": down.on})
    return json.dumps(dict(down))


def _sound(frame: bytes, rate: int) -> Sound:
    if len(frame) < _UP.size:
        raise FrameError(
            "form", f"The frame has {len(frame)} bytes.", fix=f"Put a header of {_UP.size} before samples."
        )
    kind, _, _, seq, sample, at = _UP.unpack_from(frame)
    data = frame[_UP.size :]
    if kind != _MICROPHONE:
        raise FrameError("form", f"kind: there is no audio of kind {kind}.", fix="Use 1 for the microphone.")
    if len(data) % 2 or not SHORTEST_S * rate <= len(data) // 2 <= LONGEST_S * rate:
        what = f"The frame has {len(data)} bytes of samples."
        raise FrameError("form", what, fix="Send 5 to 200 ms of samples of 16 bits, mono.")
    if sample >= _WHOLE:
        raise FrameError("field", f"sample: {sample} is out of range.", fix="Count samples from the hello.")
    if not abs(at) <= _LATEST:
        raise FrameError("field", "at: it is no time.", fix="Use seconds of a clock that does not jump.")
    samples = np.frombuffer(data, "<i2").astype(np.float32) / np.float32(32_768.0)
    return Sound(seq, sample, at, samples)


def _message(frame: str) -> Up:
    try:
        fields = json.loads(frame)
    except (ValueError, RecursionError):
        raise FrameError("form", "The text is no JSON.", fix="Send one JSON object in a frame.") from None
    if not isinstance(fields, dict):
        raise FrameError("form", "The JSON is no object.", fix='Send an object with "type".')
    kind = fields.get("type")
    make = _MAKERS.get(kind) if isinstance(kind, str) else None
    if make is None:
        what = f"type: there is no frame {shown(kind)}."
        raise FrameError("form", what, fix=f"Use one of {', '.join(_MAKERS)}.")
    try:
        return make(fields)
    except SettingError as error:
        raise FrameError("field", error.what, fix=error.fix) from None


def _hello(fields: dict[str, Any]) -> Hello:
    rate, take, name = _whole(fields, "rate"), fields.get("take", False), fields.get("name", "")
    check_whole("rate", rate, LEAST_RATE, MOST_RATE, unit="hertz")
    if not isinstance(name, str):
        raise SettingError("name: it is no text.", fix="Leave it out, or use a text.")
    kept = "".join(letter for letter in name if letter.isprintable())[:NAME_LENGTH].strip()
    return Hello(rate, _flag("take", take), kept)


def _prompt(fields: dict[str, Any]) -> Prompt:
    return Prompt(_whole(fields, "sample"))


def _progress(fields: dict[str, Any]) -> Progress:
    state = fields.get("state", "playing")
    check_one_of("state", state, STATES)
    return Progress(_whole(fields, "reply"), _whole(fields, "sample"), _time(fields), state)


def _mute(fields: dict[str, Any]) -> Mute:
    return Mute(_flag("on", fields.get("on")))


def _pong(fields: dict[str, Any]) -> Pong:
    return Pong(_whole(fields, "n"))


def _bye(_: dict[str, Any]) -> Bye:
    return Bye()


def _whole(fields: dict[str, Any], name: str) -> int:
    value = fields.get(name)
    check_whole(name, value, 0, _WHOLE)
    assert isinstance(value, int)
    return value


def _time(fields: dict[str, Any]) -> float:
    check_number("at", fields.get("at"), -_LATEST, _LATEST, unit="seconds")
    return float(fields["at"])


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise SettingError(f"{name}: {shown(value)} is neither true nor false.", fix="Use true or false.")
    return value


_MAKERS: Mapping[str, Callable[[dict[str, Any]], Up]] = {
    "hello": _hello,
    "onset": _prompt,
    "played": _progress,
    "mute": _mute,
    "pong": _pong,
    "bye": _bye,
}
