"""The provider that asks a server: any endpoint that speaks OpenAI's chat completions."""

from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from discussion_helper.clock import now
from discussion_helper.errors import EndpointStalled, SettingError
from discussion_helper.responder.completion import Completion
from discussion_helper.responder.endpoint_client import EndpointClient
from discussion_helper.responder.patience import Limits, Patience
from discussion_helper.text.artifacts import Artifact, ReasoningDelta
from discussion_helper.text.providers.answer import Answer
from discussion_helper.text.providers.base import Option
from discussion_helper.text.providers.messages import ids_in, messages_of
from discussion_helper.text.providers.options import (
    MaxTokens,
    OffersTools,
    Seed,
    Temperature,
    ToolChoice,
    TopP,
    offered,
)
from discussion_helper.text.state import State

__all__ = ["EndpointProvider"]

_WARMUP_LIMIT_S = 5.0
_AFTER_END_S = 2.0
"""How long the usage may come after the answer, and the end of the stream after that."""
_USAGE = "stream_options"


class EndpointProvider:
    """Answers through OpenAI's own client: OpenAI, Ollama, llama.cpp, vLLM, LM Studio and others.

    Text, reasoning (in a field of its own or between `<think>` tags) and calls of tools come in pieces, the usage at
    the end where the server tells it. The thread is sent as `messages_of` says. Secrets, proxies and second attempts
    are as EndpointClient says.
    """

    def __init__(
        self,
        model: str,
        base_url: str,
        *,
        api_key: str | None = None,
        options: Mapping[str, Any] | None = None,
        first_token_s: float = 60.0,
        between_s: float = 30.0,
        thinking_s: float = 600.0,
        max_chars: int = 200_000,
    ) -> None:
        """`options`: more fields of every request; the options of a call come before them.

        Limits: `first_token_s` from the request to its first piece, `between_s` between two pieces, `thinking_s`
        from the request, or a piece of the answer, to the next when the model reasons, and `max_chars` of an answer,
        after which the stream is closed. Raises SettingError.
        """
        self._server = EndpointClient(base_url=base_url, model=model, api_key=api_key)
        self._options = dict(options or {})
        self._limits = Limits(first_token_s=first_token_s, between_s=between_s, thinking_s=thinking_s)
        if max_chars < 1:
            raise SettingError(f"max_chars is {max_chars}.", fix="Give 1 or more.")
        self._max_chars = max_chars
        self._tells_usage = True

    async def invoke(self, state: State, *options: Option) -> AsyncIterator[Artifact]:
        """Deltas as they come, then the usage. Closing the iterator breaks the request off.

        Raises EndpointRefused, EndpointUnreachable, EndpointStalled, ResponderError. An answer may be empty.
        """
        answer = Answer(used_ids=ids_in(state), max_chars=self._max_chars)
        patience = Patience(self._limits)
        completion = self._server.completion(messages_of(state), self._fields(state, options), optional=_USAGE)
        try:
            while not answer.full and (chunk := await _next(completion, patience)) is not None:
                pieces = answer.read(chunk)
                for piece in pieces:
                    yield piece
                _note(pieces, patience)
            self._tells_usage = self._tells_usage and not completion.without_optional
        finally:
            await completion.aclose()
        for piece in answer.end():
            yield piece
        if not answer.full:
            completion.check_end(answer.tail)

    async def warmup(self) -> None:
        """Ask for the list of models: is anybody there, and is the key good. Five seconds at most.

        Raises EndpointRefused, EndpointUnreachable, and EndpointStalled at the limit. An endpoint that has no such
        list is taken as it is.
        """
        await self._server.check(within_s=_WARMUP_LIMIT_S)

    async def aclose(self) -> None:
        """Close the connections; idempotent."""
        await self._server.aclose()

    def _fields(self, state: State, options: Iterable[Option]) -> dict[str, Any]:
        fields = dict(self._options)
        if self._tells_usage:
            fields.setdefault(_USAGE, {"include_usage": True})
        for option in options:
            match option:
                case MaxTokens():
                    fields[_max_tokens_at(self._server.base_url)] = option.value
                case Temperature() | TopP() | Seed():
                    fields[option.name] = option.value
                case ToolChoice():
                    fields[option.name] = option.after(state)
                case OffersTools(schemas=schemas) if option.name == "tools" and schemas:
                    fields["tools"] = offered(option)
        if "tools" not in fields:
            fields.pop("tool_choice", None)
        return fields


def _max_tokens_at(base_url: str) -> str:
    """OpenAI's newer models refuse the old name of the field; other servers may not know the new one."""
    return "max_completion_tokens" if base_url.startswith("https://api.openai.com/") else "max_tokens"


async def _next(completion: Completion, patience: Patience) -> Any:
    """The next chunk. An answer that is finished waits for nothing but the usage, and that not for long."""
    if completion.finished:
        patience.deadline = min(patience.deadline, now() + _AFTER_END_S)
    try:
        return await completion.chunk(patience)
    except EndpointStalled:
        if completion.finished:
            return None
        raise


def _note(pieces: list[Artifact], patience: Patience) -> None:
    """Whoever listens has taken the pieces."""
    if any(not isinstance(piece, ReasoningDelta) for piece in pieces):
        patience.said()
    elif pieces:
        patience.thought()
