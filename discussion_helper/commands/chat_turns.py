"""What the person at a chat can do to its stream: send, cancel, interrupt."""

import secrets
from contextlib import suppress
from typing import Protocol

from discussion_helper.clock import now
from discussion_helper.commands.chat_state import ChatState
from discussion_helper.errors import DiscussionError
from discussion_helper.text.errors import SessionClosedError
from discussion_helper.text.inputs import EventContext, InputEvent, InterruptEvent, UserMessageEvent

__all__ = ["AGAIN_S", "LONGEST_MESSAGE", "PROVENANCE", "ChatTurns"]

AGAIN_S = 1.0
"""A second Esc within this time interrupts."""
LONGEST_MESSAGE = 1_000_000
"""Characters."""
PROVENANCE = "chat"


class _Stream(Protocol):
    def submit(self, event: InputEvent) -> None: ...
    def cancel(self) -> None: ...


class ChatTurns:
    """Nothing here waits. What is refused is told in the chat."""

    def __init__(self, stream: _Stream, state: ChatState) -> None:
        self._stream = stream
        self._state = state
        self._asked_s = float("-inf")

    def send(self, text: str) -> bool:
        """Queue a message; False when it was not taken."""
        text = text.encode("utf-8", "replace").decode()
        if len(text) > LONGEST_MESSAGE:
            self._state.remark(f"That is longer than {LONGEST_MESSAGE} characters. Send it in parts.", problem=True)
            return False
        context = EventContext(PROVENANCE, secrets.token_urlsafe(8))
        try:
            self._stream.submit(UserMessageEvent(text, context))
        except DiscussionError as refused:
            self._state.remark(str(refused), problem=True)
            return False
        self._state.sent(context.event_id, text)
        return True

    def escape(self) -> None:
        """Cancel the turn that runs; soon after that, forget what waits too. Nothing when there is neither."""
        if not (self._state.running or self._state.waiting):
            return
        again, self._asked_s = now() - self._asked_s <= AGAIN_S, now()
        with suppress(SessionClosedError):  # the chat is being left
            if not again:
                self._stream.cancel()
                return
            self._stream.submit(InterruptEvent(EventContext(PROVENANCE)))
            self._state.dropped()
