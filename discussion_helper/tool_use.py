"""One use of a tool: what a model called in a reply, and what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

__all__ = ["ToolUse"]


@dataclass(frozen=True, slots=True)
class ToolUse:
    """`arguments` is JSON text as the model wrote it; `result` is the text that the model got."""

    id: str
    name: str
    arguments: str = ""
    result: str = ""
    is_error: bool = False

    def as_dict(self) -> dict[str, Any]:
        """As it goes on the wire."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> "ToolUse":
        """Of what `as_dict` gave, and of anything else that has some of it."""
        texts = {name: str(data.get(name, "")) for name in ("id", "name", "arguments", "result")}
        return cls(**texts, is_error=bool(data.get("is_error", False)))
