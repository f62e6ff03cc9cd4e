"""What a stream takes: user messages, interrupts, and events of kinds it does not know, which fail."""

from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from discussion_helper.errors import SettingError

__all__ = ["EventContext", "InputEvent", "InterruptEvent", "UserMessageEvent"]


@dataclass(frozen=True, slots=True)
class EventContext:
    """Where an event comes from, and which one it is; everything that it causes carries the same."""

    provenance: str = ""
    """Whose it is: a platform skips what it sent itself."""
    event_id: str = ""
    """Given when it is queued, if it has none."""


class InputEvent(Protocol):
    """Anything with a kind and a context can be queued."""

    @property
    def kind(self) -> str:
        """Its name on the wire."""
        ...

    @property
    def context(self) -> EventContext:
        """Where it comes from."""
        ...


@dataclass(frozen=True, slots=True)
class UserMessageEvent:
    """The user said something. Raises SettingError for content that is no text."""

    content: str
    context: EventContext = field(default_factory=EventContext)
    kind: ClassVar[str] = "user_message"

    def __post_init__(self) -> None:
        if not isinstance(self.content, str):
            raise SettingError(f"content: a {type(self.content).__name__} is not a text.", fix="Use a string.")


@dataclass(frozen=True, slots=True)
class InterruptEvent:
    """Stop what runs, and forget what waits."""

    context: EventContext = field(default_factory=EventContext)
    kind: ClassVar[str] = "interrupt"
