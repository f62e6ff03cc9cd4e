"""A regular file: what is read and replaced whole, and never waits as a pipe or a device does."""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

__all__ = ["NO_FILE", "check_regular", "check_replaceable", "regular_bytes"]

NO_FILE = "It is no file"
"""Said of a pipe, a socket and a device."""


def regular_bytes(path: Path, most: int = -1) -> bytes:
    """What is in it, `most` bytes or all. Raises OSError, also for anything else, which is not opened."""
    check_regular(path.stat())
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # it may have become a pipe since
    with os.fdopen(descriptor, "rb") as file:
        check_regular(os.fstat(descriptor))
        return file.read(most)


def check_replaceable(path: Path) -> None:
    """Raises OSError where there is anything else, which a new file must not put out of its place."""
    with suppress(FileNotFoundError):
        check_regular(path.stat())


def check_regular(status: os.stat_result) -> None:
    """Raises OSError unless it is that of a regular file."""
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, NO_FILE)
