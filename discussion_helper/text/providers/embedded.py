"""The provider that needs no server: a small language model in this process."""

from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

from discussion_helper.responder.embedded_model import EmbeddedModel, EmbeddedRequest, at_least, sampling
from discussion_helper.responder.llama import Llama, check_model_file
from discussion_helper.responder.reasoning import ReasoningFilter
from discussion_helper.text.artifacts import Artifact, ReasoningDelta, Text, TextDelta, Usage
from discussion_helper.text.providers.base import Option
from discussion_helper.text.providers.options import MaxTokens, Seed, Temperature, TopP
from discussion_helper.text.state import State, Turn
from discussion_helper.types import Message

__all__ = ["EmbeddedProvider"]

_LEAST_CONVERSATION = 256
"""Tokens of the context that no answer takes."""


class EmbeddedProvider:
    """Answers with a GGUF model through llama.cpp, one call at a time; others wait.

    It answers in text, with the usage at the end. Tools are left out, and so are calls and results in the thread:
    the model's template is used as llama.cpp applies it by default, without tools. When a thread outgrows the
    context, its oldest turns are not sent. A call stops at the next token when it is cancelled.
    """

    def __init__(
        self,
        model_path: Path | str,
        *,
        threads: int = 2,
        context: int = 4096,
        max_tokens: int = 512,
        temperature: float = 0.3,
        seed: int | None = None,
    ) -> None:
        """`context`: tokens of thread and answer. `max_tokens`: of an answer. `seed`: None = random.

        Nothing is loaded yet. Raises ModelMissing, ModelCorrupt, SettingError.
        """
        path = Path(model_path)
        check_model_file(path)
        at_least(1, threads, "threads")
        self._max_tokens = at_least(1, max_tokens, "max_tokens")
        self._most_tokens = at_least(max_tokens + _LEAST_CONVERSATION, context, "context") - _LEAST_CONVERSATION
        self._sampling = sampling(temperature, seed)
        self._model = EmbeddedModel(lambda: Llama(path, threads=threads, context=context), context=context)

    async def invoke(self, state: State, *options: Option) -> AsyncIterator[Artifact]:
        """Deltas as they are decoded, then the usage. Closing the iterator stops the model, within 0.2 s.

        Raises ModelError, ResponderError; RuntimeError once closed. An answer may be empty.
        """
        request, words = self._request(state, options), ReasoningFilter()
        decoding = self._model.begin(request)
        try:
            async for piece in decoding:
                for artifact in _pieces(words.feed(piece), words.thought):
                    yield artifact
            await decoding.outcome()
        finally:
            await self._model.end(decoding)
        for artifact in _pieces(words.flush(), words.thought):
            yield artifact
        if request.usage is not None:
            yield Usage(*request.usage, sum(request.usage))

    async def warmup(self) -> None:
        """Load the model. Raises ModelError, ResponderError."""
        decoding = self._model.begin(self._request(State([Turn("user", (Text("Hello."),))]), [MaxTokens(1)]))
        try:
            await decoding.outcome()
        finally:
            await self._model.end(decoding)

    async def aclose(self) -> None:
        """Stop what is going on and free the model, within 0.4 s; what takes longer ends by itself. Idempotent."""
        await self._model.aclose()

    def _request(self, state: State, options: Iterable[Option]) -> EmbeddedRequest:
        max_tokens, chosen = self._max_tokens, dict[str, Any]()
        for option in options:
            match option:
                case MaxTokens(value):
                    max_tokens = min(value, self._most_tokens)
                case Temperature() | TopP() | Seed():
                    chosen[option.name] = option.value
        return EmbeddedRequest(
            messages=[message for turn in state.turns for message in _messages(turn)],
            system="\n".join(turn.text for turn in state.turns if turn.role == "system" and turn.text.strip()),
            max_tokens=max_tokens,
            sampling={**self._sampling, **chosen},
            counted=True,
        )


def _messages(turn: Turn) -> list[Message]:
    if not turn.text.strip():
        return []
    match turn.role:
        case "user":
            return [{"role": "user", "content": turn.text}]
        case "assistant":
            return [{"role": "assistant", "content": turn.text}]
    return []


def _pieces(text: str, thought: str) -> list[Artifact]:
    return [*([ReasoningDelta(thought)] if thought else []), *([TextDelta(text)] if text else [])]
