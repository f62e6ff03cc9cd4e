"""Protobuf, as far as it takes to find parts of an ONNX file and to write some: fields that hold bytes."""

import mmap
from collections.abc import Iterator

__all__ = ["Buffer", "Span", "fields", "message"]

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

Buffer = bytes | mmap.mmap
Span = tuple[int, int]
"""From a byte to another one."""


def fields(model: Buffer, within: Span, wanted: int) -> Iterator[Span]:
    """Where in `model` the contents of the fields `wanted` are, of the message that lies there.

    Raises IndexError and ValueError for what is no message.
    """
    at, end = within
    while at < end:
        tag, at = _varint(model, at)
        length, at = _length(model, at, tag & 7)
        if at + length > end:
            raise ValueError("a field ends outside its message")
        if tag == wanted << 3 | _BYTES:
            yield at, at + length
        at += length


def _length(model: Buffer, at: int, kind: int) -> tuple[int, int]:
    """How long a field's content is, and where it begins."""
    if kind == _BYTES:
        return _varint(model, at)
    if kind == _VARINT:
        return 0, _varint(model, at)[1]
    if kind in {_FIXED32, _FIXED64}:
        return 4 if kind == _FIXED32 else 8, at
    raise ValueError(f"there are no fields of the kind {kind}")


def _varint(model: Buffer, at: int) -> tuple[int, int]:
    """The number at `at`, and where it ends."""
    value = shift = 0
    while shift < 64:
        byte = model[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
    raise ValueError("a number has no end")


def message(field: int, content: bytes) -> bytes:
    """A field with a message or a text in it."""
    return bytes((field << 3 | _BYTES,)) + _number(len(content)) + content


def _number(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes((*found, value))
