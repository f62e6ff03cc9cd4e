"""The calls of tools in one streamed answer, put together from their pieces, within bounds."""

from collections.abc import Collection
from typing import Any

from discussion_helper.tools.call_pieces import CallPieces
from discussion_helper.tools.calls import ToolCall

__all__ = ["MOST_CALLS", "MOST_CHARS", "Called"]

MOST_CALLS = 16
"""Of one answer; what a model calls beyond them is not run."""
MOST_CHARS = 20_000
"""Of names and arguments together; what comes after is not read."""


class Called:
    """Takes pieces as the client gives them, which may hold anything."""

    def __init__(self, used_ids: Collection[str] = ()) -> None:
        """`used_ids`: of the calls in the conversation so far; none of them is given again."""
        self._pieces = CallPieces(used_ids)
        self._texts: dict[int, list[str]] = {}  # id, name, arguments
        self._room = MOST_CHARS

    def feed(self, raw: Any) -> bool:
        """Take a piece; whether it added something."""
        delta = self._pieces.feed(raw) if self._room > 0 else None
        if delta is None or delta.index >= MOST_CALLS:
            return False
        added = (delta.id, delta.name, delta.arguments)
        self._room -= sum(map(len, added))
        before = self._texts.get(delta.index, ["", "", ""])
        self._texts[delta.index] = [old + new for old, new in zip(before, added, strict=True)]
        return True

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """Those with a name, in the order in which they began."""
        return tuple(ToolCall(*texts) for _, texts in sorted(self._texts.items()) if texts[1])
