"""Threads as JSON files, one for each: readable with any editor, for one process at a time."""

import os
from pathlib import Path

from discussion_helper.text.threads.durable import DurableThreads
from discussion_helper.text.threads.folder import FolderShelf

__all__ = ["JsonThreads"]


class JsonThreads(DurableThreads):
    """A `ThreadStore` in a folder: `<id>.json` holds {id, created_at, updated_at, metadata, turns}.

    Every change writes the thread's whole file beside the old one, syncs it, puts it in the old one's place and syncs
    the folder. What was acknowledged survives the death of the process and, as far as the disk keeps its word, a
    power failure; on Windows, where folders cannot be synced, the file system may then come back with the file before
    the last change. A file is never half written. The cost of a change grows with the thread: SqliteThreads suits
    threads of thousands of turns.

    One store at a time has the folder: another one gets StoreBusyError until this one is closed or its process dies.
    Files are read when they are asked for, all of them at the first `list` or `find`, one at a time.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """The folder is made when the store is opened; files in it are for their owner alone."""
        super().__init__(FolderShelf(Path(folder)))
