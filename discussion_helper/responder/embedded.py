"""The responder that needs no server: a small language model in this process."""

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import anyio
from anyio import to_thread

from discussion_helper.background import Background
from discussion_helper.errors import ResponderError, SettingError
from discussion_helper.responder.base import Clauses, with_system
from discussion_helper.responder.decoding import Decoding
from discussion_helper.responder.history import fitting, size_of, without_fragments
from discussion_helper.responder.llama import ContextFull, Llama, check_model_file
from discussion_helper.responder.prompt import system_prompt
from discussion_helper.responder.reasoning import ReasoningFilter
from discussion_helper.types import Message

__all__ = ["EmbeddedResponder"]

_FREE_LIMIT_S = 0.15
_BYTES_PER_TOKEN = 3.0
"""First guess; English has 4 to 4.5, other languages 2 to 3. A guess that was too high is corrected by the model."""
_MARGIN = 16
"""Tokens kept free beside the reply's."""
_UNSPEAKABLE = ("\n", "\n\n", " \n", "*", "**", " **", "#", "`", "```", " `")
"""Tokens the model may not choose: they begin lists, headings and code."""


class EmbeddedResponder:
    """Answers with a GGUF model through llama.cpp, one reply at a time.

    The defaults are for SmolLM2-135M-Instruct: little randomness, no repeated phrases, no Markdown, 72 tokens (about
    55 words) a reply; a sentence that the limit cuts short is left out unless it is the only one. When the
    conversation outgrows the context, its oldest turns are left out (see history.fitting).
    """

    def __init__(
        self,
        model_path: Path | str,
        *,
        system: str | None = None,
        threads: int = 2,
        context: int = 2048,
        max_tokens: int = 72,
        temperature: float = 0.1,
        seed: int | None = None,
    ) -> None:
        """`system`: None = system_prompt(). `context`: tokens of conversation and reply. `seed`: None = random.

        Nothing is loaded yet. Raises ModelMissing, ModelCorrupt, SettingError.
        """
        self._path = Path(model_path)
        check_model_file(self._path)
        self._system = system_prompt() if system is None else system
        self._threads = _at_least(1, threads, "threads")
        self._max_tokens = _at_least(1, max_tokens, "max_tokens")
        self._context = _at_least(max_tokens + 256, context, "context")
        self._sampling = _sampling(temperature, seed)
        self._bytes_per_token = _BYTES_PER_TOKEN
        self._limiter = anyio.CapacityLimiter(1)
        self._llama: Llama | None = None
        self._decodings: set[Decoding] = set()
        self._closed = False

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        """One clause per item. Closing it stops the model. Raises ModelError, ResponderError."""
        clauses, speakable = Clauses(max_chars=40 * self._max_tokens), ReasoningFilter()
        decoding = self._begin(without_fragments(messages), self._max_tokens)
        try:
            async for piece in decoding:
                for clause in clauses.feed(speakable.feed(piece)):
                    yield clause
            cut_short = await decoding.outcome() == "length" and not clauses.empty
        finally:
            await self._end(decoding)
        for clause in [] if cut_short else [*clauses.feed(speakable.flush()), *clauses.flush()]:
            yield clause
        if clauses.empty and not self._closed:
            raise ResponderError("The language model had nothing to say.", fix="Say it in other words.")

    async def warmup(self) -> None:
        """Load the model and read the system prompt. Raises ModelError, ResponderError."""
        decoding = self._begin([], 0)
        try:
            await decoding.outcome()
        finally:
            await self._end(decoding)

    async def aclose(self) -> None:
        """Stop what is going on and free the model, within 0.4 s; what takes longer ends by itself. Idempotent."""
        self._closed = True
        async with anyio.create_task_group() as tasks:
            for decoding in self._decodings:
                tasks.start_soon(self._end, decoding)
        freeing = Background(self._free, name="freeing the language model").start()
        with anyio.move_on_after(_FREE_LIMIT_S, shield=True):
            await freeing.finished()

    def _begin(self, messages: list[Message], max_tokens: int) -> Decoding:
        if self._closed:
            raise RuntimeError("the responder is closed; make a new one")
        with_system("", messages)  # refuses what is no turn, in the caller's task

        def work(take: Callable[[str], bool]) -> str:
            return self._answer(messages, max_tokens, take)

        decoding = Decoding(work, limiter=self._limiter)
        self._decodings.add(decoding)
        return decoding

    async def _end(self, decoding: Decoding) -> None:
        await decoding.aclose()
        self._decodings.discard(decoding)

    async def _free(self) -> None:
        await to_thread.run_sync(self._drop, limiter=self._limiter)

    # -- in the worker thread, which the limiter keeps to one

    def _drop(self) -> None:
        self._llama = None

    def _answer(self, messages: list[Message], max_tokens: int, take: Callable[[str], bool]) -> str:
        while not take(""):
            if self._llama is None:
                self._llama = Llama(self._path, threads=self._threads, context=self._context)
                continue
            request = with_system(self._system, fitting(messages, self._room()))
            try:
                return self._llama.chat({"messages": request, "max_tokens": max_tokens, **self._sampling}, take)
            except ContextFull as full:
                self._correct(request, full.tokens)
        return ""

    def _room(self) -> int:
        """Bytes for the turns, beside the system prompt and the reply."""
        tokens = self._context - self._max_tokens - _MARGIN
        return max(int(tokens * self._bytes_per_token) - size_of(self._system), 1)

    def _correct(self, request: Sequence[Any], tokens: int) -> None:
        """The model counted `tokens` in a request that was to fit: guess lower."""
        counted = sum(size_of(message["content"]) for message in request) / tokens
        self._bytes_per_token = 0.9 * min(self._bytes_per_token, counted)
        if self._bytes_per_token < 0.1:
            raise ResponderError("The system prompt does not fit into the context.", fix="Make it shorter.")


def _sampling(temperature: float, seed: int | None) -> dict[str, Any]:
    if not 0.0 <= temperature <= 2.0:
        raise SettingError(f"temperature is {temperature:g}.", fix="Choose one from 0 to 2.")
    return {
        "temperature": temperature,
        "top_p": 0.9,
        "dry_multiplier": 0.8,  # against phrases that repeat themselves for ever
        "dry_allowed_length": 4,
        "logit_bias": [[text, False] for text in _UNSPEAKABLE],
        "chat_template_kwargs": {"enable_thinking": False},
        **({} if seed is None else {"seed": seed}),
    }


def _at_least(least: int, value: int, name: str) -> int:
    if value < least:
        raise SettingError(f"{name} is {value}.", fix=f"Choose {least} or more.")
    return value
