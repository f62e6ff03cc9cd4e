"""A note of a recording or of its replay, with its time, in words."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from discussion_helper.recorder.entries import Told

__all__ = ["Happened", "Heard", "happened", "heard", "parsed"]


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
    interrupts: bool = False
    """It comes of an interruption that was decided before."""

    @property
    def kind(self) -> str:
        """Ducked, TurnEnded, ..."""
        note = parsed(self.line)
        return str(note["event"]["event"] if note["note"] == "Turn" else note["note"])

    @property
    def decides(self) -> bool:
        """It is more than the level, and than a score that is asked for."""
        return self.kind not in ("Level", "ProsodyWanted")

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
                what = "interrupted" if self.interrupts else "user is heard"
                return f"{what} after {voiced_s:.2f} s of voice"
            case "Ducked":
                return "agent turned down"
            case "Resumed":
                return "nothing is turned down any more" if self.interrupts else "agent goes on"
            case "ProsodyWanted":
                return "asked how complete the turn sounds"
            case "WordsWanted":
                return f"words asked for after {voiced_s:.2f} s of voice"
            case "Decided":
                return f"decided: {note['what']}, {note['why']}"
            case "Muted":
                return "microphone silent" if note["on"] else "microphone heard again"
            case "Attends":
                return f"{note['state']}: {note['why']}"
            case kind:
                return kind

    @property
    def told(self) -> str:
        """The same, with the words that decided and how much they were doubted."""
        note = parsed(self.line)
        words = note.get("text", "")
        return f'{self.text}: "{words}", doubt {note["doubt"]:.2f}' if self.kind == "Decided" and words else self.text


def heard(at_s: float, line: bytes, before: Sequence[Heard], *, warming: bool = False) -> Heard:
    """The next one behind those `before`, of which it may come."""
    found = Heard(at_s, line, warming)
    if found.kind not in ("Onset", "Resumed"):
        return found
    last = next((one for one in reversed(before) if one.kind in ("Decided", "Ducked", "TurnStarted")), None)
    return replace(found, interrupts=last is not None and parsed(last.line).get("what") == "interruption")


@dataclass(frozen=True, slots=True)
class Happened:
    """What the talk itself did, which no replay decides: a key, a typed turn, an end."""

    at_s: float
    kind: str
    """Of the session's event."""
    text: str


_CUT_BY = {
    "interrupt": "by a key, a typed turn or a program",
    "onset": "by who interrupts",
    "voice": "by the voice that speaks",
    "stop": "by the talk's end",
}


def happened(told: Told, zero_s: float) -> Happened | None:
    """What an event tells of it; None: nothing, or what the hearing decided."""
    event, at_s = told.event, told.now - zero_s
    if event.get("kind") == "interruption":
        by = str(event.get("by", ""))
        return Happened(at_s, "interruption", f"reply cut {_CUT_BY.get(by, f'by {by}')}")
    if event.get("kind") == "decision" and "ducked_s" not in event:
        words = f': "{event["text"]}"' if event.get("text") else ""
        return Happened(at_s, "decision", f"{event.get('what', '')}, {event.get('why', '')}{words}")
    return None


def _so(note: dict[str, Any]) -> str:
    if note["own"]:
        return ", own voice"
    return f", ignored: {note['ignored']}" if note["ignored"] else ""
