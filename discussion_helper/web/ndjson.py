"""One message's turn, as lines of JSON that end when it is over."""

from collections.abc import AsyncGenerator
from typing import Any

from discussion_helper.events import DropNewest, Subscription
from discussion_helper.failures import told
from discussion_helper.text.errors import ProcessError
from discussion_helper.text.inbox import Item
from discussion_helper.text.inputs import UserMessageEvent
from discussion_helper.text.outputs import ErrorEvent, LifecycleEvent, OutputEvent, as_wire, is_droppable
from discussion_helper.text.stream import Stream
from discussion_helper.web.encoding import encoded
from discussion_helper.web.followed import HELD

__all__ = ["USUAL_KINDS", "TurnStream"]

USUAL_KINDS = frozenset(
    ("text", "reasoning", "tool_call", "tool_result", "turn_complete", "error", "properties", "lifecycle")
)
"""What a message's turn is told with when no kinds are asked for: no deltas."""


class TurnStream:
    """A `Lasting` answer, whose watcher may leave: the turn goes on.

    What fails is told in one error line, a turn that was cancelled in a line of the phase `cancelled`, and `done` is
    the last line, whatever the kinds.
    """

    media_type = "application/x-ndjson"

    def __init__(self, stream: Stream, message: UserMessageEvent, kinds: frozenset[str]) -> None:
        """`message` must have an event id of its own, by which its turn is known."""
        self._stream = stream
        self._message = message
        self._kinds = kinds
        self._output: Subscription[OutputEvent] | None = None
        self._item: Item | None = None
        self._failed = self._done = False

    @property
    def dropped(self) -> int:
        """Events that were lost: a `gap` tells of them."""
        return 0 if self._output is None else self._output.dropped

    def begin(self) -> None:
        """Subscribe, then queue the message. Raises SessionClosedError and QueueFullError."""
        droppable: DropNewest[OutputEvent] = DropNewest(is_droppable)
        self._output = self._stream.hub.subscribe_as(self._select, overflow=droppable, capacity=HELD)
        self._item = self._stream.enqueue(self._message)

    def _select(self, event: OutputEvent) -> OutputEvent | None:
        own = event.context.event_id == self._message.context.event_id
        return event if own and (event.kind in self._kinds or _is_unasked(event)) else None

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The turn's lines, until it is answered."""
        assert self._output is not None
        missed = 0
        async for event in self._output:
            if self._output.dropped > missed:
                yield _line({"kind": "gap", "missed": self._output.dropped - missed})
                missed = self._output.dropped
            self._failed = self._failed or isinstance(event, ErrorEvent)
            self._done = self._done or _is_done(event)
            line = as_wire(event)
            if line is not None:
                yield _line(line)
        for untold in self._untold():
            yield _line(untold)

    async def beside(self) -> None:
        """No more comes once the message is answered; of one that an interrupt dropped nothing came at all."""
        assert self._output is not None
        assert self._item is not None
        await self._item.answered.wait()
        self._output.finish()

    def _untold(self) -> list[dict[str, Any]]:
        """What the stream did not tell, since the message never had its turn."""
        context = {"event_id": self._message.context.event_id}
        lines: list[dict[str, Any]] = []
        if self._done:
            return lines
        error = self._item.error if self._item is not None else None
        if error is not None and not self._failed:
            reason = error.reason if isinstance(error, ProcessError) else error
            lines.append({"kind": "error", "message": told(reason), "context": context})
        return [*lines, {"kind": "lifecycle", "phase": "done", "context": context}]

    async def aclose(self) -> None:
        """Leave the stream."""
        if self._output is not None:
            await self._output.aclose()


def _is_unasked(event: OutputEvent) -> bool:
    """Without it the end could not be told from an answer."""
    return isinstance(event, ErrorEvent) or (isinstance(event, LifecycleEvent) and event.phase in ("cancelled", "done"))


def _is_done(event: OutputEvent) -> bool:
    return isinstance(event, LifecycleEvent) and event.phase == "done"


def _line(content: dict[str, Any]) -> bytes:
    return encoded(content) + b"\n"
