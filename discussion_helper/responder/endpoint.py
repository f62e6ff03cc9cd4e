"""The responder that asks a server: any endpoint that speaks OpenAI's chat completions."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from discussion_helper.errors import EndpointStalled, ResponderError, SettingError
from discussion_helper.parts import Committed, Reporter
from discussion_helper.responder.base import Clauses, with_system
from discussion_helper.responder.chat_stream import ChatStream
from discussion_helper.responder.clause_stream import clauses_from
from discussion_helper.responder.endpoint_client import EndpointClient
from discussion_helper.responder.history import with_notes
from discussion_helper.responder.patience import Limits
from discussion_helper.responder.prompt import system_prompt
from discussion_helper.types import Message

__all__ = ["EndpointResponder"]

_WARMUP_LIMIT_S = 5.0


class EndpointResponder:
    """Answers through OpenAI's own client: OpenAI, Ollama, llama.cpp, vLLM, LM Studio and others.

    What a model thinks, in a field of its own or between `<think>` tags, is never given. A request is made once, or
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
    ) -> None:
        """`system`: None = system_prompt(). `options`: more fields of the request, such as `temperature`.

        Limits: `first_token_s` from the request to its first text or reasoning, `between_s` between two pieces,
        `thinking_s` from the request, or a piece of text, to the next text when the model reasons, and `max_chars` of
        a reply, after which the stream is closed. Raises SettingError.
        """
        self._server = EndpointClient(base_url=base_url, model=model, api_key=api_key)
        self._system = system_prompt() if system is None else system
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

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        """One clause per item; closing it breaks the request off. When the stream breaks, what came is given first.

        Raises EndpointRefused, EndpointUnreachable, EndpointStalled, ResponderError.
        """
        self._asked = True
        clauses = Clauses(max_chars=self._max_chars)
        failure: ResponderError | None = None
        stream = self._ask(messages)
        try:
            async with aclosing(clauses_from(partial(self._piece, stream), clauses)) as given:
                async for clause in given:
                    yield clause
        except ResponderError as error:
            failure = error
        finally:
            await stream.aclose()
        for clause in clauses.flush():
            yield clause
        if failure is not None:
            raise failure
        if clauses.empty:
            raise self._server.errors.empty()

    def speculate(self, messages: Sequence[Message], committed: Committed) -> AsyncIterator[str]:  # noqa: ARG002
        """As `reply`: it does nothing but answer."""
        return self.reply(messages)

    async def warmup(self) -> None:
        """Ask for the list of models: is anybody there, and is the key good. Five seconds at most.

        Raises EndpointRefused, EndpointUnreachable, EndpointStalled. An endpoint that has no such list is taken as it
        is. In a session, one that keeps it back is reported instead, and nothing is raised once a reply was asked
        for: what is wrong the reply will tell.
        """
        try:
            await self._server.check(within_s=_WARMUP_LIMIT_S)
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

    async def _piece(self, stream: ChatStream) -> str | None:
        if piece := await stream.piece():
            self._answers()
        return piece or None

    def _answers(self) -> None:
        if self._kept_waiting and self._reporter is not None:
            self._kept_waiting = False
            self._reporter.report("device", which="server", state="answering")

    def _ask(self, messages: Sequence[Message]) -> ChatStream:
        completion = self._server.completion(list(with_system(self._system, with_notes(messages))), self._options)
        return ChatStream(completion, limits=self._limits)
