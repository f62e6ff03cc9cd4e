"""Entries as records and back. Audio keeps every bit; a block that fits into 16 bits is kept in them."""

import json
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
from discussion_helper.recorder.shape import LATEST, RATES, check_note, loaded, made, number, whole
from discussion_helper.voice.audio_work import Cut, HalfDuplex, Listening, Reopened, TalkKey
from discussion_helper.voice.deciding import Words
from discussion_helper.voice.hearing import BLOCK
from discussion_helper.voice.scored import Scored

__all__ = ["FORMAT", "DamagedError", "decoded", "encoded", "header_of", "header_record"]

FORMAT = 5
"""Of the header and all records behind it."""
_BLOCK = struct.Struct("<ddIqB")
_POSITION = struct.Struct("<qqI")
_CLEANED = struct.Struct("<qddB")
_CALLED = {
    "lost": DeviceLost,
    "listening": Listening,
    "words": Words,
    "half duplex": HalfDuplex,
    "key": TalkKey,
    "scored": Scored,
    "reopened": Reopened,
    "cut": Cut,
}
_FLOATS, _SHORTS = 0, 1
_LONGEST_S = 10.0
"""Of a block; a device delivers some hundredths of it at once."""
_WRONG = (
    *(ValueError, TypeError, KeyError, IndexError, AttributeError),
    *(OverflowError, RecursionError, struct.error),
)
"""What comes of a payload that is not what its kind says."""


class DamagedError(ValueError):
    """A record whose checksum is right and that cannot be understood all the same."""


_OWN = {bytes([own + 2 * learning]): OwnVoice(own == 1, learning == 1) for own in (0, 1) for learning in (0, 1)}


def encoded(entry: Entry) -> bytes:
    """The record of an entry."""
    match entry:
        case Taken():
            return _taken(entry)
        case Cleaned(start, samples, near_db, expected_db):
            form, data = _packed(samples)
            return framed(Kind.CLEANED, _CLEANED.pack(start, near_db, expected_db, form) + data)
        case OwnVoice(heard, learning):
            return framed(Kind.OWN, bytes([heard + 2 * learning]))
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
    except _WRONG as error:
        raise DamagedError(f"{kind.name.lower()}: {error}") from error


def header_record(header: Header) -> bytes:
    """The record of a header."""
    return framed(Kind.HEADER, _json({"format": FORMAT, **asdict(header)}))


def header_of(payload: bytes) -> Header:
    """Raises DamagedError, also for the format of another version."""
    try:
        values = loaded(payload)
        if values.pop("format") != FORMAT:
            raise DamagedError("it was recorded by another version of the package")
        header = made(Header, values)
        number("started_utc_s", header.started_utc_s, 0.0)
        whole("index", header.index, 1, 999_999)
        return header
    except _WRONG as error:
        raise error if isinstance(error, DamagedError) else DamagedError(f"its header is wrong ({error})") from error


def _decoded(kind: Kind, payload: bytes) -> Entry:
    match kind:
        case Kind.CAPTURED:
            frame, at_s, now = _frame(payload)
            return Taken(Captured(frame, at_s), now)
        case Kind.PLAYED:
            frame, at_s, now = _frame(payload[_POSITION.size :])
            return Taken(Played(frame, at_s, _position(payload)), now)
        case Kind.CALLED:
            now, name, values = loaded(payload)
            return Taken(_item(name, values), number("now", now))
        case Kind.CLEANED:
            return _cleaned(payload)
        case Kind.OWN:
            return _OWN[payload]
        case Kind.NOTED:
            check_note(loaded(payload))
            return Noted(payload)
        case Kind.TOLD:
            now, event = loaded(payload)
            return Told(number("now", now), dict(event))
        case Kind.GAP:
            missed, listening = loaded(payload)
            return Gap(whole("missed", missed, -1, LATEST), made(Listening, listening))
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
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "replace")


def _called(item: Called) -> tuple[str, dict[str, Any]]:
    if item is None:
        return "", {}
    return next(name for name, kind in _CALLED.items() if isinstance(item, kind)), asdict(item)


def _item(name: str, values: Any) -> Called:
    return made(_CALLED[name], values) if name else None


def _block(frame: Frame, at_s: float, now: float) -> bytes:
    form, data = _packed(frame.samples)
    return _BLOCK.pack(now, at_s, frame.rate, frame.start, form) + data


def _packed(samples: Samples) -> tuple[int, bytes]:
    """Their form and their bytes."""
    shorts = _exact(samples)
    return (_FLOATS, samples.astype("<f4").tobytes()) if shorts is None else (_SHORTS, shorts.astype("<i2").tobytes())


def _unpacked(data: bytes, form: int) -> Samples:
    if form not in (_FLOATS, _SHORTS):
        raise DamagedError("samples of no known form")
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
    samples = _unpacked(payload[_BLOCK.size :], form)
    if rate not in RATES or not 0 <= start <= LATEST or len(samples) > _LONGEST_S * rate:
        raise DamagedError("a block that no device delivers")
    return Frame(samples, rate, start), number("at_s", at_s), number("now", now)


def _position(payload: bytes) -> Position:
    position = Position(*_POSITION.unpack_from(payload))
    whole("generation", position.generation, -1, LATEST)
    whole("samples", position.samples, 0, LATEST)
    whole("rate", position.rate, RATES[0], RATES[-1])
    return position


def _cleaned(payload: bytes) -> Cleaned:
    start, near_db, expected_db, form = _CLEANED.unpack_from(payload)
    samples = _unpacked(payload[_CLEANED.size :], form)
    if len(samples) != BLOCK or not 0 <= start <= LATEST:
        raise DamagedError("a block that no canceller gives")
    return Cleaned(start, samples, near_db, expected_db)
