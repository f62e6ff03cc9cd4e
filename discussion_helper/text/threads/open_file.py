"""The file that a process has open, as against the one that has its name now."""

import os
import sys

from discussion_helper.text.errors import SaveError

__all__ = ["OpenFile"]


class OpenFile:
    """Remembers which file it is, whatever the current folder will be."""

    def __init__(self, path: str) -> None:
        """Raises OSError."""
        self._name = path
        self._path = os.path.abspath(path)
        self._identity = _identity(self._path)

    def check(self) -> None:
        """What is written to a file without a name ends with the process. Raises SaveError, OSError."""
        try:
            same = _identity(self._path) == self._identity
        except FileNotFoundError:
            same = False
        if not same:
            what = f"{self._name}: the file was deleted or replaced while it was open."
            raise SaveError(what, fix="Put it back, or start again with the file that is there now.")


def _identity(path: str) -> tuple[int, int]:
    """On Windows nobody can delete or replace a file that is open."""
    if sys.platform == "win32":
        return 0, 0
    found = os.stat(path)
    return found.st_dev, found.st_ino
