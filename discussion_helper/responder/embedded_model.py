"""A model in this process, as its users share it: loaded with the first request, one request at a time, stoppable."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from discussion_helper.background import Background
from discussion_helper.errors import ResponderError, SettingError
from discussion_helper.event_loop import start_in
from discussion_helper.responder.base import with_system
from discussion_helper.responder.decoding import Decoding
from discussion_helper.responder.grammar import for_grammar
from discussion_helper.responder.history import fitting, size_of, weight_of
from discussion_helper.responder.llama import ContextFull, Llama, Take, check_model_file
from discussion_helper.responder.too_large import too_large

__all__ = ["LEAST_CONVERSATION", "EmbeddedModel", "EmbeddedRequest"]

LEAST_CONVERSATION = 256
"""Tokens of the context that no reply takes."""

_FREE_LIMIT_S = 0.15
_BYTES_PER_TOKEN = 3.0
"""First guess; English has 4 to 4.5, other languages 2 to 3. A guess that was too high is corrected by the model."""
_MARGIN = 16
"""Tokens kept free beside the reply's."""
_NO_TOOLS = (
    "Use a model whose template does, as Qwen2.5-Instruct, or one behind an endpoint; a model that speaks ChatML can "
    "be given chat_template=discussion_helper.text.providers.chatml_tools.CHATML_TOOLS."
)


@dataclass(slots=True, kw_only=True)
class EmbeddedRequest:
    """One request, and what the model tells of it."""

    messages: Sequence[Mapping[str, Any]]
    """Turns of user and assistant; with `tools` a chat completion's messages, without its system's."""
    system: str
    max_tokens: int
    reply_tokens: int = 0
    """Kept free for the reply, where that is more: what is read ahead of it must leave out the same turns."""
    sampling: Mapping[str, Any]
    tools: Sequence[Mapping[str, Any]] = ()
    """As OpenAI's interface takes them; kept in the form of which llama.cpp can make a grammar."""
    tool_choice: str = "auto"
    counted: bool = False
    """Whether to set `usage`."""
    usage: tuple[int, int] | None = None
    """Tokens of the prompt and of the reply, at the end."""

    def __post_init__(self) -> None:
        self.tools = [for_grammar(tool) for tool in self.tools]

    def whole(self, kept: Sequence[Any]) -> list[Any]:
        """The messages with the system's. Raises ValueError for one that is none."""
        if not self.tools:
            return list(with_system(self.system, kept))
        return [*([{"role": "system", "content": self.system}] if self.system else []), *kept]

    @property
    def fixed(self) -> int:
        """Bytes that count beside the messages: the system prompt and the tools."""
        return size_of(self.system) + (size_of(json.dumps(self.tools)) if self.tools else 0)


