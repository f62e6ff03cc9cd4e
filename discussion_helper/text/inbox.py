"""What waits to be processed: a bounded queue that an interrupt can reach into."""

import secrets
from collections import deque
from dataclasses import dataclass

import anyio

from discussion_helper.errors import SettingError
from discussion_helper.text.errors import QueueFullError, SessionError
from discussion_helper.text.inputs import EventContext, InputEvent

__all__ = ["INBOX", "Inbox", "Item", "check_count"]

INBOX = 10_000
"""Events that may wait in one stream."""
_SHOWN = 60
"""Characters of what is no event, in an error."""


def check_count(name: str, value: object) -> None:
    """Raises SettingError unless it is a whole number of 1 or more."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise SettingError(f"{name}: {value!r} is too few, or no number.", fix="Use a whole number from 1.")


def _identified(context: EventContext) -> EventContext:
    return context if context.event_id else EventContext(context.provenance, secrets.token_urlsafe(8))


def _no_event(given: object) -> SettingError:
    """Of a class or a text that was meant as one, the fix is at hand."""
    if isinstance(given, str):
        shown = repr(given) if len(given) <= _SHOWN else f"{given[:_SHOWN]!r}..."
        fix = f"Use UserMessageEvent({shown if len(given) <= _SHOWN else 'text'})."
        return SettingError(f"event: {shown} is a {type(given).__name__}, not an event.", fix=fix)
    if isinstance(given, type):
        what, fix = f"the class {given.__name__} itself", f"Make one: {given.__name__}(...)."
    else:
        what, fix = f"a {type(given).__name__}", "Use UserMessageEvent(text), InterruptEvent(), or an object with both."
    return SettingError(f"event: {what} is not an event: it has no kind, or no EventContext.", fix=fix)


@dataclass(slots=True, eq=False)
class Item:
    """A queued event, and what becomes of it."""

    event: InputEvent
    context: EventContext
    over: bool = False
    error: SessionError | None = None
    _answered: anyio.Event | None = None  # made for who waits, which few do

    @property
    def answered(self) -> anyio.Event:
        """Set once it is over."""
        if self._answered is None:
            self._answered = anyio.Event()
            if self.over:
                self._answered.set()
        return self._answered

    @classmethod
    def of(cls, event: InputEvent) -> "Item":
        """Queue this; it gets an id if it has none. Raises SettingError for what is no event."""
        kind, context = getattr(event, "kind", None), getattr(event, "context", None)
        if not isinstance(kind, str) or not isinstance(context, EventContext):
            raise _no_event(event)
        return cls(event, _identified(event.context))

    def answer(self, error: SessionError | None = None) -> None:
        """It is over, well or with an error; the first answer counts."""
        if not self.over:
            self.over, self.error = True, error
            if self._answered is not None:
                self._answered.set()

    async def answer_of(self) -> None:
        """Wait for it. Raises the error that it is over with."""
        await self.answered.wait()
        if self.error is not None:
            raise self.error


class Inbox:
    """First in, first out. For the event loop's thread."""

    def __init__(self, session_id: str, *, capacity: int = INBOX) -> None:
        """Raises SettingError for a capacity below 1."""
        check_count("inbox", capacity)
        self._session_id = session_id
        self._capacity = capacity
        self._items: deque[Item] = deque()
        self._closed = False

    def put(self, item: Item) -> None:
        """Add one behind the others. Raises QueueFullError."""
        if len(self._items) >= self._capacity:
            raise QueueFullError(self._session_id, len(self._items))
        self._items.append(item)

    def take_all(self) -> list[Item]:
        """Everything that waits; nothing does then."""
        items = list(self._items)
        self._items.clear()
        return items

    def withdraw(self, item: Item) -> bool:
        """Take one out; False if it does not wait (any more)."""
        try:
            self._items.remove(item)
        except ValueError:
            return False
        return True

    def take(self) -> Item | None:
        """The next one; None if there is none, or once it is closed, whatever still waits."""
        return self._items.popleft() if self._items and not self._closed else None

    @property
    def ready(self) -> bool:
        """`take` would give one."""
        return bool(self._items) and not self._closed

    def close(self) -> None:
        """Nothing is given out any more."""
        self._closed = True

    def __len__(self) -> int:
        """Events that wait."""
        return len(self._items)
