"""One event of a conversation, and the kinds that a watcher may ask for."""

from dataclasses import dataclass, field
from typing import Any

from discussion_helper.errors import SettingError

__all__ = ["COARSE_KINDS", "FINE_KINDS", "Event", "Kinds"]

COARSE_KINDS = ("floor", "utterance", "timing", "ended")
"""What a transcript would show; what a watcher gets who names no kinds."""
FINE_KINDS = ("partial", "decision", "interruption", "attention", "tool", "device", "level", "shed")
"""Only for those who ask."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something worth telling a watcher, as it happens. `data` is JSON-shaped."""

    kind: str
    at_s: float
    data: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def gap(cls, missed: int, following: "Event") -> "Event":
        """What stands in the place of events that a watcher missed."""
        return cls("gap", following.at_s, {"missed": missed})

    def as_dict(self) -> dict[str, Any]:
        """The event as it goes on the wire; a payload key never overwrites `kind` or `at_s`."""
        payload = {key: value for key, value in self.data.items() if key not in ("kind", "at_s")}
        return {"kind": self.kind, "at_s": round(self.at_s, 3), **payload}


class Kinds:
    """The kinds that one watcher gets: those named, the coarse ones when none is, all for "*"; a gap in any case."""

    def __init__(self, *kinds: str) -> None:
        """Raises SettingError for an unknown kind."""
        known = {*COARSE_KINDS, *FINE_KINDS, "gap", "*"}
        for kind in kinds:
            if kind not in known:
                raise SettingError(f"kinds: there is no event kind {kind!r}.", fix=f"Use {', '.join(sorted(known))}.")
        self._all = "*" in kinds
        self._wanted = {*(kinds or COARSE_KINDS), "gap"}

    def accept(self, event: Event) -> bool:
        """Whether the watcher gets it."""
        return self._all or event.kind in self._wanted
