"""A part: a model file on its way, beside or far from its final place."""

import os
from pathlib import Path
from typing import BinaryIO

from discussion_helper.models.stamps import sha256_of
from discussion_helper.models.values import ModelFile

__all__ = ["Part", "SourceFailed"]


class SourceFailed(Exception):
    """A source could not deliver a file; the text is the reason, one line."""


class Part:
    """The bytes of `file` that have arrived so far, in a file of their own at `path`.

    Whole and right, they are moved to `target` in one step; until then nothing is at `target`.
    """

    def __init__(self, file: ModelFile, path: Path, target: Path) -> None:
        self.file = file
        self.path = path
        self.target = target

    @property
    def size(self) -> int:
        """Bytes that have arrived."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def open(self, *, at: int) -> BinaryIO:
        """Open for writing at the end, which must be at `at`; 0 begins anew."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return self.path.open("ab" if at else "wb")

    def whole(self) -> bool:
        """Whether size and sha256 are the file's."""
        return self.size == self.file.size and sha256_of(self.path) == self.file.sha256

    def settle(self) -> None:
        """Move the bytes to `target`. Raises SourceFailed, with the bytes discarded, if they are not the file's."""
        if self.size != self.file.size:
            reason = f"{self.file.path} has {self.size} bytes instead of {self.file.size}"
        elif not self.whole():
            reason = f"{self.file.path} has wrong bytes (its sha256 is not the manifest's)"
        else:
            self.target.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("rb+") as content:
                os.fsync(content.fileno())  # the name must not reach the disk before the bytes
            self.path.replace(self.target)
            return
        self.discard()
        raise SourceFailed(reason)

    def discard(self) -> None:
        """Remove what has arrived."""
        self.path.unlink(missing_ok=True)
