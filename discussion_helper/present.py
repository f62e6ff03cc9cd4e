"""What goes on in a session at this moment, beside its transcript."""

from collections import deque
from typing import Any

from discussion_helper.event import Event
from discussion_helper.tool_use import ToolUse
from discussion_helper.types import Floor

__all__ = ["DECISIONS_KEPT", "FAULTS", "Present"]

DECISIONS_KEPT = 50
"""Newest decisions that a watcher who comes now is told of."""
FAULTS = ("lost", "hanging", "silent", "slow")
"""States of a device in which something is wrong with it."""

_SILENT = (Floor.LISTENING.value, Floor.IDLE.value)


class Present:
    """Folded from the session's events as a page does it: who comes now knows what one knows who was there."""

    def __init__(self) -> None:
        self.attention = ""
        """What the last event of that kind told; "" where there was none, or it is over."""
        self.microphone = ""
        """State in its last `device` event; "" = there was none."""
        self.client = ""
        """Whether one is at its microphone, "here" or "away"; "" where that is no client's."""
        self._decisions: deque[Event] = deque(maxlen=DECISIONS_KEPT)
        self._quiet()

    def _quiet(self) -> None:
        self._user: dict[str, str] | None = None
        self._saying: list[str] = []
        self._level: float | None = None
        self._tool = ""
        self._uses: list[ToolUse] = []
        self._fault: dict[str, Any] | None = None

    def take(self, event: Event) -> None:
        """Follow one event."""
        data = event.data
        match event.kind:
            case "level":
                self._level = data.get("dbfs")
            case "partial":
                self._take_partial(data)
            case "utterance":
                self._take_turn(data)
            case "floor" if data.get("floor") in _SILENT:
                self._saying = []
            case "interruption":
                self._saying = []
            case "decision":
                self._decisions.append(event)
            case "attention":
                self.attention = str(data.get("state", ""))
            case "tool":
                self._take_tool(data)
            case "device":
                self._take_device(data)

    def _take_partial(self, data: dict[str, Any]) -> None:
        text = str(data.get("text", ""))
        if data.get("speaker") == "user":
            self._user = {"text": text, "stable": str(data.get("stable", ""))} if text else None
        elif text:
            self._saying.append(text)

    def _take_turn(self, data: dict[str, Any]) -> None:
        if data.get("speaker") == "user":
            self._user = None
        else:
            self._saying, self._uses = [], []

    def _take_tool(self, data: dict[str, Any]) -> None:
        """Those that are over belong to the agent's next turn."""
        use = ToolUse.of(data)
        if data.get("state") == "done":
            self._tool = ""
            self._uses.append(use)
        else:
            self._tool = use.name

    def _take_device(self, data: dict[str, Any]) -> None:
        state, which = str(data.get("state", "")), data.get("which")
        if which == "client":  # nothing can be wrong with it, and it mends nothing
            self.client = state
            return
        self._fault = data if state in FAULTS else None
        if which == "microphone":
            self.microphone = state

    def end(self) -> None:
        """The session is over: nothing goes on any more."""
        self.attention = ""
        self._quiet()

    def as_dict(self) -> dict[str, Any]:
        """As it goes on the wire.

        `live`: `user`, what the user has said so far of a turn that is not over, and `agent`, of the reply; `level` in
        dBFS; `tool`, the one that runs, and `uses`, those since the agent's last turn; `fault`, what a device last told
        that is wrong. `decisions`: the newest ones.
        """
        return {
            "live": {
                "user": self._user,
                "agent": " ".join(self._saying),
                "level": self._level,
                "tool": self._tool,
                "uses": [use.as_dict() for use in self._uses],
                "fault": self._fault,
            },
            "decisions": [event.as_dict() for event in self._decisions],
        }
