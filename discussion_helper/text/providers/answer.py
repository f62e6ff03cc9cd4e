"""One streamed answer of an endpoint: artifacts out of its chunks."""

from collections.abc import Collection
from typing import Any

from discussion_helper.responder.completion import content_of, delta_of
from discussion_helper.responder.reasoning import ReasoningFilter
from discussion_helper.text.artifacts import Artifact, ReasoningDelta, TextDelta, Usage
from discussion_helper.tools.call_pieces import CallPieces

__all__ = ["Answer"]

_PIECE = 16
"""Characters that a piece counts for beside its own."""


class Answer:
    """Takes chunks, which may hold anything. White space before the first word is left out."""

    def __init__(self, *, used_ids: Collection[str], max_chars: int) -> None:
        """`used_ids`: of the calls in the thread so far. `max_chars`: of text, reasoning and calls together."""
        self._filter = ReasoningFilter()
        self._calls = CallPieces(used_ids)
        self._room = max_chars
        self._usage: Usage | None = None
        self._begun: set[type[Artifact]] = set()
        self.tail = ""
        """The end of its text; "" when it ends with a call of a tool."""

    @property
    def full(self) -> bool:
        """As long as it may be; what comes after is not to be read."""
        return self._room <= 0

    def read(self, chunk: Any) -> list[Artifact]:
        """What a chunk adds."""
        text, reasoning = content_of(chunk)
        said = self._filter.feed(text)
        self._usage = _usage_in(chunk) or self._usage
        return [
            *self._piece(ReasoningDelta, reasoning + self._filter.thought),
            *self._piece(TextDelta, said),
            *self._called(getattr(delta_of(chunk), "tool_calls", None)),
        ]

    def end(self) -> list[Artifact]:
        """The answer is over: what was held back, and what it cost."""
        rest = self._filter.flush()
        pieces = [*self._piece(ReasoningDelta, self._filter.thought), *self._piece(TextDelta, rest)]
        return [*pieces, *([self._usage] if self._usage is not None else [])]

    def _piece(self, kind: type[TextDelta] | type[ReasoningDelta], text: str) -> list[Artifact]:
        text = text if kind in self._begun else text.lstrip()
        text = text[: max(self._room, 0)].encode("utf-8", "replace").decode()
        if not text:
            return []
        self._begun.add(kind)
        self._room -= len(text) + _PIECE
        if kind is TextDelta:
            self.tail = (self.tail + text)[-8:]
        return [kind(text)]

    def _called(self, raw: Any) -> list[Artifact]:
        made: list[Artifact] = []
        for each in raw if isinstance(raw, list) else []:
            delta = None if self.full else self._calls.feed(each)
            if delta is not None:
                self._room -= len(delta.id) + len(delta.name) + len(delta.arguments) + _PIECE
                self.tail = ""
                made.append(delta)
        return made


def _usage_in(chunk: Any) -> Usage | None:
    usage = getattr(chunk, "usage", None)
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    counts = [getattr(usage, name, None) for name in names]
    numbers = [count if isinstance(count, int) and count > 0 else 0 for count in counts]
    return Usage(*numbers) if any(numbers) else None
