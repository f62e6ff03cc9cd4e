"""The port of what holds threads on disk: blocking calls, made one at a time."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from discussion_helper.text.errors import SaveError, StoreBusyError
from discussion_helper.text.state import Turn
from discussion_helper.text.threads.base import ThreadInfo

__all__ = ["GoneError", "Loaded", "LostError", "OvertakenError", "Shelf"]


class GoneError(SaveError):
    """The thread is not stored any more."""


class OvertakenError(StoreBusyError):
    """Another process has written to the thread: what is in memory is not what is stored."""


class LostError(SaveError):
    """The store has let go of the object: the thread was deleted, or another process has written to it."""


class Loaded(NamedTuple):
    """A thread as it is stored. `encoded` is what `write` will want of these turns: all of them, or none."""

    info: ThreadInfo
    turns: list[Turn]
    encoded: list[bytes]


class Shelf(Protocol):
    """No call is made from two threads at a time. All raise StoreBusyError, SaveError or ThreadCorruptError."""

    whole: bool
    """`write` wants all turns of the thread, not just those from `start` on."""
    problems: dict[str, str]
    """What cannot be read, by its name, and why."""

    def open(self) -> None:
        """Open it."""
        ...

    def close(self) -> None:
        """Release everything; idempotent."""
        ...

    def create(self, info: ThreadInfo) -> bool:
        """Store a thread without turns; False if it is there."""
        ...

    def load(self, thread_id: str) -> Loaded | None:
        """The thread, or None."""
        ...

    def write(self, info: ThreadInfo, start: int, turns: Sequence[bytes]) -> None:
        """Store `turns`, the first of which is the turn number `start`, and the rest of `info`: all of it or nothing.

        Raises GoneError and OvertakenError.
        """
        ...

    def delete(self, thread_id: str) -> bool:
        """Forget a thread; False if it is not there."""
        ...

    def survey(self) -> bool:
        """Get to know what there is, for a moment; True when that is done, and `infos` and `find` may be called."""
        ...

    def infos(self) -> list[ThreadInfo]:
        """All that can be read, in any order."""
        ...

    def find(self, key: str, value: str) -> str | None:
        """The id of the oldest thread that has this in its metadata."""
        ...
