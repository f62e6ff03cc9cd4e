"""The responder that asks a server: any endpoint that speaks OpenAI's chat completions."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from discussion_helper.errors import EndpointStalled, ResponderError, SettingError
from discussion_helper.parts import Committed, Reporter
from discussion_helper.responder.base import ChatMessage, Clauses, is_loopback, with_system
from discussion_helper.responder.calling import MOMENT_AFTER_S, Calling, Moment
from discussion_helper.responder.chat_stream import ChatStream
from discussion_helper.responder.endpoint_client import EndpointClient
from discussion_helper.responder.endpoint_reply import EndpointReply
from discussion_helper.responder.filler import with_filler
from discussion_helper.responder.history import opened, with_notes
from discussion_helper.responder.patience import Limits
from discussion_helper.responder.phrases import Phrase, one_moment
from discussion_helper.responder.prompt import system_prompt
from discussion_helper.responder.turns_with_tools import ids_of_calls, with_calls
from discussion_helper.responder.window import Window, told_context
from discussion_helper.tools.tool import Tool
from discussion_helper.tools.toolbox import Toolbox
from discussion_helper.types import Message

__all__ = ["EndpointResponder"]

_WARMUP_LIMIT_S = 5.0
_RESULT_CHARS = 4_000
"""Of a tool's result, about 1,000 tokens: the model is to say it, and it stands in every later request."""
_USAGE = "stream_options"


