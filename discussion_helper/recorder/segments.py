"""The segments of a recording under way: a ring of files, the oldest of which go."""

import os
from collections import deque
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from discussion_helper.recorder.codec import encoded, header_record
from discussion_helper.recorder.entries import Entry, Gap, Header, Taken
from discussion_helper.recorder.folder import segments_in
from discussion_helper.recorder.records import MAGIC
from discussion_helper.voice.audio_work import Listening

__all__ = ["MAX_BYTES", "SEGMENT_S", "SegmentWriter"]

SEGMENT_S = 10.0
MAX_BYTES = 1 << 23
"""Of a segment: twice what 10 s of two directions take at 48 kHz."""


class SegmentWriter:
    """Writes entries behind one another; what `flush` has handed to the system survives the end of the process.

    Raises OSError.
    """

    def __init__(self, folder: Path, header: Header, *, keep: int) -> None:
        """`keep`: as many segments stay in the folder, those of earlier talks included."""
        self._folder = folder
        self._header = header
        self._keep = keep
        began = datetime.fromtimestamp(header.started_utc_s, UTC)
        self._take = f"{began:%Y%m%dT%H%M%S}.{began.microsecond // 1000:03d}Z"
        self._listening = header.listening
        self._old = deque(segment.path for segment in segments_in(folder))
        self._index = header.index - 1
        self._until_s = float("-inf")
        self._bytes = 0
        self._file: int | None = None
        self._pending: list[bytes] = []

    def __enter__(self) -> Self:
        self._begin()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        descriptor, self._file = self._file, None
        if descriptor is not None:
            os.close(descriptor)

    def add(self, entry: Entry) -> None:
        """The next one. A segment begins with something that was taken, so that what came of it follows."""
        if isinstance(entry, Taken):
            if self._until_s == float("-inf"):
                self._until_s = entry.now + SEGMENT_S
            elif entry.now >= self._until_s or self._bytes > MAX_BYTES:
                self._begin()
                self._until_s = entry.now + SEGMENT_S
        if isinstance(entry, Taken) and isinstance(entry.item, Listening):
            self._listening = entry.item
        elif isinstance(entry, Gap):
            self._listening = entry.listening
        self._put(encoded(entry))

    def flush(self) -> None:
        """Hand over to the system what was added."""
        data = memoryview(b"".join(self._pending))
        self._pending.clear()
        assert self._file is not None
        while data:
            data = data[os.write(self._file, data) :]

    def remove(self) -> None:
        """Take away what was written, and is still there."""
        for path in self._old:
            if path.name.startswith(self._take):
                path.unlink(missing_ok=True)

    def _put(self, record: bytes) -> None:
        self._pending.append(record)
        self._bytes += len(record)

    def _begin(self) -> None:
        if self._file is not None:
            self.flush()
            descriptor, self._file = self._file, None
            os.close(descriptor)
        self._index += 1
        path = self._folder / f"{self._take}-{self._index:06d}.rec"
        while len(self._old) >= self._keep:
            self._old.popleft().unlink(missing_ok=True)
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
        self._file = os.open(path, flags, 0o600)
        self._old.append(path)
        self._bytes = 0
        self._put(MAGIC + header_record(replace(self._header, index=self._index, listening=self._listening)))
