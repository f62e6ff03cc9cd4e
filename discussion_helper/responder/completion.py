"""One streamed chat completion of an endpoint: its chunks as they come, within a deadline, and how it ended."""

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio

from discussion_helper.responder.body import Events, TooLong, is_stream
from discussion_helper.responder.endpoint_errors import EndpointErrors
from discussion_helper.responder.patience import Patience
from discussion_helper.responder.unreachable import is_undecodable, was_closed

if TYPE_CHECKING:
    from openai import APIStatusError, AsyncOpenAI, AsyncStream
    from openai.types.chat import ChatCompletionChunk

__all__ = ["Completion", "content_of", "delta_of"]

_RETRY_AFTER_S = 0.3
"""Pause before the only second attempt, made when the endpoint fails (5xx) before it has begun to answer. Where it
closes the connection instead, the second attempt is made at once."""
_CLOSE_LIMIT_S = 0.1

_BROKEN = "broke off before the end of the reply"
_ENDS = (".", "!", "?", "…", "。", "！", "？", "।", "؟", ")", '"', "”", "»")


class Completion:
    """Asks when the first chunk is wanted; `chunk()` is then called until it gives None."""

    def __init__(
        self, client: "AsyncOpenAI", request: dict[str, Any], *, errors: EndpointErrors, optional: str = ""
    ) -> None:
        """`optional` is a field of the request's `extra_body` that is left out when the endpoint refuses it by name."""
        self._client = client
        self._request = request
        self._errors = errors
        self._optional = optional
        self._stream: AsyncStream[ChatCompletionChunk] | None = None
        self._events: Events | None = None
        self._reason = False
        self.without_optional = False
        """The endpoint refused the optional field."""

    @property
    def finished(self) -> bool:
        """The endpoint has said that this is all."""
        return self._reason or (self._events is not None and self._events.done)

    async def chunk(self, patience: Patience) -> "ChatCompletionChunk | None":
        """The next chunk, which may hold anything; None at the end. Raises ResponderError."""
        with anyio.CancelScope(deadline=patience.deadline):
            try:
                if self._stream is None:
                    self._stream = await self._open()
                chunk = await anext(self._stream, None)
            except Exception as error:  # the client's, the connection's, or of a chunk that is none
                raise self._translated(error) from None
            if getattr(chunk, "object", None) == "error":  # vLLM, for one: the client takes it for a piece
                raise self._errors.reported(getattr(chunk, "message", None))
            self._reason = self._reason or _has_reason(chunk)
            return chunk
        raise self._errors.stalled(patience.silence())

    def check_end(self, said: str) -> None:
        """Raises EndpointStalled for a stream that ended in mid-sentence without saying that it is finished.

        `said` is the end of what came.
        """
        if not self.finished and not said.rstrip().endswith(_ENDS):
            raise self._errors.stalled(_BROKEN)

    async def aclose(self) -> None:
        """Break the connection off; shielded, 0.1 s at most."""
        if self._stream is not None:
            with anyio.move_on_after(_CLOSE_LIMIT_S, shield=True), suppress(Exception):
                await self._stream.close()

    async def _open(self) -> "AsyncStream[ChatCompletionChunk]":
        import openai

        try:
            stream = await self._ask()
        except openai.InternalServerError:
            await anyio.sleep(_RETRY_AFTER_S)
            stream = await self._ask()
        except openai.APIConnectionError as error:
            if not was_closed(error):
                raise
            # Servers close a connection that has been idle, llama.cpp's after 5 s: the request may cross with that.
            stream = await self._ask()
        except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
            if not self._is_of_optional(error):
                raise
            self._request["extra_body"].pop(self._optional)
            self.without_optional = True
            stream = await self._ask()
        if not is_stream(stream.response):
            await stream.close()
            raise _NotAStream(stream.response.headers.get("content-type", ""))
        self._events = Events(stream.response)
        return stream

    async def _ask(self) -> "AsyncStream[ChatCompletionChunk]":
        create: Any = self._client.chat.completions.create
        stream: AsyncStream[ChatCompletionChunk] = await create(**self._request, stream=True)
        return stream

    def _is_of_optional(self, error: "APIStatusError") -> bool:
        return (
            bool(self._optional) and self._optional in self._request["extra_body"] and self._optional in error.message
        )

    def _translated(self, error: Exception) -> Exception:
        import openai

        if isinstance(error, _NotAStream):
            return self._errors.malformed(error.kind)
        if isinstance(error, TooLong):
            return self._errors.too_long()
        if isinstance(error, RecursionError):  # JSON too deep
            return self._errors.malformed()
        if is_undecodable(error):
            return self._errors.of(error)
        broken = isinstance(error, openai.APIConnectionError) or not isinstance(error, (openai.APIError, ValueError))
        if self._stream is not None and broken:
            return self._errors.stalled(_BROKEN)
        return self._errors.of(error)


class _NotAStream(Exception):
    """The answer's content type is another one."""

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def delta_of(chunk: Any) -> Any:
    """What a chunk adds; None for one that adds nothing. The client checks nothing: a field may be anything."""
    choices = getattr(chunk, "choices", None)
    return getattr(choices[0], "delta", None) if isinstance(choices, list) and choices else None


def content_of(chunk: Any) -> tuple[str, str]:
    """Text and reasoning in a chunk."""
    delta = delta_of(chunk)
    fields = [getattr(delta, name, None) for name in ("content", "refusal", "reasoning_content", "reasoning")]
    texts = [field if isinstance(field, str) else "" for field in fields]
    return texts[0] or texts[1], texts[2] or texts[3]


def _has_reason(chunk: Any) -> bool:
    choices = getattr(chunk, "choices", None)
    return isinstance(choices, list) and bool(choices) and bool(getattr(choices[0], "finish_reason", None))
