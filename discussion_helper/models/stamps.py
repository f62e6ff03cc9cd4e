"""Stamps: which files of a model were hashed when, so that a start need not hash them again."""

import hashlib
import json
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from discussion_helper.models.values import ModelFile
from discussion_helper.regular_file import check_replaceable, regular_bytes

__all__ = ["Stamps", "sha256_of"]

_RACY_NS = 2_000_000_000
"""A file touched less than this before it was hashed may be touched again without its times moving: the coarsest
file times in use (FAT) count in steps of two seconds."""


def sha256_of(path: Path) -> str:
    """The sha256 of a file as 64 lower-case hexadecimal digits. Raises OSError."""
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


class Stamps:
    """What was found out about the files of one model's folder, kept in `.verified.json` there.

    A stamp holds a file's sha256, size, modification and change time, and when the hashing began. It is trusted as
    long as size and both times are the same and lie well before the hashing; otherwise the file is hashed again. So
    a byte that changes is found unless the disk itself changes it (`Store.verify` finds that), and a stamp can only
    save work, never hide a difference from the manifest. A folder that cannot be written is hashed at every start.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / ".verified.json"
        self._entries = self._read()

    def intact(self, path: Path, file: ModelFile, *, trust: bool = True) -> bool:
        """Whether `path` has the bytes of `file`. `trust=False` hashes in any case. Raises OSError."""
        found = path.stat()
        if found.st_size != file.size:
            return False
        seen: list[str | int] = [file.sha256, found.st_size, found.st_mtime_ns, found.st_ctime_ns]
        if trust and self._covers(file, seen):
            return True
        begun = time.time_ns()
        if sha256_of(path) != file.sha256:
            self._entries.pop(file.path, None)
            self._write()
            return False
        self._entries[file.path] = [*seen, begun]
        self._write()
        return True

    def _covers(self, file: ModelFile, seen: list[str | int]) -> bool:
        match self._entries.get(file.path):
            case [*known, int(begun)] if known == seen:
                return max(int(seen[2]), int(seen[3])) + _RACY_NS < begun
        return False

    def _read(self) -> dict[str, object]:
        with suppress(OSError, ValueError, RecursionError):
            entries = json.loads(regular_bytes(self._path))
            if isinstance(entries, dict):
                return entries
        return {}

    def _write(self) -> None:
        with suppress(OSError):  # a stamp only saves time
            check_replaceable(self._path)
            handle, name = tempfile.mkstemp(prefix=".verified-", dir=self._path.parent)
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as out:
                    json.dump(self._entries, out)
                Path(name).replace(self._path)
            finally:
                Path(name).unlink(missing_ok=True)
