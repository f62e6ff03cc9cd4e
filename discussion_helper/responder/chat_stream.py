"""One streamed chat completion: its text, piece by piece, with a limit for every silence."""

from contextlib import suppress
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any

import anyio

from discussion_helper.clock import now
from discussion_helper.errors import SettingError
from discussion_helper.responder.body import Events, TooLong, is_stream
from discussion_helper.responder.endpoint_errors import EndpointErrors
from discussion_helper.responder.reasoning import ReasoningFilter

if TYPE_CHECKING:
    from openai import AsyncOpenAI, AsyncStream
    from openai.types.chat import ChatCompletionChunk

__all__ = ["ChatStream", "Limits"]

_RETRY_AFTER_S = 0.3
"""Pause before the only second attempt, made when the endpoint fails (5xx) before it has begun to answer."""
_CLOSE_LIMIT_S = 0.1

_BROKEN = "broke off before the end of the reply"
_ENDS = (".", "!", "?", "…", "。", "！", "？", "।", "؟", ")", '"', "”", "»")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds: from the request to the first text or reasoning, between two pieces of either, and from the request,

    or a piece of text, to the next text when the model reasons. Raises SettingError for one that is not positive.
    """

    first_token_s: float
    between_s: float
    thinking_s: float

    def __post_init__(self) -> None:
        for limit in fields(self):
            if not getattr(self, limit.name) > 0:
                raise SettingError(f"{limit.name} is {getattr(self, limit.name)}.", fix="Give seconds above 0.")


class ChatStream:
    """Asks once; `piece()` is then called until it gives "". Only text counts as progress, empty chunks do not.

    Reasoning is never given, and is no text: what comes between `<think>` tags, or in a field of its own
    (`reasoning_content`, `reasoning`). Nor is white space before the first word.
    """

    def __init__(
        self, client: "AsyncOpenAI", request: dict[str, Any], *, limits: Limits, errors: EndpointErrors
    ) -> None:
        self._create: Any = partial(client.chat.completions.create, **request, stream=True)
        self._limits = limits
        self._errors = errors
        self._stream: AsyncStream[ChatCompletionChunk] | None = None
        self._events: Events | None = None
        self._speakable = ReasoningFilter()
        self._waits_since = now()
        self._reasoned = False  # since then
        self._spoken = ""  # the end of what was given
        self._finished = False

    async def piece(self) -> str:
        """The next piece of text; "" at the end. Raises ResponderError."""
        if self._spoken:
            self._waits_since, self._reasoned = now(), False
        deadline = self._waits_since + (self._limits.between_s if self._spoken else self._limits.first_token_s)
        while (chunk := await self._next_chunk(deadline)) is not None:
            text, reasoning = _content_of(chunk)
            self._finished = self._finished or _finish_of(chunk)
            if spoken := self._given(self._speakable.feed(text)):
                return spoken
            if reasoning or text.strip():
                self._reasoned = True
                deadline = min(now() + self._limits.between_s, self._waits_since + self._limits.thinking_s)
        if rest := self._given(self._speakable.flush()):
            return rest
        self._check_end()
        return ""

    def _given(self, text: str) -> str:
        text = text if self._spoken else text.lstrip()
        self._spoken = (self._spoken + text)[-8:]
        return text

    async def aclose(self) -> None:
        """Break the connection off; shielded, 0.1 s at most."""
        if self._stream is not None:
            with anyio.move_on_after(_CLOSE_LIMIT_S, shield=True), suppress(Exception):
                await self._stream.close()

    async def _next_chunk(self, deadline: float) -> "ChatCompletionChunk | None":
        with anyio.CancelScope(deadline=deadline):
            try:
                if self._stream is None:
                    self._stream = await self._open()
                return await anext(self._stream, None)
            except Exception as error:  # the client's, the connection's, or of a chunk that is none
                raise self._translated(error) from None
        raise self._errors.stalled(self._silence())

    async def _open(self) -> "AsyncStream[ChatCompletionChunk]":
        import openai

        try:
            stream: AsyncStream[ChatCompletionChunk] = await self._create()
        except openai.InternalServerError:
            await anyio.sleep(_RETRY_AFTER_S)
            stream = await self._create()
        if not is_stream(stream.response):
            await stream.close()
            raise _NotAStream(stream.response.headers.get("content-type", ""))
        self._events = Events(stream.response)
        return stream

    def _translated(self, error: Exception) -> Exception:
        import openai

        if isinstance(error, _NotAStream):
            return self._errors.malformed(error.kind)
        if isinstance(error, TooLong):
            return self._errors.too_long()
        if isinstance(error, RecursionError):  # JSON too deep
            return self._errors.malformed()
        broken = isinstance(error, openai.APIConnectionError) or not isinstance(error, (openai.APIError, ValueError))
        if self._stream is not None and broken:
            return self._errors.stalled(_BROKEN)
        return self._errors.of(error)

    def _check_end(self) -> None:
        """A stream that ends in mid-sentence without saying that it is finished was broken off."""
        finished = self._finished or (self._events is not None and self._events.done)
        if self._spoken and not finished and not self._spoken.rstrip().endswith(_ENDS):
            raise self._errors.stalled(_BROKEN)

    def _silence(self) -> str:
        if self._reasoned and now() >= self._waits_since + self._limits.thinking_s:
            return f"has been thinking for {self._limits.thinking_s:g} s without saying anything"
        if self._reasoned:
            return f"stopped while thinking, for {self._limits.between_s:g} s"
        if self._spoken:
            return f"stopped in the middle of the reply, for {self._limits.between_s:g} s"
        return f"has not begun to answer within {self._limits.first_token_s:g} s"


class _NotAStream(Exception):
    """The answer's content type is another one."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def _delta_of(chunk: Any) -> Any:
    choices = getattr(chunk, "choices", None)
    return getattr(choices[0], "delta", None) if isinstance(choices, list) and choices else None


def _content_of(chunk: Any) -> tuple[str, str]:
    """Text and reasoning in a chunk. The client checks nothing, so a field may be anything."""
    delta = _delta_of(chunk)
    fields = [getattr(delta, name, None) for name in ("content", "refusal", "reasoning_content", "reasoning")]
    texts = [field if isinstance(field, str) else "" for field in fields]
    return texts[0] or texts[1], texts[2] or texts[3]


def _finish_of(chunk: Any) -> bool:
    choices = getattr(chunk, "choices", None)
    return isinstance(choices, list) and bool(choices) and bool(getattr(choices[0], "finish_reason", None))
