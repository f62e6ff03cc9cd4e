"""The graph of a voice's network: the file with one more output, how long each phoneme lasts."""

import io
import mmap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from discussion_helper.tts.protobuf import Buffer, fields, message

__all__ = ["graph_with_durations"]

# Field numbers of onnx.proto.
_GRAPH, _NODE, _OUTPUT = 7, 1, 12
_NODE_OUTPUT, _NODE_OPERATOR, _VALUE_NAME = 2, 4, 1


def graph_with_durations(file: Path, *, also: Sequence[bytes] = ()) -> bytes | None:
    """The network in `file` with its phonemes' durations as last output; None where they cannot be told.

    `also`: names of tensors that become outputs before it.

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
            outputs = (message(_OUTPUT, message(_VALUE_NAME, name)) for name in (*also, names[0]))
            added = message(_GRAPH, b"".join(outputs))
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


def _ceilings(model: Buffer) -> Iterator[bytes]:
    for graph in fields(model, (0, len(model)), _GRAPH):
        for node in fields(model, graph, _NODE):
            if [model[slice(*name)] for name in fields(model, node, _NODE_OPERATOR)] == [b"Ceil"]:
                yield from (model[slice(*name)] for name in fields(model, node, _NODE_OUTPUT))
