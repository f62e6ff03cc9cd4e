"""The text of one streamed chat completion, piece by piece, with a limit for every silence."""

from discussion_helper.responder.completion import Completion, content_of
from discussion_helper.responder.patience import Limits, Patience
from discussion_helper.responder.reasoning import ReasoningFilter

__all__ = ["ChatStream"]


class ChatStream:
    """`piece()` is called until it gives "". Only text counts as progress, empty chunks do not.

    Reasoning is never given, and is no text: what comes between `<think>` tags, or in a field of its own
    (`reasoning_content`, `reasoning`). Nor is white space before the first word.
    """

    def __init__(self, completion: Completion, *, limits: Limits) -> None:
        self._completion = completion
        self._patience = Patience(limits)
        self._speakable = ReasoningFilter()
        self._spoken = ""  # the end of what was given

    async def piece(self) -> str:
        """The next piece of text; "" at the end. Raises ResponderError."""
        if self._spoken:
            self._patience.said()
        while (chunk := await self._completion.chunk(self._patience)) is not None:
            text, reasoning = content_of(chunk)
            if spoken := self._given(self._speakable.feed(text)):
                return spoken
            if reasoning or text.strip():
                self._patience.thought()
        if rest := self._given(self._speakable.flush()):
            return rest
        if self._spoken:
            self._completion.check_end(self._spoken)
        return ""

    def _given(self, text: str) -> str:
        text = text if self._spoken else text.lstrip()
        self._spoken = (self._spoken + text)[-8:]
        return text

    async def aclose(self) -> None:
        """Break the connection off; shielded, 0.1 s at most."""
        await self._completion.aclose()
