"""The last words of a talk: its document and the lines behind it, said once, whoever is first."""

import threading
from collections.abc import Callable

from discussion_helper.commands.talk_json import Document

__all__ = ["Leaving"]

_LOCK_LIMIT_S = 0.2
"""How long who ends the process waits for lines that are being written."""


class Leaving:
    """Said at the end of the talk, or by the clock that ends the process where a part of the talk hangs."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self._tell: Callable[[], object] | None = None
        self._lock = threading.Lock()

    def begin(self, tell: Callable[[], object]) -> None:
        """The talk begins: from now on there are lines, which `tell` writes, from whatever thread."""
        self._tell = tell

    def say(self) -> None:
        """Say them, unless that was done. Of a talk that never began there is the document alone."""
        self.document.print()
        if not self._lock.acquire(timeout=_LOCK_LIMIT_S):
            return
        try:
            tell, self._tell = self._tell, None
            if tell is not None:
                tell()
        finally:
            self._lock.release()
