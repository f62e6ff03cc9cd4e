"""Progress of a pull."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

__all__ = ["Observer", "Progress", "ProgressKind"]

ProgressKind = Literal["bytes", "gave_up", "ready", "waiting"]


@dataclass(frozen=True, slots=True)
class Progress:
    """One step of a pull.

    kind        meaning
    waiting     another process pulls the same model; this one goes on when that has ended
    bytes       `done` of `total` bytes of `item` have come from `source`; `item` is a file, or a package on its way
    ready       the file `item` is complete, verified and in its place
    gave_up     `source` could not deliver, `reason` says why; the next source is asked
    """

    kind: ProgressKind
    model: str
    source: str = ""
    item: str = ""
    done: int = 0
    total: int = 0
    reason: str = ""


Observer = Callable[[Progress], None]
"""Called in the thread that pulls."""
