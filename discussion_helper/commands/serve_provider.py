"""The responder of voice sessions as the provider of text ones."""

from collections.abc import AsyncIterator, Callable

import anyio

from discussion_helper.iteration import closing
from discussion_helper.parts import Responder
from discussion_helper.text.artifacts import Artifact, TextDelta
from discussion_helper.text.providers.base import Option
from discussion_helper.text.state import State
from discussion_helper.types import Message

__all__ = ["ResponderProvider"]

_CLOSE_REPLY_S = 0.25


class ResponderProvider:
    """A `Provider`: each sentence is a piece of the text. One answer at a time; the others wait for their turn."""

    def __init__(self, make: Callable[[], Responder]) -> None:
        """`make` is called in a thread, with the first message: nothing is loaded before."""
        self._make = make
        self._responder: Responder | None = None
        self._thread = anyio.CapacityLimiter(1)
        self._free = anyio.Semaphore(1)  # unlike a lock it may be given back by whichever task closes the iterator

    async def invoke(self, state: State, *options: Option) -> AsyncIterator[Artifact]:  # noqa: ARG002 - knows none
        """The answer's sentences. Raises what the responder raises."""
        async with self._free:
            if self._responder is None:
                self._responder = await anyio.to_thread.run_sync(self._make, limiter=self._thread)
            space = ""
            async with closing(self._responder.reply(_messages(state)), within_s=_CLOSE_REPLY_S) as sentences:
                async for sentence in sentences:
                    yield TextDelta(space + sentence)
                    space = " "

    async def aclose(self) -> None:
        """Release the responder, if there is one."""
        if self._responder is not None:
            await self._responder.aclose()


def _messages(state: State) -> list[Message]:
    return [
        Message(role="user" if turn.role == "user" else "assistant", content=turn.text)
        for turn in state.turns
        if turn.role in ("user", "assistant") and turn.text
    ]
