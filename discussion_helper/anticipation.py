"""Getting a responder ready for what the user has probably said, while it is not yet certain that it is all."""

from collections.abc import Sequence
from functools import partial

from discussion_helper.background import LET_GO_S, Background
from discussion_helper.parts import Anticipates, Responder
from discussion_helper.types import Message

__all__ = ["Anticipation"]


class Anticipation:
    """At most one at a time. It is thrown away when something else comes, and what it fails with is not told."""

    def __init__(self, responder: Responder) -> None:
        self._responder = responder
        self._messages: list[Message] = []
        self._running: Background[None] | None = None

    def begin(self, messages: Sequence[Message]) -> None:
        """Get ready for these messages, where the responder can; nothing if that was begun already."""
        if not isinstance(self._responder, Anticipates) or self._messages == list(messages):
            return
        self._cancel()
        self._messages = list(messages)
        self._running = Background(partial(self._responder.anticipate, messages), name="getting ready").start()

    async def settle(self, messages: Sequence[Message]) -> None:
        """The messages are these: work on others is stopped, within 0.05 s; work on these goes on beside the reply."""
        if self._messages != list(messages):
            await self.stop()
        self._messages = []

    async def stop(self) -> None:
        """Stop what is going on, within 0.05 s; idempotent."""
        running, self._running, self._messages = self._running, None, []
        if running is not None and running.running:
            await running.stop(within_s=LET_GO_S)

    def _cancel(self) -> None:
        if self._running is not None and self._running.running:
            self._running.cancel()
