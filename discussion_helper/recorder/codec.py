"""Entries as records and back. Audio keeps every bit; a block that fits into 16 bits is kept in them."""

import json
import math
import struct
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Captured, DeviceLost, Played
from discussion_helper.audio.playback import Position
from discussion_helper.recorder.entries import Called, Cleaned, Entry, Gap, Header, Noted, OwnVoice, Taken, Told
from discussion_helper.recorder.records import Kind, framed
from discussion_helper.voice.audio_work import HalfDuplex, Listening
from discussion_helper.voice.deciding import Words

__all__ = ["FORMAT", "DamagedError", "decoded", "encoded", "header_of", "header_record"]

FORMAT = 1
"""Of the header and all records behind it."""
_BLOCK = struct.Struct("<ddIqB")
_POSITION = struct.Struct("<qqI")
_CLEANED = struct.Struct("<qddB")
_CALLED = {"lost": DeviceLost, "listening": Listening, "words": Words, "half duplex": HalfDuplex}
_FLOATS, _SHORTS = 0, 1


class DamagedError(ValueError):
    """A record whose checksum is right and that cannot be understood all the same."""


def encoded(entry: Entry) -> bytes:
    """The record of an entry."""
    match entry:
        case Taken():
            return _taken(entry)
        case Cleaned(start, samples, near_db, expected_db):
            form, data = _packed(samples)
            return framed(Kind.CLEANED, _CLEANED.pack(start, near_db, expected_db, form) + data)
        case OwnVoice(heard):
            return framed(Kind.OWN, bytes([heard]))
        case Noted(line):
            return framed(Kind.NOTED, line)
        case Told(now, event):
            return framed(Kind.TOLD, _json([now, event]))
        case Gap(missed, listening):
            return framed(Kind.GAP, _json([missed, asdict(listening)]))


def decoded(kind: Kind, payload: bytes) -> Entry:
    """The entry of a record that is no header. Raises DamagedError."""
    try:
        return _decoded(kind, payload)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, struct.error, RecursionError) as error:
        raise DamagedError(f"{kind.name.lower()}: {error}") from error


def header_record(header: Header) -> bytes:
    """The record of a header."""
    return framed(Kind.HEADER, _json({"format": FORMAT, **asdict(header)}))


def header_of(payload: bytes) -> Header:
    """Raises DamagedError, also for the format of another version."""
    try:
        values = json.loads(payload)
        if values.pop("format") != FORMAT:
            raise DamagedError("it was recorded by another version of the package")
        values["listening"] = Listening(**values["listening"])
        header = Header(**values)
        numbers = (header.started_utc_s, header.zero_s, float(header.listening.rate))
        if not all(map(math.isfinite, numbers)) or not isinstance(header.settings, dict):
            raise DamagedError("its header is wrong")
        return header
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise error if isinstance(error, DamagedError) else DamagedError(f"its header is wrong ({error})") from error


def _decoded(kind: Kind, payload: bytes) -> Entry:
    match kind:
        case Kind.CAPTURED:
            frame, at_s, now = _frame(payload)
            return Taken(Captured(frame, at_s), now)
        case Kind.PLAYED:
            position = Position(*_POSITION.unpack_from(payload))
            frame, at_s, now = _frame(payload[_POSITION.size :])
            return Taken(Played(frame, at_s, position), now)
        case Kind.CALLED:
            now, name, values = json.loads(payload)
            return Taken(_item(name, values), float(now))
        case Kind.CLEANED:
            start, near_db, expected_db, form = _CLEANED.unpack_from(payload)
            return Cleaned(start, _unpacked(payload[_CLEANED.size :], form), near_db, expected_db)
        case Kind.OWN:
            return OwnVoice(payload == b"\1")
        case Kind.NOTED:
            json.loads(payload)["note"]
            return Noted(payload)
        case Kind.TOLD:
            now, event = json.loads(payload)
            return Told(float(now), dict(event))
        case Kind.GAP:
            missed, listening = json.loads(payload)
            return Gap(int(missed), Listening(**listening))
        case _:
            raise DamagedError("there is one header in a segment")


def _taken(entry: Taken) -> bytes:
    item, now = entry.item, entry.now
    if isinstance(item, Captured):
        return framed(Kind.CAPTURED, _block(item.frame, item.at_s, now))
    if isinstance(item, Played):
        place = _POSITION.pack(item.position.generation, item.position.samples, item.position.rate)
        return framed(Kind.PLAYED, place + _block(item.frame, item.at_s, now))
    return framed(Kind.CALLED, _json([now, *_called(item)]))


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "surrogatepass")


def _called(item: Called) -> tuple[str, dict[str, Any]]:
    if item is None:
        return "", {}
    return next(name for name, kind in _CALLED.items() if isinstance(item, kind)), asdict(item)


def _item(name: str, values: dict[str, Any]) -> Called:
    made: Called = _CALLED[name](**values) if name else None
    if isinstance(made, Listening) and not (isinstance(made.rate, int) and 0 <= made.rate <= 384_000):
        raise DamagedError("a microphone of no rate")
    return made


def _block(frame: Frame, at_s: float, now: float) -> bytes:
    form, data = _packed(frame.samples)
    return _BLOCK.pack(now, at_s, frame.rate, frame.start, form) + data


def _packed(samples: Samples) -> tuple[int, bytes]:
    """Their form and their bytes."""
    shorts = _exact(samples)
    return (_FLOATS, samples.astype("<f4").tobytes()) if shorts is None else (_SHORTS, shorts.astype("<i2").tobytes())


def _unpacked(data: bytes, form: int) -> Samples:
    return _floats(np.frombuffer(data, "<i2")) if form == _SHORTS else np.frombuffer(data, "<f4").astype(np.float32)


def _exact(samples: Samples) -> NDArray[np.int16] | None:
    """The samples in 16 bits, if that loses nothing, not even the sign of a zero."""
    with np.errstate(invalid="ignore", over="ignore"):
        shorts = (samples * np.float32(32768.0)).astype(np.int16)
    return shorts if _floats(shorts).tobytes() == samples.tobytes() else None


def _floats(shorts: NDArray[np.int16]) -> Samples:
    return shorts.astype(np.float32) / np.float32(32768.0)


def _frame(payload: bytes) -> tuple[Frame, float, float]:
    now, at_s, rate, start, form = _BLOCK.unpack_from(payload)
    if not 0 < rate <= 384_000 or not (math.isfinite(now) and math.isfinite(at_s)):
        raise DamagedError("a block of no rate or time")
    return Frame(_unpacked(payload[_BLOCK.size :], form), rate, start), at_s, now
