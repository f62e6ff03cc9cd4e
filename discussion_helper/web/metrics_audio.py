"""How the audio of sessions by voice is doing: how late it was, and what was lost."""

from collections.abc import Mapping
from typing import Any

from discussion_helper.session import Session
from discussion_helper.voice.health import Health

__all__ = ["AudioMetrics"]

_COUNTED: Mapping[str, str] = {
    "blocks": "Blocks of microphones, 10 ms each, that were worked on.",
    "dropped": "Blocks of either device that found no room on the way to that work.",
    "overflows": "Times that a microphone lost samples.",
    "underflows": "Blocks of loudspeakers that came too late: gaps that can be heard.",
    "losses": "Times that a device went away.",
}
"""Fields of `Health` that only grow."""


class AudioMetrics:
    """Counts of all sessions so far, and the worst lateness of those that are live."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        """`options`: what every metric is made with."""
        from prometheus_client import Counter, Gauge

        self._counters = {name: Counter(f"audio_{name}", about, **options) for name, about in _COUNTED.items()}
        late = "How late blocks of a microphone were worked on, of the live session that is worst."
        self._late = Gauge("audio_late_seconds", late, ["of"], **options)
        self._live: dict[str, tuple[Session, Health]] = {}

    def follow(self, session: Session) -> None:
        """From now on."""
        self._live[session.id] = session, Health()

    def leave(self, session: Session) -> None:
        """It has ended: its counts stay."""
        self._count(session)
        self._live.pop(session.id, None)

    def look(self) -> None:
        """As it is now."""
        found = [self._count(session) for session, _ in tuple(self._live.values())]
        self._late.labels("99%").set(max((health.late_p99_s for health in found), default=0.0))
        self._late.labels("all").set(max((health.late_worst_s for health in found), default=0.0))

    def _count(self, session: Session) -> Health:
        """Add what is new."""
        _, before = self._live.get(session.id, (session, Health()))
        health: Health = before if session.health is None else session.health()
        for name, counter in self._counters.items():
            counter.inc(max(0, getattr(health, name) - getattr(before, name)))
        self._live[session.id] = session, health
        return health
