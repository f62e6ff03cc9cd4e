"""The model's turn that is under way, made of the pieces in which it comes."""

from discussion_helper.commands.chat_entries import Called
from discussion_helper.commands.chat_pieces import Pieces
from discussion_helper.text.artifacts import (
    Artifact,
    Reasoning,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCall,
    ToolCallDelta,
)

__all__ = ["Live"]


class Live:
    """What has come of the model's turn that is under way."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._thought: list[str] = []
        self._calls: dict[str, ToolCallDelta] = {}
        self._pieces = Pieces()

    @property
    def text(self) -> str:
        """Of the answer."""
        return "".join(self._text)

    @property
    def thought(self) -> str:
        """Of the reasoning."""
        return "".join(self._thought)

    @property
    def calls(self) -> list[Called]:
        """Tools, in the order in which they were called."""
        return [Called(call.name, call.arguments) for call in self._calls.values()]

    def add(self, artifact: Artifact) -> bool:
        """Take the next artifact; whether there is anything new."""
        match artifact:
            case TextDelta(content):
                return self._add(self._text, content, Text)
            case ReasoningDelta(content):
                return self._add(self._thought, content, Reasoning)
            case ToolCallDelta():
                return self._add_call(artifact)
            case Text(content) if not self._pieces.ended(Text):
                self._text.append(content)
            case Reasoning(content) if not self._pieces.ended(Reasoning):
                self._thought.append(content)
            case ToolCall(id, name, arguments) if not any(call.id == id for call in self._calls.values()):
                self._calls[f"whole:{id}"] = ToolCallDelta(-1, id, name, arguments)
            case _:
                return False
        return True

    def _add(self, pieces: list[str], content: str, whole: type[Artifact]) -> bool:
        pieces.append(content)
        self._pieces.came(whole)
        return True

    def _add_call(self, delta: ToolCallDelta) -> bool:
        last = self._calls.get(delta.key, ToolCallDelta(delta.index))
        name, arguments = last.name + delta.name, last.arguments + delta.arguments
        self._calls[delta.key] = ToolCallDelta(delta.index, delta.id or last.id, name, arguments)
        return True
