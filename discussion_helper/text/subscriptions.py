"""The subscriptions to a stream: to its output, or to the events that every session has."""

from discussion_helper.errors import SettingError
from discussion_helper.event import Event, Kinds
from discussion_helper.events import Block, DropNewest, DropOldest, EventHub, Subscription
from discussion_helper.text.inbox import check_count
from discussion_helper.text.outputs import ClosedEvent, OutputEvent, is_droppable
from discussion_helper.text.watching import Watching
from discussion_helper.types import Floor

__all__ = ["Subscriptions"]


class Subscriptions:
    """Gives them, with the stream's buffer and overflow to who names none."""

    __slots__ = ("_buffer", "_hub", "_overflow")

    def __init__(self, hub: EventHub[OutputEvent], buffer: int, overflow: str) -> None:
        """Raises SettingError for a buffer below 1, and for an overflow other than "drop" and "block"."""
        check_count("buffer", buffer)
        self._hub = hub
        self._buffer = buffer
        self._overflow = _checked(overflow)

    def output(self, *kinds: str, buffer: int | None, overflow: str | None) -> Subscription[OutputEvent]:
        """No kinds = all. Raises SettingError for the same."""
        wanted, held = frozenset(kinds), self._buffer if buffer is None else buffer
        check_count("buffer", held)

        def select(event: OutputEvent) -> OutputEvent | None:
            return event if event.kind in wanted and not isinstance(event, ClosedEvent) else None

        blocks = _checked(overflow or self._overflow) == "block"
        policy = Block(is_droppable) if blocks else DropNewest(is_droppable)
        return self._hub.subscribe_as(select if wanted else _unless_closed, overflow=policy, capacity=held)

    def events(self, *kinds: str, floor: Floor) -> Subscription[Event]:
        """From a moment on at which this is the floor. No kinds = the coarse ones, "*" = all. Raises SettingError."""
        wanted, watching = Kinds(*kinds), Watching(floor)

        def select(output: OutputEvent) -> Event | None:
            event = watching.event_of(output)
            return event if event is not None and wanted.accept(event) else None

        return self._hub.subscribe_as(select, overflow=DropOldest(Event.gap), capacity=self._buffer)


def _unless_closed(event: OutputEvent) -> OutputEvent | None:
    return None if isinstance(event, ClosedEvent) else event


def _checked(overflow: str) -> str:
    if overflow not in ("drop", "block"):
        raise SettingError(f"overflow: {overflow!r} is none.", fix='Use "drop" or "block".')
    return overflow
