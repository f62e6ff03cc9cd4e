"""The graph of a voice's network: the file with one more output, how long each phoneme lasts."""

import io
import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["graph_with_durations"]

# Field numbers of onnx.proto.
_GRAPH, _NODE, _OUTPUT = 7, 1, 12
_NODE_OUTPUT, _NODE_OPERATOR, _VALUE_NAME = 2, 4, 1

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

_Buffer = bytes | mmap.mmap
_Span = tuple[int, int]


def graph_with_durations(file: Path) -> bytes | None:
    """The network in `file` with its phonemes' durations as last output; None where they cannot be told.

    They are what the network rounds up to whole frames, so the tensor is the one that its only Ceil node makes. In
    protobuf, a message that is given twice is one whose repeated fields were given one after the other: a second
    `graph` after the file's own, with nothing but an output in it, adds that output. So nothing has to be parsed
    but the nodes' names. The weights are copied once, by the system and not by the interpreter, which would keep its
    lock from all other threads meanwhile (55 ms for 63 MB, measured). Raises OSError.
    """
    try:
        with file.open("rb", buffering=0) as opened:
            with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as model:
                size, names = len(model), list(_ceilings(model))
            if len(names) != 1:
                return None
            added = _message(_GRAPH, _message(_OUTPUT, _message(_VALUE_NAME, names[0])))
            return io.BufferedReader(_Joined(opened, io.BytesIO(added))).read(size + len(added))
    except (IndexError, ValueError):
        return None  # no such file; what is wrong, the runtime tells when it loads it


class _Joined(io.RawIOBase):
    """Files one after the other."""

    def __init__(self, *files: io.FileIO | io.BytesIO) -> None:
        self._files = list(files)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        while self._files:
            if count := self._files[0].readinto(buffer):
                return count
            del self._files[0]
        return 0


def _ceilings(model: _Buffer) -> Iterator[bytes]:
    for graph in _fields(model, (0, len(model)), _GRAPH):
        for node in _fields(model, graph, _NODE):
            if [model[slice(*name)] for name in _fields(model, node, _NODE_OPERATOR)] == [b"Ceil"]:
                yield from (model[slice(*name)] for name in _fields(model, node, _NODE_OUTPUT))


def _fields(model: _Buffer, message: _Span, wanted: int) -> Iterator[_Span]:
    """Where in `model` the contents of the message's fields `wanted` are."""
    at, end = message
    while at < end:
        tag, at = _varint(model, at)
        length, at = _length(model, at, tag & 7)
        if at + length > end:
            raise ValueError("a field ends outside its message")
        if tag == wanted << 3 | _BYTES:
            yield at, at + length
        at += length


def _length(model: _Buffer, at: int, kind: int) -> tuple[int, int]:
    """How long a field's content is, and where it begins."""
    if kind == _BYTES:
        return _varint(model, at)
    if kind == _VARINT:
        return 0, _varint(model, at)[1]
    if kind in {_FIXED32, _FIXED64}:
        return 4 if kind == _FIXED32 else 8, at
    raise ValueError(f"there are no fields of the kind {kind}")


def _varint(model: _Buffer, at: int) -> tuple[int, int]:
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


def _message(field: int, content: bytes) -> bytes:
    """A field with a message or a text in it."""
    return bytes((field << 3 | _BYTES,)) + _number(len(content)) + content


def _number(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes((*found, value))
