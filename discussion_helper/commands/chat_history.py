"""What was typed in earlier chats, in a file that only its user can read."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from prompt_toolkit.history import FileHistory

__all__ = ["KEPT_BYTES", "TypedHistory"]

KEPT_BYTES = 512 * 1024
"""Of the file; the older half goes when it is longer."""


class TypedHistory(FileHistory):
    """One that cannot be read or written is as good as empty: typing goes on."""

    def __init__(self, path: Path) -> None:
        with suppress(OSError):
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
            path.chmod(0o600)
            _shorten(path)
        super().__init__(path)

    def load_history_strings(self) -> Iterable[str]:
        try:
            return list(super().load_history_strings())
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        with suppress(OSError):
            super().store_string(string)


def _shorten(path: Path) -> None:
    """An entry begins behind an empty line, with the comment that tells its time."""
    content = path.read_bytes()
    if len(content) > KEPT_BYTES:
        half = content[-KEPT_BYTES // 2 :]
        path.write_bytes(half[max(0, half.find(b"\n# ")) :])
