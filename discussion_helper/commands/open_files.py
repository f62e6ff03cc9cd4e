"""How many files and connections this process may have open."""

import importlib
import sys
from contextlib import suppress

__all__ = ["WANTED", "allow_open_files"]

WANTED = 4096
"""The connections of a server twice over. Most systems let a process begin with 1024, macOS with 256."""


def allow_open_files(wanted: int = WANTED) -> None:
    """As many as that, as far as this user may; nothing where there is no such limit."""
    if sys.platform == "win32":
        return
    resource = importlib.import_module("resource")
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = wanted if most == resource.RLIM_INFINITY else min(wanted, most)
    if now != resource.RLIM_INFINITY and now < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
