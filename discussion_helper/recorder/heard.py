"""A note of a recording or of its replay, with its time, in words."""

import json
from dataclasses import dataclass
from typing import Any

__all__ = ["Heard", "parsed"]


def parsed(line: bytes) -> dict[str, Any]:
    """A canonical note as a mapping."""
    found: dict[str, Any] = json.loads(line)
    return found


@dataclass(frozen=True, slots=True)
class Heard:
    """A note by its canonical `line`. `at_s`: when the audio thread said it, since the recording's beginning."""

    at_s: float
    line: bytes
    warming: bool = False
    """The state of the detectors and the canceller was not that of the talk yet."""

    @property
    def kind(self) -> str:
        """Ducked, TurnEnded, ..."""
        note = parsed(self.line)
        return str(note["event"]["event"] if note["note"] == "Turn" else note["note"])

    @property
    def decides(self) -> bool:
        """It is more than the level."""
        return self.kind != "Level"

    @property
    def text(self) -> str:
        """What was decided, without its time."""
        note = parsed(self.line)
        event = note.get("event") or {}
        voiced_s = note.get("voiced_s", event.get("voiced_s", 0.0))
        match self.kind:
            case "TurnStarted":
                return "turn began" + (" (own voice)" if note["own"] else "")
            case "TurnPaused":
                return f"pause after {voiced_s:.2f} s of voice"
            case "TurnResumed":
                return "turn goes on"
            case "TurnEnded":
                return f"turn ended, {voiced_s:.2f} s of voice{_so(note)}"
            case "Onset":
                return f"onset after {voiced_s:.2f} s of voice"
            case "Ducked":
                return "agent turned down"
            case "Resumed":
                return "agent goes on"
            case "WordsWanted":
                return f"words asked for after {voiced_s:.2f} s of voice"
            case "Decided":
                return f"decided: {note['what']}, {note['why']}"
            case "Muted":
                return "microphone silent" if note["on"] else "microphone heard again"
            case kind:
                return kind


def _so(note: dict[str, Any]) -> str:
    if note["own"]:
        return ", own voice"
    return f", ignored: {note['ignored']}" if note["ignored"] else ""
