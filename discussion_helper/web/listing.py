"""The sessions of a server, as they are opened and end, for one watcher."""

from typing import Any

from discussion_helper.events import Backlog, Event, EventHub, Following, Numbered
from discussion_helper.registry import Sessions
from discussion_helper.web.followed import HELD, Missed

__all__ = ["Listing"]


class Listing:
    """A `Followed`: `opened` and `ended`, each with the session's `id` and the `title` that it has then.

    Its state are the ids that are open, and their titles.
    """

    def __init__(self, sessions: Sessions[Any], *, most_bytes: int) -> None:
        self._sessions = sessions
        self._most_bytes = most_bytes

    @property
    def hub(self) -> EventHub[Event]:
        """See `Followed`."""
        return self._sessions.hub

    def follow(self, after: int | None = None) -> Following[Numbered[Any]] | None:
        """See `Followed`."""
        backlog: Backlog[Numbered[Any]] = Backlog(items=HELD, weight=self._most_bytes)
        return self._sessions.hub.follow(_whole, backlog=backlog, gap=Missed, after=after)

    def rendered(self, item: Event | Missed) -> list[dict[str, Any]]:
        """See `Followed`."""
        return [item.as_dict()]

    def snapshot(self) -> dict[str, Any]:
        """See `Followed`."""
        ids = self._sessions.ids()
        open_now = [session for each in ids if (session := self._sessions.get(each)) is not None]
        titles = {session.id: session.title for session in open_now}
        return {"at_s": round(self._sessions.clock.now(), 3), "sessions": ids, "titles": titles}


def _whole(event: Event) -> Any:
    return event
