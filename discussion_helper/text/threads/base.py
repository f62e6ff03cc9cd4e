"""The port of the thread stores, and a thread."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol, Self

import anyio

from discussion_helper.errors import SettingError
from discussion_helper.text.errors import ThreadNotFoundError
from discussion_helper.text.state import State, Turn

__all__ = [
    "Thread",
    "ThreadInfo",
    "ThreadStore",
    "checked_id",
    "checked_metadata",
    "info_of",
    "is_storable",
    "new_id",
    "requested_id",
]

_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_SURROGATE = re.compile("[\\ud800-\\udfff]")
_MOST_METADATA = 1000
_LONGEST_METADATA = 65536


@dataclass(slots=True, eq=False, weakref_slot=True)
class Thread:
    """One conversation as it is stored. Everybody who holds the same thread of a store holds the same object."""

    id: str
    state: State = field(default_factory=State)
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    updated_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    metadata: dict[str, str] = field(default_factory=dict)
    """Set what you like, then `ThreadStore.save`."""
    lock: anyio.Lock = field(default_factory=lambda: anyio.Lock(fast_acquire=True), repr=False)
    """Held by the store while it writes, so that turns of several writers have one order, in memory and stored."""


@dataclass(frozen=True, slots=True)
class ThreadInfo:
    """A stored thread without its turns."""

    id: str
    created_at: datetime
    updated_at: datetime
    metadata: dict[str, str]


class ThreadStore(Protocol):
    """Where threads are. Every method raises StoreBusyError when another process stands in the way.

    Used inside `async with`. As long as somebody holds a thread, `get` and `find` give that same object.
    """

    async def create(self, *, thread_id: str | None = None, metadata: dict[str, str] | None = None) -> Thread:
        """Store a new empty thread. Raises SettingError for a bad id or one that is taken, SaveError."""
        ...

    async def get(self, thread_id: str) -> Thread:
        """The thread with its turns. Raises ThreadNotFoundError (also for a bad id), ThreadCorruptError."""
        ...

    async def find(self, key: str, value: str) -> Thread | None:
        """The oldest thread whose stored metadata has `key` with this very value. Raises ThreadCorruptError."""
        ...

    async def append(self, thread: Thread, turn: Turn) -> None:
        """Make one turn durable, then add it to the thread's state. Raises SaveError; the state is then unchanged.

        Turns that are in memory alone, and metadata, become durable with it. Cancelled before the write has begun,
        nothing is written; once it has begun it is waited for, so that memory and store never differ.
        """
        ...

    async def save(self, thread: Thread) -> None:
        """Make durable whatever of it is not: turns, metadata; `updated_at` advances if there was something.

        Raises SaveError.
        """
        ...

    async def delete(self, thread_id: str) -> bool:
        """Forget a thread; False if it was not there. Whoever still holds it cannot store anything in it."""
        ...

    async def list(self) -> list[ThreadInfo]:
        """All that can be read, the newest change first."""
        ...

    async def aclose(self) -> None:
        """Finish what was begun, release files and connections; idempotent."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *exc_info: object) -> None: ...


def new_id() -> str:
    """A new id that cannot be guessed, of 126 bits or more; it does not begin as an option of a command does."""
    made = secrets.token_urlsafe(16)
    return made if made[0] != "-" else new_id()


def checked_id(thread_id: str) -> str:
    """The id, which is then safe as a file's name. Raises ThreadNotFoundError for what cannot be one."""
    if not isinstance(thread_id, str) or not _ID.fullmatch(thread_id):
        raise ThreadNotFoundError(str(thread_id)[:80])
    return thread_id


def requested_id(thread_id: str) -> str:
    """The id that somebody wants for a new thread. Raises SettingError for what cannot be one."""
    try:
        return checked_id(thread_id)
    except ThreadNotFoundError:
        raise SettingError("thread_id: it cannot be an id.", fix="Use 8 to 64 of A-Z, a-z, 0-9, _ and -.") from None


def info_of(thread: Thread) -> ThreadInfo:
    """The thread without its turns."""
    return ThreadInfo(thread.id, thread.created_at, thread.updated_at, dict(thread.metadata))


def checked_metadata(metadata: object) -> dict[str, str]:
    """A copy. Raises SettingError unless it is a mapping of texts to texts, of a reasonable size."""
    if not isinstance(metadata, Mapping) or len(metadata) > _MOST_METADATA:
        raise SettingError("metadata: it is no mapping, or has too many keys.", fix=f"Use up to {_MOST_METADATA}.")
    for key, value in metadata.items():
        if not is_storable(key) or not is_storable(value):
            what = f"metadata: {str(key)[:40]!r} is not a text with a text of up to {_LONGEST_METADATA} characters."
            raise SettingError(what, fix="Use texts.")
    return dict(metadata)


def is_storable(text: object) -> bool:
    """Whether it can be a key or a value of metadata. Surrogates are no text: no file and no database takes them."""
    return isinstance(text, str) and len(text) <= _LONGEST_METADATA and not _SURROGATE.search(text)
