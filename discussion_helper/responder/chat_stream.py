"""The text of one streamed chat completion, piece by piece, with a limit for every silence."""

from collections.abc import Callable, Collection

from discussion_helper.responder.called import Called
from discussion_helper.responder.completion import Completion, content_of, delta_of
from discussion_helper.responder.patience import Limits, Patience
from discussion_helper.responder.reasoning import ReasoningFilter
from discussion_helper.tools.calls import ToolCall

__all__ = ["ChatStream"]


class ChatStream:
    """`piece()` is called until it gives "". Only text and calls count as progress, empty chunks do not.

    Calls of tools are in `calls` at the end. Reasoning is never given, and is no text: what comes between `<think>`
    tags, or in a field of its own (`reasoning_content`, `reasoning`). Nor is white space before the first word.
    """

    def __init__(
        self,
        completion: Completion,
        *,
        limits: Limits,
        used_ids: Collection[str] = (),
        counted: Callable[[int], None] | None = None,
    ) -> None:
        """`used_ids`: of the calls of tools so far. `counted` is told of the request's tokens, if the server counts."""
        self._completion = completion
        self._called = Called(used_ids)
        self._texts: list[str] = []
        self._counted = counted
        self._patience = Patience(limits)
        self._speakable = ReasoningFilter()
        self._spoken = ""  # the end of what was given

    async def piece(self) -> str:
        """The next piece of text; "" at the end. Raises ResponderError."""
        if self._spoken:
            self._patience.said()
        while (chunk := await self._completion.chunk(self._patience)) is not None:
            text, reasoning = content_of(chunk)
            if self._counted is not None and (tokens := _tokens_in(chunk)):
                self._counted(tokens)
            if spoken := self._given(self._speakable.feed(text)):
                return spoken
            if self._takes_calls(chunk):
                self._patience.said()
            elif reasoning or text.strip():
                self._patience.thought()
        if rest := self._given(self._speakable.flush()):
            return rest
        if self.calls:
            self._completion.check_end("")  # half a call is none
        elif self._spoken:
            self._completion.check_end(self._spoken)
        return ""

    @property
    def text(self) -> str:
        """All that was given."""
        return "".join(self._texts)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tools that were called."""
        return self._called.calls

    def _takes_calls(self, chunk: object) -> bool:
        raw = getattr(delta_of(chunk), "tool_calls", None)
        return isinstance(raw, list) and sum(map(self._called.feed, raw)) > 0

    def _given(self, text: str) -> str:
        text = text if self._spoken else text.lstrip()
        self._spoken = (self._spoken + text)[-8:]
        self._texts.append(text)
        return text

    async def aclose(self) -> None:
        """Break the connection off; shielded, 0.1 s at most."""
        await self._completion.aclose()


def _tokens_in(chunk: object) -> int:
    tokens = getattr(getattr(chunk, "usage", None), "prompt_tokens", None)
    return tokens if isinstance(tokens, int) else 0
