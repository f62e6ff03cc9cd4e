"""Where a watcher is in a session's events, as the id that it gets with each and gives back to resume."""

import re
from dataclasses import dataclass
from typing import Self

__all__ = ["Bookmark"]

_ID = re.compile(r"([0-9a-f]{8})-([0-9]{1,15})(?:\.([0-9]))?")


@dataclass(frozen=True, slots=True)
class Bookmark:
    """All up to item `number` was seen, and of the next one the first `part` events: an item may give several."""

    epoch: str
    number: int
    part: int = 0

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """None for what is none."""
        match = _ID.fullmatch(text.strip())
        return None if match is None else cls(match[1], int(match[2]), int(match[3] or 0))

    @classmethod
    def at(cls, epoch: str, number: int, part: int, *, of: int) -> Self:
        """After event `part` (from 1) of the item's `of` events."""
        return cls(epoch, number) if part == of else cls(epoch, number - 1, part)

    def __str__(self) -> str:
        return f"{self.epoch}-{self.number}" + (f".{self.part}" if self.part else "")
