"""The responder that needs no server: a small language model in this process."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from pathlib import Path
from typing import Any

from discussion_helper.errors import NothingToSay
from discussion_helper.parts import Committed, Reporter
from discussion_helper.responder.base import Clauses
from discussion_helper.responder.called import Called
from discussion_helper.responder.calling import MOMENT_AFTER_S, ROUNDS, Calling, Moment
from discussion_helper.responder.clause_stream import clauses_from
from discussion_helper.responder.decoding import Decoding
from discussion_helper.responder.embedded_model import EmbeddedModel, EmbeddedRequest
from discussion_helper.responder.filler import with_filler
from discussion_helper.responder.history import opened, was_cut, without_fragments
from discussion_helper.responder.phrases import Phrase, one_moment
from discussion_helper.responder.prompt import system_prompt
from discussion_helper.responder.reasoning import ReasoningFilter
from discussion_helper.responder.turns_with_tools import ids_of_calls, with_calls
from discussion_helper.tools.call_pieces import as_object
from discussion_helper.tools.tool import Tool
from discussion_helper.tools.toolbox import Toolbox
from discussion_helper.types import Message

__all__ = ["EmbeddedResponder"]

_UNSPEAKABLE = ("\n", "\n\n", " \n", "*", "**", " **", "#", "`", "```", " `")
"""Tokens the model may not choose: they begin lists, headings and code."""
_UNSPEAKABLE_BESIDE_CALLS = tuple(text for text in _UNSPEAKABLE if text.strip())
"""In the form that most models have for calls there are line breaks."""
_CALL_TOKENS = 128
"""Tokens of an answer that may be a call of a tool, beside the spoken ones."""
_RESULT_CHARS = 1_000
"""Of a tool's result, about 250 tokens of the 2,048 that the context has."""
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
    model has what was heard, and no note. `tools` need a model that was trained to call them, and a chat template that
    knows them: the default model was not, and its template does not.
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
        language: str = "en",
        tools: Iterable[Tool | Callable[..., Any]] = (),
        chat_template: str | None = None,
        moment: Phrase | None = None,
        moment_after_s: float = MOMENT_AFTER_S,
        filler: Phrase = "",
    ) -> None:
        """`system`: None = system_prompt(language). `context`: tokens of conversation and reply. `seed`: None = random.

        `tools`: functions that the model may call. `chat_template`: Jinja text in the place of the model's own.
        `moment`, `moment_after_s`, `filler`: as EndpointResponder has them.
        Nothing is loaded yet. Raises ModelMissing, ModelCorrupt, SettingError.
        """
        self._tools = Toolbox(*tools, max_chars=_RESULT_CHARS)
        self._moment = Moment(one_moment(language) if moment is None else moment, moment_after_s)
        self._filler = filler
        self._reporter: Reporter | None = None
        more = _CALL_TOKENS if self._tools.schemas else 0
        self._model = EmbeddedModel(
            model_path,
            threads=threads,
            context=context,
            max_tokens=max_tokens + more,
            temperature=temperature,
            seed=seed,
            template=chat_template,
        )
        self._system = system_prompt(language) if system is None else system
        unspeakable = _UNSPEAKABLE_BESIDE_CALLS if self._tools.schemas else _UNSPEAKABLE
        self._sampling = {**self._model.sampling, "logit_bias": [[text, False] for text in unspeakable]}
        self._max_tokens = max_tokens + more

    def attach(self, reporter: Reporter) -> None:
        """Take the session, which is told of the tools that are called."""
        self._reporter = reporter

    def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        """One clause per item. Closing it stops the model. Raises ModelError, ResponderError.

        SettingError where there are tools and the model's chat template knows none.
        """
        return self._reply(messages, None)

    def speculate(self, messages: Sequence[Message], committed: Committed) -> AsyncIterator[str]:
        """As `reply`; no tool is called before `committed`."""
        return self._reply(messages, committed)

    async def _reply(self, messages: Sequence[Message], committed: Committed | None) -> AsyncGenerator[str, None]:
        clauses = Clauses(max_chars=40 * self._max_tokens)
        calling = Calling(self._tools, self._moment, self._reporter) if self._tools.schemas else None
        filled = None if calling is None else calling.filled
        async with (
            aclosing(self._rounds(messages, clauses, calling, committed)) as given,
            aclosing(with_filler(given, self._filler, committed=committed, filled=filled)) as said,
        ):
            async for clause in said:
                yield clause
        if clauses.empty and not self._model.closed:
            raise NothingToSay("The language model had nothing to say.", fix="Say it in other words.")

    async def _rounds(
        self, messages: Sequence[Message], clauses: Clauses, calling: Calling | None, committed: Committed | None
    ) -> AsyncGenerator[str, None]:
        """Answers, each but the last one with calls of tools, and what is said while those take their time."""
        later: list[Mapping[str, Any]] = []
        for number in range(ROUNDS + 1):
            used = ids_of_calls(messages) | {call["id"] for turn in later for call in turn.get("tool_calls", ())}
            answer = _Answer(Called(used))
            async with aclosing(self._answer(messages, later, answer, clauses, calls=number < ROUNDS)) as given:
                async for clause in given:
                    yield clause
            calls = answer.called.calls
            if calling is None or not calls or number == ROUNDS:
                return
            if committed is not None:
                await committed.wait()
            async with aclosing(calling.run(calls, spoke=bool(answer.text.strip()))) as meanwhile:
                async for words in meanwhile:
                    yield words
            later += calling.messages(answer.text, calls)

    async def _answer(
        self,
        messages: Sequence[Message],
        later: Sequence[Mapping[str, Any]],
        answer: "_Answer",
        clauses: Clauses,
        *,
        calls: bool,
    ) -> AsyncGenerator[str, None]:
        decoding = self._begin(messages, self._max_tokens, later, calls=calls)
        try:
            async with aclosing(clauses_from(partial(answer.piece, decoding), clauses)) as given:
                async for clause in given:
                    yield clause
            cut_short = await decoding.outcome() == "length" and not clauses.empty
        finally:
            await self._model.end(decoding)
        for clause in [] if cut_short else [*clauses.feed(answer.rest()), *clauses.flush()]:
            yield clause

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

    def _begin(
        self,
        messages: Sequence[Message],
        max_tokens: int,
        later: Sequence[Mapping[str, Any]] = (),
        *,
        calls: bool = True,
    ) -> Decoding:
        offers = self._tools.offers
        told = opened(without_fragments(messages), messages)
        request = EmbeddedRequest(
            messages=[*with_calls(told), *later] if offers else told,
            system=self._system,
            max_tokens=max_tokens,
            reply_tokens=self._max_tokens,
            sampling={**self._sampling, **(_AFTER_A_CUT if was_cut(messages) else {})},
            tools=offers,
            tool_choice="auto" if calls else "none",
        )
        return self._model.begin(request)


class _Answer:
    """What the model gives: text to say, and calls of tools."""

    def __init__(self, called: Called) -> None:
        self.called = called
        self.text = ""
        self._speakable = ReasoningFilter()

    async def piece(self, decoding: Decoding) -> str | None:
        piece = await anext(decoding, None)
        if piece is None:
            return None
        if not isinstance(piece, str):
            for call in piece.calls:
                self.called.feed(as_object(call))
            return ""
        return self._said(self._speakable.feed(piece))

    def rest(self) -> str:
        return self._said(self._speakable.flush())

    def _said(self, text: str) -> str:
        self.text += text
        return text
