"""Calls of tools and what came of them, as models and tools give them."""

from dataclasses import dataclass
from typing import Any, ClassVar

from discussion_helper.tools.json_text import result_text

__all__ = ["ToolCall", "ToolCallDelta", "ToolResult"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model wants a tool to run; `arguments` is JSON text as the model wrote it, which may be broken."""

    id: str
    name: str
    arguments: str = ""
    kind: ClassVar[str] = "tool_call"


@dataclass(frozen=True, slots=True)
class ToolCallDelta:
    """The next piece of the tool call number `index` of one answer."""

    index: int
    id: str = ""
    name: str = ""
    arguments: str = ""
    kind: ClassVar[str] = "tool_call_delta"

    @property
    def key(self) -> str:
        """What it accumulates with."""
        return f"tool_call:{self.index}"

    def whole(self) -> ToolCall:
        """The artifact that its pieces make."""
        return ToolCall(self.id, self.name, self.arguments)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool gave: `content` as text, `value` (JSON-shaped) for whoever computes with it."""

    tool_call_id: str
    content: str = ""
    value: Any = None
    is_error: bool = False
    kind: ClassVar[str] = "tool_result"

    @property
    def for_model(self) -> str:
        """The text that the model gets, also after a reload: the content, or the value as JSON where there is none."""
        return self.content if self.content or self.value is None else result_text(self.value)
