"""The description at the beginning of a GGUF file: what of it is known without loading the model."""

import mmap
import struct
from pathlib import Path
from typing import Any

__all__ = ["chat_templates_in"]

_VERSIONS = (2, 3)
"""Of the format; both have counts of 64 bits. https://github.com/ggml-org/ggml/blob/master/docs/gguf.md"""
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""Bytes of a value, by the number of its type."""
_STRING, _ARRAY = 8, 9
_KEY = b"tokenizer.chat_template"
"""And, behind a dot, the name of one of several."""


def chat_templates_in(path: Path) -> list[str] | None:
    """The Jinja texts that make a prompt of a chat; None where the file cannot be read as a GGUF file.

    Blocks: of the largest vocabularies, 150,000 tokens, 0.1 s or so.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _templates(_Reader(data))
    except (OSError, ValueError, struct.error, KeyError):  # a KeyError: a type that is younger than this
        return None


def _templates(reader: "_Reader") -> list[str]:
    magic, version, _, count = reader.unpack("<4sIQQ")
    if magic != b"GGUF" or version not in _VERSIONS:
        raise ValueError("another format")
    found = []
    for _ in range(count):
        key, (kind,) = reader.text(), reader.unpack("<I")
        if kind == _STRING and key.startswith(_KEY):
            found.append(reader.text().decode(errors="replace"))
        else:
            reader.skip(kind)
    return found


class _Reader:
    """Goes through the file; ValueError and struct.error at its end."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = 0

    def unpack(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return values

    def text(self) -> bytes:
        (length,) = self.unpack("<Q")
        start = self._at
        self._move(length)
        return self._data[start : self._at]

    def skip(self, kind: int) -> None:
        if kind != _ARRAY:
            self._skip_some(kind, 1)
            return
        kind, count = self.unpack("<IQ")
        self._skip_some(kind, count)

    def _skip_some(self, kind: int, count: int) -> None:
        if kind != _STRING:
            self._move(count * _SIZES[kind])
            return
        for _ in range(count):
            self._move(*self.unpack("<Q"))

    def _move(self, length: int) -> None:
        self._at += length
        if self._at > len(self._data):
            raise ValueError("it ends before")