class EndpointResponder:
    """Answers through OpenAI's own client: OpenAI, Ollama, llama.cpp, vLLM, LM Studio and others.

    What a model thinks, in a field of its own or between `<think>` tags, is never given. It may call `tools`; what they
    gave goes back to it, into the transcript and into later requests. Of a conversation that outgrows the model's
    context the oldest turns are left out, never the system prompt or the newest turn. A request is made once, or
    twice when the endpoint fails (5xx) before it has begun to answer. A server on this machine is never asked
    through a proxy, an endpoint that points elsewhere is not followed, and OpenAI's organisation and project go to
    OpenAI alone.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: str | None = None,
        system: str | None = None,
        options: Mapping[str, Any] | None = None,
        first_token_s: float = 20.0,
        between_s: float = 10.0,
        thinking_s: float = 60.0,
        max_chars: int = 4000,
        language: str = "en",
        tools: Iterable[Tool | Callable[..., Any]] = (),
        moment: Phrase | None = None,
        moment_after_s: float = MOMENT_AFTER_S,
        filler: Phrase = "",
        context: int | None = None,
    ) -> None:
        """`system`: None = system_prompt(language). `options`: more fields of the request, such as `temperature`.

        `tools`: functions that the model may call. `moment`: what is said when they take longer than
        `moment_after_s`; None = "One moment." in `language`, "" = nothing. `filler`: what is said when a reply takes
        longer than a second to begin; "" = nothing. Each of the two may also be what gives the text, asked each time.
        One of the two is said for one wait: no `moment` in the 10 s after a filler, no filler once anything was said.
        `context`: tokens that the model takes; None = what the server tells, else an estimate (see `window`).

        Limits: `first_token_s` from the request to its first text or reasoning, `between_s` between two pieces,
        `thinking_s` from the request, or a piece of text, to the next text when the model reasons, and `max_chars` of
        a reply, after which the stream is closed. Raises SettingError.
        """
        self._server = EndpointClient(base_url=base_url, model=model, api_key=api_key)
        self._system = system_prompt(language) if system is None else system
        self._tools = Toolbox(*tools, max_chars=_RESULT_CHARS)
        self._moment = Moment(one_moment(language) if moment is None else moment, moment_after_s)
        self._filler = filler
        self._window = Window(context, here=is_loopback(self._server.base_url))
        self._options = dict(options or {})
        self._limits = Limits(first_token_s=first_token_s, between_s=between_s, thinking_s=thinking_s)
        if max_chars < 1:
            raise SettingError(f"max_chars is {max_chars}.", fix="Give 1 or more.")
        self._max_chars = max_chars
        self._reporter: Reporter | None = None
        self._asked = False
        self._kept_waiting = False

    def attach(self, reporter: Reporter) -> None:
        """Take the session, which is told of a server that keeps its warm-up waiting."""
        self._reporter = reporter

    def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        """One clause per item; closing it breaks the request off. When the stream breaks, what came is given first.

        Raises EndpointRefused, EndpointUnreachable, EndpointStalled, ResponderError.
        """
        return self._reply(messages, None)

    def speculate(self, messages: Sequence[Message], committed: Committed) -> AsyncIterator[str]:
        """As `reply`; no tool is called before `committed`."""
        return self._reply(messages, committed)

    async def _reply(self, messages: Sequence[Message], committed: Committed | None) -> AsyncGenerator[str, None]:
        self._asked = True
        clauses = Clauses(max_chars=self._max_chars)
        used = ids_of_calls(messages)
        calling = Calling(self._tools, self._moment, self._reporter) if self._tools.schemas else None
        filled = None if calling is None else calling.filled
        reply = EndpointReply(
            lambda later, calls: self._ask(messages, later, used, calls=calls),
            clauses=clauses,
            calling=calling,
            committed=committed,
            answers=self._answers,
            window=self._window,
        )
        async with (
            aclosing(reply.clauses()) as given,
            aclosing(with_filler(given, self._filler, committed=committed, filled=filled)) as said,
        ):
            async for clause in said:
                yield clause
        if clauses.empty:
            raise self._server.errors.empty()

    async def warmup(self) -> None:
        """Ask for the list of models: is anybody there, and is the key good. Five seconds at most.

        Raises EndpointRefused, EndpointUnreachable, EndpointStalled. An endpoint that has no such list is taken as it
        is. In a session, one that keeps it back is reported instead, and nothing is raised once a reply was asked
        for: what is wrong the reply will tell.
        """
        try:
            await self._server.check(within_s=_WARMUP_LIMIT_S)
            if (tokens := told_context(self._server.listed, self._server.model)) is not None:
                self._window.told(tokens)
        except ResponderError as error:
            if self._reporter is None or not (self._asked or isinstance(error, EndpointStalled)):
                raise
            if not self._asked:
                self._kept_waiting = True
                fix = f"{error.what} {error.fix}"
                self._reporter.report("device", which="server", state="slow", reason=error.what, fix=fix)

    async def aclose(self) -> None:
        """Close the connections; idempotent."""
        await self._server.aclose()

    def _answers(self) -> None:
        if self._kept_waiting and self._reporter is not None:
            self._kept_waiting = False
            self._reporter.report("device", which="server", state="answering")

    def _ask(
        self, messages: Sequence[Message], later: Sequence[dict[str, Any]], used: set[str], *, calls: bool
    ) -> ChatStream:
        turns = [*self._turns(messages), *later]
        kept = self._window.fit(self._system, self._tools.offers, turns)
        request = [*({"role": "system", "content": self._system} for _ in [0] if self._system), *kept]
        fields = {**self._options, **self._offered(calls=calls)}
        if self._window.is_near(request):
            fields.setdefault(_USAGE, {"include_usage": True})
        completion = self._server.completion(request, fields, optional=_USAGE)
        seen = {call["id"] for turn in later for call in turn.get("tool_calls", ())}
        return ChatStream(
            completion,
            limits=self._limits,
            used_ids=used | seen,
            counted=lambda tokens: self._window.counted(request, tokens),
        )

    def _turns(self, messages: Sequence[Message]) -> list[ChatMessage]:
        told = opened(with_notes(messages), messages)
        return with_calls(told) if self._tools.schemas else with_system("", told)

    def _offered(self, *, calls: bool) -> dict[str, Any]:
        offers = self._tools.offers
        return {} if not offers else {"tools": offers, **({} if calls else {"tool_choice": "none"})}
