"""What a server tells of its sessions, as values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from discussion_helper.client.errors import ServerError
from discussion_helper.types import Floor, TurnTiming, Utterance

__all__ = ["Accepted", "Rotated", "SessionState", "StoredThread", "StoredTurn", "ThreadHead", "Transcript", "value_of"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SessionState:
    """A session at one moment. What a session of its kind does not have is empty."""

    id: str
    kind: str
    """By voice, or in text."""
    running: bool
    floor: Floor
    elapsed_s: float
    """Since it started."""
    utterances: tuple[Utterance, ...]
    timings: tuple[TurnTiming, ...]
    interruption_rate: float
    title: str = ""
    """The first words that were said, in one line; else how the id begins."""
    transport: str = ""
    """How it was opened, where the server says so: local, remote or fake."""
    thread_id: str = ""
    """Of a session by voice: the thread that keeps what is said; "" = nothing is kept."""
    turn_policy: str = ""
    attention: str = ""
    microphone: str = ""
    pending: int = 0
    """Messages of a text session that wait."""
    reason: str = ""
    """Why it ended."""
    error: str = ""
    """What it failed with."""
    told: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """All of it, as the server told it."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """A turn that was typed. `event_id`: in the context of all that a text session makes of it; "" by voice."""

    event_id: str = ""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A session that was ended."""

    id: str
    utterances: tuple[Utterance, ...]
    timings: tuple[TurnTiming, ...]
    interruption_rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadHead:
    """A conversation that is kept."""

    id: str
    created_at: datetime
    updated_at: datetime
    turn_count: int = 0
    first: str = ""
    """The user's first words."""
    error: str = ""
    """Why its turns cannot be read."""


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """One of its turns."""

    role: str
    """user, assistant or tool."""
    at: datetime
    artifacts: tuple[Mapping[str, Any], ...]
    """Each with its `kind`, as in the events of a text session."""
    interrupted: bool = False
    answered: bool = True
    """False of a question that has no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredThread(ThreadHead):
    """The same with what was said. `metadata` has as `system` what its model is told beforehand, if it has its own."""

    metadata: Mapping[str, str]
    turns: tuple[StoredTurn, ...]


@dataclass(frozen=True, slots=True)
class Rotated:
    """The server's new token."""

    token: str = field(repr=False)


def value_of(shape: type[T], told: Any) -> T:
    """What the server told, checked. Raises ServerError that names the first field of another form."""
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(shape).validate_python({**told, "told": told} if shape is SessionState else told)
    except (ValidationError, TypeError) as error:
        where = "it is no object"
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            where = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        fix = "See whether it is a server of this program, and of this version."
        raise ServerError(f"The server's answer has another form ({where}).", fix=fix) from None
