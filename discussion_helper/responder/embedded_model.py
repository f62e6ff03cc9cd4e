"""A model in this process, as its users share it: loaded with the first request, one request at a time, stoppable."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
from anyio import to_thread

from discussion_helper.background import Background
from discussion_helper.errors import ResponderError, SettingError
from discussion_helper.responder.base import with_system
from discussion_helper.responder.decoding import Decoding
from discussion_helper.responder.history import fitting, size_of
from discussion_helper.responder.llama import ContextFull, Llama
from discussion_helper.types import Message

__all__ = ["EmbeddedModel", "EmbeddedRequest", "at_least", "sampling"]

_FREE_LIMIT_S = 0.15
_BYTES_PER_TOKEN = 3.0
"""First guess; English has 4 to 4.5, other languages 2 to 3. A guess that was too high is corrected by the model."""
_MARGIN = 16
"""Tokens kept free beside the reply's."""


@dataclass(slots=True, kw_only=True)
class EmbeddedRequest:
    """One request, and what the model tells of it."""

    messages: Sequence[Message]
    system: str
    max_tokens: int
    reply_tokens: int = 0
    """Kept free for the reply, where that is more: what is read ahead of it must leave out the same turns."""
    sampling: Mapping[str, Any]
    counted: bool = False
    """Whether to set `usage`."""
    usage: tuple[int, int] | None = None
    """Tokens of the prompt and of the reply, at the end."""


class EmbeddedModel:
    """Nothing is loaded before the first request. When a conversation outgrows the context, its oldest turns go."""

    def __init__(self, load: Callable[[], Llama], *, context: int) -> None:
        """`load` is called in a worker thread. `context`: tokens of conversation and reply."""
        self._load = load
        self._context = context
        self._bytes_per_token = _BYTES_PER_TOKEN
        self._limiter = anyio.CapacityLimiter(1)
        self._llama: Llama | None = None
        self._decodings: set[Decoding] = set()
        self.closed = False

    def begin(self, request: EmbeddedRequest) -> Decoding:
        """Start on a request; `end` has to follow. Raises RuntimeError when closed, ValueError for a bad message."""
        if self.closed:
            raise RuntimeError("the model is closed; make a new one")
        with_system("", request.messages)  # refuses what is no turn, in the caller's task

        def work(take: Callable[[str], bool]) -> str:
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
                tasks.start_soon(self.end, decoding)
        freeing = Background(self._free, name="freeing the language model").start()
        with anyio.move_on_after(_FREE_LIMIT_S, shield=True):
            await freeing.finished()

    async def _free(self) -> None:
        await to_thread.run_sync(self._drop, limiter=self._limiter)

    # -- in the worker thread, which the limiter keeps to one

    def _drop(self) -> None:
        self._llama = None

    def _answer(self, request: EmbeddedRequest, take: Callable[[str], bool]) -> str:
        while not take(""):
            if self._llama is None:
                self._llama = self._load()
                continue
            messages = with_system(request.system, fitting(request.messages, self._room(request)))
            body = {"messages": messages, "max_tokens": request.max_tokens, **request.sampling}
            try:
                finish = self._llama.chat(body, take)
            except ContextFull as full:
                self._correct(messages, full.tokens)
                continue
            request.usage = self._llama.usage if request.counted else None
            return finish
        return ""

    def _room(self, request: EmbeddedRequest) -> int:
        """Bytes for the turns, beside the system prompt and the reply."""
        tokens = self._context - max(request.max_tokens, request.reply_tokens) - _MARGIN
        return max(int(tokens * self._bytes_per_token) - size_of(request.system), 1)

    def _correct(self, messages: Sequence[Any], tokens: int) -> None:
        """The model counted `tokens` in a request that was to fit: guess lower."""
        counted = sum(size_of(message["content"]) for message in messages) / tokens
        self._bytes_per_token = 0.9 * min(self._bytes_per_token, counted)
        if self._bytes_per_token < 0.1:
            raise ResponderError("The system prompt does not fit into the context.", fix="Make it shorter.")


def sampling(temperature: float, seed: int | None) -> dict[str, Any]:
    """How words are chosen, without phrases that repeat themselves for ever. `seed`: None = random.

    Raises SettingError.
    """
    if not 0.0 <= temperature <= 2.0:
        raise SettingError(f"temperature is {temperature:g}.", fix="Choose one from 0 to 2.")
    return {
        "temperature": temperature,
        "top_p": 0.9,
        "dry_multiplier": 0.8,
        "dry_allowed_length": 4,
        "chat_template_kwargs": {"enable_thinking": False},
        **({} if seed is None else {"seed": seed}),
    }


def at_least(least: int, value: int, name: str) -> int:
    """The value. Raises SettingError that names it if it is less."""
    if value < least:
        raise SettingError(f"{name} is {value}.", fix=f"Choose {least} or more.")
    return value
