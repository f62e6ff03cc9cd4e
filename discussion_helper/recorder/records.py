"""The records of a segment: what was written whole can be read whatever became of the rest."""

import struct
from enum import IntEnum
from zlib import crc32

__all__ = ["LARGEST", "MAGIC", "Kind", "framed", "unframed"]

MAGIC = b"DHREC\x01\r\n"
"""What a segment begins with; a transfer that changes line ends shows."""
LARGEST = 1 << 24
"""Bytes of a record: the largest by far is a block of audio, of 10 ms."""
_HEAD = struct.Struct("<IIB")


class Kind(IntEnum):
    """What a record holds."""

    HEADER = 1
    CAPTURED = 2
    PLAYED = 3
    CALLED = 4
    """Anything else that the audio work took, or that nothing came."""
    CLEANED = 5
    NOTED = 6
    TOLD = 7
    GAP = 8
    OWN = 9
    """Whether it was the agent's own voice."""


def framed(kind: Kind, payload: bytes) -> bytes:
    """One record: the length of what follows the head, its checksum, its kind; then the payload."""
    return _HEAD.pack(len(payload), crc32(payload, kind), kind) + payload


def unframed(data: bytes) -> tuple[list[tuple[Kind, bytes]], int]:
    """The records up to the first that is not whole, and how many bytes they and the magic take; 0 without that."""
    if not data.startswith(MAGIC):
        return [], 0
    found: list[tuple[Kind, bytes]] = []
    at = len(MAGIC)
    while at + _HEAD.size <= len(data):
        length, checksum, kind = _HEAD.unpack_from(data, at)
        payload = data[at + _HEAD.size : at + _HEAD.size + length]
        known = kind in Kind.__members__.values()
        if not known or length > LARGEST or len(payload) < length or crc32(payload, kind) != checksum:
            break
        found.append((Kind(kind), payload))
        at += _HEAD.size + length
    return found, at
