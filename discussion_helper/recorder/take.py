"""A take: the recording of one talk, as far as its folder still has it."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from discussion_helper.errors import AudioFileError
from discussion_helper.recorder.codec import DamagedError, decoded, header_of
from discussion_helper.recorder.entries import Entry, Gap, Header
from discussion_helper.recorder.folder import Segment, segments_in
from discussion_helper.recorder.records import MAGIC, Kind, unframed
from discussion_helper.regular_file import regular_bytes

__all__ = ["Take", "takes_in"]

_ALL = frozenset(Kind)
_FIX = "Record again with talk --record."


@dataclass(slots=True)
class Take:
    """What can be read of one talk; `remarks` fills up as `entries` goes through it."""

    name: str
    header: Header
    """Of the first segment that is left."""
    segments: tuple[Segment, ...]
    remarks: list[str] = field(default_factory=list)

    @property
    def begins(self) -> bool:
        """The beginning of the talk is there; otherwise the ring has dropped it."""
        return self.header.index == 1

    @property
    def began(self) -> datetime:
        """When the talk began, in this machine's time zone."""
        return datetime.fromtimestamp(self.header.started_utc_s, UTC).astimezone()

    def entries(self, kinds: Collection[Kind] = _ALL) -> Iterator[Entry]:
        """Those of these kinds, in order; what is missing in the middle is a `Gap`, whatever the kinds."""
        self.remarks.clear()
        expected, whole = self.header.index, True
        for segment in self.segments:
            header, records, whole_now = self._read(segment)
            if header is None:
                whole = False
                continue
            if not whole or header.index != expected:
                yield Gap(-1, header.listening)
            expected, whole = header.index + 1, whole_now
            for kind, payload in records:
                try:
                    if kind in kinds:
                        yield decoded(kind, payload)
                except DamagedError as error:
                    self.remarks.append(f"{segment.path.name} is damaged ({error}); its rest is left out.")
                    whole = False
                    break

    def _read(self, segment: Segment) -> tuple[Header | None, list[tuple[Kind, bytes]], bool]:
        """The segment's header, the records behind it, and whether that is all of the file."""
        data = _bytes_of(segment.path)
        records, end = unframed(data)
        whole = end == len(data)
        if not whole:
            what = f"The last {len(data) - end} bytes of {segment.path.name} are no whole record and are left out"
            self.remarks.append(f"{what}: the recording was broken off there, or the file is damaged.")
        try:
            header = _header_in(records, segment) if end else None
        except DamagedError as error:
            self.remarks.append(f"{segment.path.name} is left out: {error}.")
            header = None
        return header, records[1:], whole


def takes_in(folder: Path) -> list[Take]:
    """The talks that are recorded there, the oldest first. Raises AudioFileError when there is none to be read."""
    found = segments_in(folder)
    takes, problems = [], []
    for name, group in groupby(found, key=lambda segment: segment.take):
        segments = tuple(group)
        for place in range(len(segments)):
            try:
                takes.append(Take(name, _header(segments[place]), segments[place:]))
                break
            except DamagedError as error:
                problems.append(f"{segments[place].path.name}: {error}")
    if not takes:
        what = f'"{folder}" holds no recording' + (f" that can be read ({problems[0]})." if problems else ".")
        raise AudioFileError(what, fix=_FIX)
    return takes


def _header(segment: Segment) -> Header:
    """Raises DamagedError."""
    data = _bytes_of(segment.path)
    records, end = unframed(data)
    if not end:
        raise DamagedError("it is empty" if not data else f"it does not begin with {MAGIC!r}")
    return _header_in(records, segment)


def _header_in(records: list[tuple[Kind, bytes]], segment: Segment) -> Header:
    """Raises DamagedError."""
    if not records or records[0][0] is not Kind.HEADER:
        raise DamagedError("it has no header")
    header = header_of(records[0][1])
    if header.index != segment.index:
        raise DamagedError("its header is that of another segment")
    return header


def _bytes_of(path: Path) -> bytes:
    try:
        return regular_bytes(path)
    except OSError as error:
        raise AudioFileError(f'"{path}" cannot be read: {error.strerror}.', fix="Check its permissions.") from error
