"""Threads in a SQLite database: turns as rows, several processes may read, long threads stay cheap."""

import os

from discussion_helper.errors import SettingError
from discussion_helper.text.threads.database import DatabaseShelf
from discussion_helper.text.threads.durable import DurableThreads

__all__ = ["SqliteThreads"]


class SqliteThreads(DurableThreads):
    """A `ThreadStore` in one file, or in ":memory:".

    The journal is a write-ahead log with `synchronous = FULL`: every change is synced before it is acknowledged, so
    what was acknowledged survives the death of the process and, as far as the disk keeps its word, a power failure.
    (NORMAL would be faster and lose the newest turns with the power.) A write-ahead log needs a disk of this machine.

    Several processes may have the database. A write waits 2 s at most for that of another process, then raises
    StoreBusyError. If another process has written to the very thread, appending raises StoreBusyError, nothing is
    lost or overwritten, and the next `get` gives the thread anew.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """The file, and its folder, are made when the store is opened. Raises SettingError for an empty path."""
        name = os.fspath(path)
        if not name or "\0" in name:
            raise SettingError(f"path: {name!r} is no file's.", fix='Name a file, or ":memory:".')
        super().__init__(DatabaseShelf(name))
