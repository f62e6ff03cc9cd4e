"""The end of a session that nobody is at any more: no watcher, no client, and nothing that goes on."""

import math
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio

from discussion_helper.background import LET_GO_S, Background
from discussion_helper.clock import now
from discussion_helper.event_loop import start_in
from discussion_helper.session import Session
from discussion_helper.waiters import Waiters
from discussion_helper.web.live import Live

__all__ = ["REASON", "Abandonment", "ended_when_abandoned"]

REASON = "abandoned"
"""What such a session's `ended` says."""
_SIGNS = ("floor", "utterance", "partial", "tool", "interruption")
"""Kinds of events that tell that something goes on, as after a typed turn: of what its clients do, not its devices."""


class Abandonment:
    """The rule: it is due `after_s` after the last watcher went or anything happened, whichever was later."""

    def __init__(self, after_s: float, at_s: float) -> None:
        """`at_s`: now, when it was opened; all times are of one clock."""
        self._after_s = after_s
        self._since_s = at_s
        self._is_watched = False

    def lived(self, at_s: float) -> None:
        """Something happened."""
        self._since_s = at_s

    def watched(self, watchers: int, at_s: float) -> None:
        """There are so many of them now."""
        self._is_watched, self._since_s = watchers > 0, at_s

    @property
    def due_s(self) -> float:
        """When it is abandoned, if nothing changes; infinite while somebody watches."""
        return math.inf if self._is_watched else self._since_s + self._after_s


@asynccontextmanager
async def ended_when_abandoned(opening: AbstractAsyncContextManager[Session], live: Live) -> AsyncIterator[Session]:
    """The session that `opening` gives, which is ended as soon as it is abandoned for `live.limits.abandoned_s`."""
    async with opening as session:
        attending = Background(_Attending(session, live).run, name="who is at a session").start()
        try:
            yield session
        finally:
            await attending.stop(within_s=LET_GO_S)


class _Attending:
    """Follows a session, and who watches it."""

    def __init__(self, session: Session, live: Live) -> None:
        self._session = session
        self._live = live
        self._rule = Abandonment(live.limits.abandoned_s, now())
        self._changed = Waiters()

    async def run(self) -> None:
        """Until it is abandoned, and then ended."""
        with self._live.told_of(self._session.id, self._watched):
            async with anyio.create_task_group() as tasks:
                start_in(tasks, self._follow)
                while (left_s := self._rule.due_s - now()) > 0:
                    with anyio.move_on_after(left_s):
                        await self._changed.wait()
                tasks.cancel_scope.cancel()
        await self._session.stop(reason=REASON)

    def _watched(self, watchers: int) -> None:
        self._rule.watched(watchers, now())
        self._changed.wake()

    async def _follow(self) -> None:
        events = self._session.events(*_SIGNS)
        try:
            async for _ in events:
                self._rule.lived(now())
        finally:
            with anyio.CancelScope(shield=True):
                await events.aclose()
