"""The registry: every conversation this process is holding, in memory."""

from collections.abc import Callable
from functools import partial
from typing import Any, Generic, Protocol, Self, TypeVar

import anyio

from discussion_helper.clock import SessionClock, now
from discussion_helper.event_loop import start_in
from discussion_helper.events import DropOldest, Event, EventHub, Subscription
from discussion_helper.types import Conversation, Floor

__all__ = ["KEPT_S", "LOOK_EVERY_S", "Running", "Sessions"]

KEPT_S = 600.0
"""How long an ended session stays readable: long enough for a page to be reloaded."""


LOOK_EVERY_S = 1.0
"""How often adding a session looks for old ones: looking at every one of 10,000 for each that comes takes minutes."""


class Running(Protocol):
    """What the registry holds."""

    id: str
    started: bool

    @property
    def hub(self) -> EventHub[Any]:
        """Where its events are published; closed at its end."""
        ...

    @property
    def ended(self) -> bool:
        """Over, and everything released."""
        ...

    @property
    def floor(self) -> Floor:
        """Who has the floor."""
        ...

    @property
    def title(self) -> str:
        """What it is called in a list; never empty."""
        ...

    @property
    def state(self) -> dict[str, Any]:
        """All that a watcher needs to catch up."""
        ...

    def start(self) -> Self:
        """Begin in the background."""
        ...

    def events(self, *kinds: str) -> Subscription[Event]:
        """Follow from this call on."""
        ...

    async def interrupt(self) -> bool:
        """Cut the reply."""
        ...

    async def stop(self) -> Conversation:
        """End it."""
        ...

    async def wait(self) -> Conversation:
        """Wait for the end."""
        ...


R = TypeVar("R", bound=Running)


class Sessions(Generic[R]):
    """In memory on purpose: a session is a microphone as much as a transcript, and neither survives a restart."""

    def __init__(self, *, kept_s: float = KEPT_S) -> None:
        """`kept_s`: how long an ended session stays readable."""
        self._kept_s = kept_s
        self._sessions: dict[str, R] = {}
        self._seen_ended: dict[str, float] = {}
        self._next_look = 0.0
        self._added: list[Callable[[R], object]] = []
        self.clock = SessionClock()
        """Seconds since the first session came."""
        self.hub: EventHub[Event] = EventHub(overflow=DropOldest(Event.gap))
        """Tells `opened` and `ended` of every session, with its `id` and its `title` of then. It stays open."""

    def add(self, session: R) -> R:
        """Register a session and return it, in the place of an ended one of its id.

        Raises ValueError when another live one has it.
        """
        if now() >= self._next_look:
            self._forget_old()
        known = self._sessions.get(session.id)
        held = session if known is None else known
        if held is not session and not held.ended:
            raise ValueError(f"id: another session is already called {session.id}")
        self._seen_ended.pop(session.id, None)
        if held is not session:
            del self._sessions[session.id]  # the new one is the last one
        self._sessions[session.id] = session
        for tell in tuple(self._added):
            tell(session)
        if session is not known and not session.ended:
            self.clock.start()
            self._tell("opened", session)
            session.hub.at_close(partial(self._tell, "ended", session))
        return session

    def tell_added(self, tell: Callable[[R], object]) -> Callable[[], None]:
        """Have `tell` called with each session that is added from now on; it must not raise. Returns its remover."""
        self._added.append(tell)

        def remove() -> None:
            if tell in self._added:
                self._added.remove(tell)

        return remove

    def _tell(self, kind: str, session: R) -> None:
        self.hub.publish(Event(kind, self.clock.now(), {"id": session.id, "title": session.title}))

    def get(self, session_id: str) -> R | None:
        """The session with that id, live or ended not long ago; None if unknown."""
        session = self._sessions.get(session_id)
        if session is not None and self._is_old(session):
            self._forget_old()
        return self._sessions.get(session_id)

    def ids(self) -> list[str]:
        """The live ones, in the order they were added."""
        self._forget_old()
        return [key for key, session in self._sessions.items() if not session.ended]

    async def remove(self, session_id: str) -> Conversation | None:
        """Stop a session and forget it; None if unknown."""
        session = self._sessions.get(session_id)
        if session is None:
            return None
        conversation = await session.stop()
        if self._sessions.get(session_id) is session:  # not one that took its place meanwhile
            del self._sessions[session_id]
            self._seen_ended.pop(session_id, None)
        return conversation

    async def aclose(self) -> None:
        """Stop all at the same time; one that hangs or fails keeps no other one's microphone open. Idempotent.

        Raises ExceptionGroup when some could not be stopped.
        """
        failures: list[Exception] = []
        async with anyio.create_task_group() as tasks:
            for session in tuple(self._sessions.values()):
                start_in(tasks, _stop, session, failures)
        if failures:
            raise ExceptionGroup("some sessions could not be stopped", failures)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        with anyio.CancelScope(shield=True):
            await self.aclose()

    def __len__(self) -> int:
        """How many are live."""
        return len(self.ids())

    def __contains__(self, session_id: object) -> bool:
        return isinstance(session_id, str) and self.get(session_id) is not None

    def _forget_old(self) -> None:
        """Done when the registry is used, so that idle sessions need no timer; it looks at all of them."""
        self._next_look = now() + LOOK_EVERY_S
        for key, session in tuple(self._sessions.items()):
            if self._is_old(session):
                del self._sessions[key], self._seen_ended[key]

    def _is_old(self, session: R) -> bool:
        return session.ended and now() - self._seen_ended.setdefault(session.id, now()) > self._kept_s


async def _stop(session: Running, failures: list[Exception]) -> None:
    try:
        await session.stop()
    except Exception as failure:
        failures.append(failure)
