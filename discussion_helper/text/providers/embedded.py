"""The provider that needs no server: a small language model in this process."""

from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

from discussion_helper.errors import ResponderError, SettingError
from discussion_helper.responder.embedded_model import LEAST_CONVERSATION, EmbeddedModel, EmbeddedRequest
from discussion_helper.responder.llama import Piece
from discussion_helper.responder.reasoning import ReasoningFilter
from discussion_helper.text.artifacts import Artifact, Image, ReasoningDelta, Text, TextDelta, Usage
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
from discussion_helper.text.state import State, Turn
from discussion_helper.tools.call_pieces import CallPieces, as_object

__all__ = ["EmbeddedProvider"]

_TELLS = ("user", "assistant")


class EmbeddedProvider:
    """Answers with a GGUF model through llama.cpp, one call at a time; others wait.

    It answers in text, and with calls of tools where tools are offered, with the usage at the end. Tools need a chat
    template that knows them: the model's own, or one that is given. While none are offered, the calls in the thread
    and their results are not sent; pictures never are. When a thread outgrows the context, its oldest turns are not
    sent. A call stops at the next token when it is cancelled.
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
        chat_template: str | None = None,
    ) -> None:
        """`context`: tokens of thread, tools and answer. `max_tokens`: of an answer. `seed`: None = random.

        `chat_template`: Jinja text in the place of the model's own, as CHATML_TOOLS. Nothing is loaded yet. Raises
        ModelMissing, ModelCorrupt, SettingError.
        """
        if chat_template is not None and not chat_template.strip():
            raise SettingError("chat_template is empty.", fix="Give the text of a template, or None.")
        self._model = EmbeddedModel(
            model_path,
            threads=threads,
            context=context,
            max_tokens=max_tokens,
            temperature=temperature,
            seed=seed,
            template=chat_template,
        )
        self._max_tokens, self._most_tokens = max_tokens, context - LEAST_CONVERSATION

    async def invoke(self, state: State, *options: Option) -> AsyncIterator[Artifact]:
        """Deltas as they are decoded, then the usage. Closing the iterator stops the model, within 0.2 s.

        Raises ModelError, ResponderError; SettingError where tools are offered to a model that cannot take them;
        RuntimeError once closed. An answer may be empty.
        """
        request, answer = self._request(state, options), _Answer(CallPieces(ids_in(state)))
        decoding = self._model.begin(request)
        try:
            async for piece in decoding:
                for artifact in answer.read(piece):
                    yield artifact
            await decoding.outcome()
        finally:
            await self._model.end(decoding)
        for artifact in answer.end():
            yield artifact
        if request.usage is not None:
            yield Usage(*request.usage, sum(request.usage))
        if request.tool_choice == "required" and not answer.calls and not self._model.closed:
            raise ResponderError("The model was to call a tool and called none.", fix="Ask again, or another model.")

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
        max_tokens, choice, chosen = self._max_tokens, "auto", dict[str, Any]()
        tools: list[dict[str, Any]] = []
        for option in options:
            match option:
                case MaxTokens(value):
                    max_tokens = min(value, self._most_tokens)
                case Temperature() | TopP() | Seed():
                    chosen[option.name] = option.value
                case ToolChoice():
                    choice = option.after(state)
                case OffersTools() if option.name == "tools":
                    tools = offered(option)
        return EmbeddedRequest(
            messages=messages_of(_told(state, with_calls=bool(tools))),
            system="\n".join(turn.text for turn in state.turns if turn.role == "system" and turn.text.strip()),
            max_tokens=max_tokens,
            sampling={**self._model.sampling, **chosen},
            tools=tools,
            tool_choice=choice if tools else "auto",
            counted=True,
        )


class _Answer:
    """Artifacts out of what the model gives."""

    def __init__(self, pieces: CallPieces) -> None:
        self._words = ReasoningFilter()
        self._pieces = pieces
        self.calls = False
        """A tool was called."""

    def read(self, piece: Piece) -> list[Artifact]:
        if isinstance(piece, str):
            return _pieces(self._words.feed(piece), self._words.thought)
        deltas = [delta for call in piece.calls if (delta := self._pieces.feed(as_object(call))) is not None]
        self.calls = self.calls or bool(deltas)
        return [*_pieces("", piece.thought), *deltas]

    def end(self) -> list[Artifact]:
        return _pieces(self._words.flush(), self._words.thought)


def _pieces(text: str, thought: str) -> list[Artifact]:
    return [*([ReasoningDelta(thought)] if thought else []), *([TextDelta(text)] if text else [])]


def _told(state: State, *, with_calls: bool) -> State:
    """What the model is told of; the system's turns go in front."""
    if with_calls:
        kept = [turn for turn in state.turns if turn.role != "system"]
        return State([Turn(turn.role, tuple(_without(turn, Image))) for turn in kept])
    return State([Turn(turn.role, tuple(_texts(turn))) for turn in state.turns if turn.role in _TELLS])


def _without(turn: Turn, kind: type[Artifact]) -> Iterable[Artifact]:
    return (artifact for artifact in turn.artifacts if not isinstance(artifact, kind))


def _texts(turn: Turn) -> Iterable[Artifact]:
    return (artifact for artifact in turn.artifacts if isinstance(artifact, Text))