class EmbeddedModel:
    """Nothing is loaded before the first request. When a conversation outgrows the context, its oldest turns go."""

    def __init__(
        self,
        model_path: Path | str,
        *,
        threads: int,
        context: int,
        max_tokens: int,
        temperature: float,
        seed: int | None,
        template: str | None = None,
    ) -> None:
        """`context`: tokens of conversation and reply. `seed`: None = random. `template`: None = the model's own.

        Raises ModelMissing, ModelCorrupt, SettingError.
        """
        self._path = Path(model_path)
        check_model_file(self._path)
        self._threads = _at_least(1, threads, "threads")
        _at_least(1, max_tokens, "max_tokens")
        self._context = _at_least(max_tokens + LEAST_CONVERSATION, context, "context")
        self.sampling = _sampling(temperature, seed)
        """How words are chosen; for a request."""
        self._template = template
        self._bytes_per_token = _BYTES_PER_TOKEN
        self._limiter = anyio.CapacityLimiter(1)
        self._llama: Llama | None = None
        self._decodings: set[Decoding] = set()
        self.closed = False

    def begin(self, request: EmbeddedRequest) -> Decoding:
        """Start on a request; `end` has to follow. Raises RuntimeError when closed, ValueError for a bad message."""
        if self.closed:
            raise RuntimeError("the model is closed; make a new one")
        request.whole(request.messages)  # refuses what is no turn, in the caller's task

        def work(take: Take) -> str:
            return self._answer(request, take)

        decoding = Decoding(work, limiter=self._limiter)
        self._decodings.add(decoding)
        return decoding

    async def end(self, decoding: Decoding) -> None:
        """Stop the model, if it is still at it."""
        await decoding.aclose()
        self._decodings.discard(decoding)

    async def aclose(self) -> None:
        """Stop what is going on and free the model, within 0.4 s; what takes longer ends by itself. Idempotent."""
        self.closed = True
        async with anyio.create_task_group() as tasks:
            for decoding in self._decodings:
                start_in(tasks, self.end, decoding)
        freeing = Background(self._free, name="freeing the language model").start()
        with anyio.move_on_after(_FREE_LIMIT_S, shield=True):
            await freeing.finished()

    async def _free(self) -> None:
        await to_thread.run_sync(self._drop, limiter=self._limiter)

    # -- in the worker thread, which the limiter keeps to one

    def _drop(self) -> None:
        self._llama = None

    def _load(self) -> Llama:
        return Llama(self._path, threads=self._threads, context=self._context, template=self._template)

    def _answer(self, request: EmbeddedRequest, take: Take) -> str:
        guess = self._bytes_per_token
        try:
            return self._fitted(request, take)
        except ResponderError:  # what fits into no context tells nothing about other requests
            self._bytes_per_token = guess
            raise

    def _fitted(self, request: EmbeddedRequest, take: Take) -> str:
        refused: list[Any] = []
        while not take(""):
            if self._llama is None:
                self._llama = self._load()
                continue
            kept = fitting(request.messages, self._room(request))
            messages = request.whole(kept)
            if messages == refused:  # nothing more can be left out
                raise too_large(request.system, request.tools, kept)
            try:
                finish = self._llama.chat(self._body(request, messages, self._llama), take)
            except ContextFull as full:
                self._correct(request, messages, full.tokens)
                refused = messages
                continue
            except ResponderError as error:
                culprit = self._culprit(request, self._llama)
                if culprit is None:
                    raise
                raise culprit from error
            request.usage = self._llama.usage if request.counted else None
            return finish
        return ""

    def _body(self, request: EmbeddedRequest, messages: list[Any], llama: Llama) -> dict[str, Any]:
        body = {"messages": messages, "max_tokens": request.max_tokens, **request.sampling}
        if not request.tools:
            return body
        if not llama.template.takes_tools:
            raise SettingError(f"tools: the chat template of {self._path.name} knows none.", fix=_NO_TOOLS)
        if request.tool_choice == "required" and messages and messages[-1]["role"] != "assistant":
            # Else the model may say what it likes first, till it has no tokens left for a call (llama.cpp's issue
            # 27217); from the beginning of a call on, all it can write is one.
            opening = llama.template.opening
            body["messages"] = [*messages, *([{"role": "assistant", "content": opening}] if opening else [])]
        return {**body, "tools": list(request.tools), "tool_choice": request.tool_choice}

    def _culprit(self, request: EmbeddedRequest, llama: Llama) -> ResponderError | None:
        """Of a request that failed: the error that names the tool which the model cannot take even alone."""
        asked = [{"role": "user", "content": "?"}]
        for tool in request.tools if request.tool_choice != "none" else ():
            try:
                llama.chat({"messages": asked, "max_tokens": 1, "tools": [tool]}, lambda _: True)
            except ContextFull:
                continue
            except ResponderError as alone:
                what = f"The language model cannot take the tool {tool['function']['name']}: {alone.what}"
                return ResponderError(what, fix="Give its parameters simpler types, or offer it to another model.")
        return None

    def _room(self, request: EmbeddedRequest) -> int:
        """Bytes for the turns, beside the system prompt, the tools and the reply."""
        tokens = self._context - max(request.max_tokens, request.reply_tokens) - _MARGIN
        return max(int(tokens * self._bytes_per_token) - request.fixed, 1)

    def _correct(self, request: EmbeddedRequest, messages: Sequence[Any], tokens: int) -> None:
        """The model counted `tokens` in a request that was to fit: guess lower."""
        turns = sum(weight_of(message) for message in messages if message["role"] != "system")
        self._bytes_per_token = 0.9 * min(self._bytes_per_token, (turns + request.fixed) / tokens)


def _sampling(temperature: float, seed: int | None) -> dict[str, Any]:
    """How words are chosen, without phrases that repeat themselves for ever. Raises SettingError."""
    if not 0.0 <= temperature <= 2.0:
        raise SettingError(f"temperature is {temperature:g}.", fix="Choose one from 0 to 2.")
    return {
        "temperature": temperature,
        "top_p": 0.9,
        "dry_multiplier": 0.8,
        "dry_allowed_length": 4,
        "dry_sequence_breakers": ["\n"],  # each takes 6 ms a request; with quotation marks quotes repeat
        "chat_template_kwargs": {"enable_thinking": False},
        **({} if seed is None else {"seed": seed}),
    }


def _at_least(least: int, value: int, name: str) -> int:
    """The value. Raises SettingError that names it if it is less."""
    if value < least:
        raise SettingError(f"{name} is {value}.", fix=f"Choose {least} or more.")
    return value
