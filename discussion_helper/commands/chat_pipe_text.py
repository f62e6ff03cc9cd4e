"""The output of a chat through a pipe: the events of its stream as text, or as lines of JSON."""

import re

from discussion_helper.commands.chat_pieces import Pieces
from discussion_helper.commands.json_text import json_text
from discussion_helper.text.artifacts import (
    Artifact,
    Image,
    Reasoning,
    ReasoningDelta,
    Text,
    TextDelta,
    ToolCall,
    ToolResult,
)
from discussion_helper.text.outputs import ArtifactEvent, LifecycleEvent, OutputEvent, TurnCompleteEvent, as_wire

__all__ = ["PipeText", "json_line", "plain"]

_NOT_TEXT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff"
    "\ufeff\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e007f]"
)
"""Controls, surrogates, separators of lines and paragraphs, and characters that are not seen. Not the two joiners:
words of Persian and Hindi, and pictures made of several, need them.
"""


def plain(text: str) -> str:
    """The text without what a terminal would obey, which may well be what reads it: no control characters but line
    feeds and tabs, nothing that is not seen or turns the direction of the text, and no other end of a line.
    """
    return _NOT_TEXT.sub("\ufffd", text.replace("\r", ""))


def json_line(event: OutputEvent) -> str:
    """The event as a line of JSON in ASCII; "" for one that is of no concern outside."""
    wire = as_wire(event)
    return "" if wire is None else f"{json_text(wire)}\n"


class PipeText:
    """Texts as they come; what was thought, and tools, as fenced blocks when `details`. A line feed at the end."""

    def __init__(self, *, details: bool = False) -> None:
        self._details = details
        self._tail = ""
        """The end of what was given."""
        self._apart = False
        """What comes next is a paragraph of its own."""
        self._pieces = Pieces()
        self._thought: list[str] = []
        self._names: dict[str, str] = {}

    def feed(self, event: OutputEvent) -> str:
        """What an event adds."""
        match event:
            case ArtifactEvent(artifact):
                return self._piece(artifact)
            case TurnCompleteEvent(turn) if turn.role != "user":
                blocks = [self._reasoned(), *(self._block_of(artifact) for artifact in turn.artifacts)]
                self._apart = True
                return "".join(blocks)
            case LifecycleEvent("done"):
                return self._reasoned() + self._given("" if self._tail[-1:] in ("", "\n") else "\n")
        return ""

    def _piece(self, artifact: Artifact) -> str:
        match artifact:
            case TextDelta(content):
                self._pieces.came(Text)
                return self._reasoned() + self._said(content)
            case Text(content) if not self._pieces.ended(Text):
                return self._reasoned() + self._said(content)
            case ReasoningDelta(content):
                self._pieces.came(Reasoning)
                self._thought.append(content)
            case Reasoning(content) if not self._pieces.ended(Reasoning):
                self._thought.append(content)
        return ""

    def _said(self, content: str) -> str:
        content = plain(content)
        if not self._apart or not content:
            return self._given(content)
        self._apart = False
        return self._paragraph(content)

    def _reasoned(self) -> str:
        """A thought that has come to its end."""
        text, self._thought = "".join(self._thought).strip(), []
        return self._block("reasoning", text) if text and self._details else ""

    def _block_of(self, artifact: Artifact) -> str:
        match artifact:
            case _ if not self._details:
                return ""
            case ToolCall(id, name, arguments):
                self._names[id] = name
                return self._block(f"tool_call {name}", arguments)
            case ToolResult(id, is_error=is_error):
                kind = "tool_error" if is_error else "tool_result"
                return self._block(f"{kind} {self._names.get(id, id)}", artifact.for_model)
            case Image(url):
                return self._block("image", url)
        return ""

    def _block(self, title: str, body: str) -> str:
        """Fenced with more backticks than there are in it."""
        body = plain(body).strip("\n")
        fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", body)), default=0))
        block = self._paragraph(f"{fence}{' '.join(plain(title).split())}\n{body}\n{fence}\n")
        self._apart = True
        return block

    def _paragraph(self, text: str) -> str:
        breaks = "" if not self._tail else "\n" * (2 - len(self._tail[-2:]) + len(self._tail[-2:].rstrip("\n")))
        return self._given(breaks + text)

    def _given(self, text: str) -> str:
        self._tail = (self._tail + text)[-2:]
        return text
