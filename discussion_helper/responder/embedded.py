"""The responder that needs no server: a small language model in this process."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path

from discussion_helper.errors import ResponderError
from discussion_helper.parts import Committed
from discussion_helper.responder.base import Clauses
from discussion_helper.responder.clause_stream import clauses_from
from discussion_helper.responder.decoding import Decoding
from discussion_helper.responder.embedded_model import EmbeddedModel, EmbeddedRequest
from discussion_helper.responder.history import was_cut, without_fragments
from discussion_helper.responder.prompt import system_prompt
from discussion_helper.responder.reasoning import ReasoningFilter
from discussion_helper.types import Message

__all__ = ["EmbeddedResponder"]

_UNSPEAKABLE = ("\n", "\n\n", " \n", "*", "**", " **", "#", "`", "```", " `")
"""Tokens the model may not choose: they begin lists, headings and code."""
_AFTER_A_CUT = {"dry_allowed_length": 2, "dry_multiplier": 2.0}
"""After a reply that was cut repeated words cost more, for the default model likes to begin again with what was heard,
and does so the more when it is told not to. Of 20 cut replies, three times each, the words of the next reply without
the little ones were heard ones for 0.17, and groups of three for 0.04; without this for 0.18 and 0.06, with a note for
0.34 and 0.18 (once each). One had been "The largest animal is the blue whale." again when asked what it eats."""


class EmbeddedResponder:
    """Answers with a GGUF model through llama.cpp, one reply at a time.

    The defaults are for SmolLM2-135M-Instruct: little randomness, no repeated phrases, no Markdown, 72 tokens (about
    55 words) a reply; a sentence that the limit cuts short is left out unless it is the only one. When the
    conversation outgrows the context, its oldest turns are left out (see history.fitting). Of a reply that was cut the
    model has what was heard, and no note.
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
        self._model = EmbeddedModel(
            model_path, threads=threads, context=context, max_tokens=max_tokens, temperature=temperature, seed=seed
        )
        self._system = system_prompt() if system is None else system
        self._sampling = {**self._model.sampling, "logit_bias": [[text, False] for text in _UNSPEAKABLE]}
        self._max_tokens = max_tokens

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        """One clause per item. Closing it stops the model. Raises ModelError, ResponderError."""
        clauses, speakable = Clauses(max_chars=40 * self._max_tokens), ReasoningFilter()
        decoding = self._begin(messages, self._max_tokens)
        try:
            async with aclosing(clauses_from(partial(_piece, decoding, speakable), clauses)) as given:
                async for clause in given:
                    yield clause
            cut_short = await decoding.outcome() == "length" and not clauses.empty
        finally:
            await self._model.end(decoding)
        for clause in [] if cut_short else [*clauses.feed(speakable.flush()), *clauses.flush()]:
            yield clause
        if clauses.empty and not self._model.closed:
            raise ResponderError("The language model had nothing to say.", fix="Say it in other words.")

    def speculate(self, messages: Sequence[Message], committed: Committed) -> AsyncIterator[str]:  # noqa: ARG002
        """As `reply`: it does nothing but answer."""
        return self.reply(messages)

    async def warmup(self) -> None:
        """Load the model and read the system prompt. Raises ModelError, ResponderError."""
        await self.anticipate([])

    async def anticipate(self, messages: Sequence[Message]) -> None:
        """Read these messages; a reply to them then begins some 0.2 s earlier. Raises ModelError, ResponderError."""
        decoding = self._begin(messages, 0)
        try:
            await decoding.outcome()
        finally:
            await self._model.end(decoding)

    async def aclose(self) -> None:
        """Stop what is going on and free the model, within 0.4 s; what takes longer ends by itself. Idempotent."""
        await self._model.aclose()

    def _begin(self, messages: Sequence[Message], max_tokens: int) -> Decoding:
        request = EmbeddedRequest(
            messages=without_fragments(messages),
            system=self._system,
            max_tokens=max_tokens,
            reply_tokens=self._max_tokens,
            sampling={**self._sampling, **(_AFTER_A_CUT if was_cut(messages) else {})},
        )
        return self._model.begin(request)


async def _piece(decoding: Decoding, speakable: ReasoningFilter) -> str | None:
    piece = await anext(decoding, None)
    return None if piece is None else speakable.feed(piece if isinstance(piece, str) else "")
