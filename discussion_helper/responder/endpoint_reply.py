"""One reply of an endpoint: asked, given in clauses, and asked again with what the tools gave that it called."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any

from discussion_helper.errors import ResponderError
from discussion_helper.parts import Committed
from discussion_helper.responder.base import Clauses
from discussion_helper.responder.calling import ROUNDS, Calling
from discussion_helper.responder.chat_stream import ChatStream
from discussion_helper.responder.clause_stream import clauses_from
from discussion_helper.responder.endpoint_errors import TooMuchContext
from discussion_helper.responder.window import Window

__all__ = ["EndpointReply"]

_Ask = Callable[[Sequence[dict[str, Any]], bool], ChatStream]


class EndpointReply:
    """`clauses` is to be iterated once."""

    def __init__(
        self,
        ask: _Ask,
        *,
        clauses: Clauses,
        calling: Calling | None,
        committed: Committed | None,
        answers: Callable[[], None],
        window: Window,
    ) -> None:
        """`ask` makes a request with these messages behind the conversation, and whether tools may be called.

        `committed`: nothing is called before that. `answers` is told of every piece that comes.
        """
        self._ask = ask
        self._clauses = clauses
        self._calling = calling
        self._committed = committed
        self._answers = answers
        self._window = window
        self._later: list[dict[str, Any]] = []

    async def clauses(self) -> AsyncGenerator[str, None]:
        """One clause per item, and what is said while a tool takes its time. Raises ResponderError."""
        rounds = 0
        while True:
            stream = self._ask(self._later, rounds < ROUNDS)
            try:
                async with aclosing(self._answer(stream)) as answer:
                    async for clause in answer:
                        yield clause
            except TooMuchContext:
                if not self._window.refused():
                    raise
                continue
            calls = stream.calls if rounds < ROUNDS else ()
            if self._calling is None or not calls or self._clauses.full:
                return
            rounds += 1
            if self._committed is not None:
                await self._committed.wait()
            async with aclosing(self._calling.run(calls, spoke=bool(stream.text.strip()))) as meanwhile:
                async for words in meanwhile:
                    yield words
            self._later += self._calling.messages(stream.text, calls)

    async def _answer(self, stream: ChatStream) -> AsyncGenerator[str, None]:
        """When the stream breaks, what came is given first."""
        failure: ResponderError | None = None

        async def piece() -> str | None:
            text = await stream.piece()
            if text:
                self._answers()
            return text or None

        try:
            async with aclosing(clauses_from(piece, self._clauses)) as given:
                async for clause in given:
                    yield clause
        except ResponderError as error:
            failure = error
        finally:
            await stream.aclose()
        for clause in self._clauses.flush():
            yield clause
        if failure is not None:
            raise failure
