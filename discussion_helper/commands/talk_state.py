"""What a talk looks like at one moment, made from its events."""

import math
from dataclasses import dataclass, field

from discussion_helper.commands.late_machine import change_line, without_line
from discussion_helper.commands.talk_tools import called_line, done_line
from discussion_helper.events import Event
from discussion_helper.types import Floor

__all__ = [
    "LEVELS",
    "Entry",
    "Remark",
    "TalkState",
    "Turn",
    "Wait",
    "error_of",
    "moved_of",
    "problem_of",
    "turn_of",
    "unheard_of",
    "waits_of",
]

LEVELS = 12
"""Steps of the level meter, 5 dB each, from -60 dBFS to 0."""
_ENDS = {
    "finished": "The talk is over.",
    "stopped": "The talk was ended.",
    "silence": "The talk ended because nobody spoke.",
    "failed": "The talk failed.",
}
_STICK = 0.3
"""Of a step: so far beyond its edge the level must be before the meter moves. It keeps a noise from drawing."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A finished turn; `unheard` is what the agent was going to say after `text`."""

    speaker: str
    text: str
    unheard: str = ""
    interrupted: bool = False
    goes_on: bool = False
    """It takes the place of a turn before it."""

    @property
    def mark(self) -> str:
        """What tells that it was cut, and of what, or that it goes on, without colours; "" when neither."""
        cut = f"[not heard: {self.unheard}]" if self.unheard else "[interrupted]" if self.interrupted else ""
        return "[with the turn before]" if self.goes_on else cut

    def __str__(self) -> str:
        """The text, with the mark."""
        return f"{self.text} {self.mark}".strip()


@dataclass(frozen=True, slots=True)
class Wait:
    """Where the time before an answer went: milliseconds of each stage, and their sum.

    A typed turn has no end to be found and nothing to recognise: of it the stages that took no time are left out.
    """

    stages: tuple[tuple[str, int], ...]
    total_ms: int

    def __str__(self) -> str:
        stages = "".join(f"{stage} {ms}  " for stage, ms in self.stages)
        return f"{stages}= {self.total_ms} ms"


@dataclass(frozen=True, slots=True)
class Remark:
    """Something about the talk, for the person at the keyboard."""

    text: str


Entry = Turn | Wait | Remark


@dataclass(slots=True)
class TalkState:
    """`entries` only ever grows. The texts are as they came: printing makes them harmless."""

    entries: list[Entry] = field(default_factory=list)
    floor: Floor = Floor.IDLE
    partial: str = ""
    """What the user has said so far in a turn that is not over."""
    saying: str = ""
    """What the agent has begun to say of its reply, where that is told."""
    level: int = 0
    """Of the microphone, 0 to LEVELS."""
    muted: bool = False
    attention: str = ""
    """Of a talk that does not always listen: "awake" or "asleep", "pressed" or "released"."""
    word: str = ""
    """That wakes it."""
    problems: dict[str, str] = field(default_factory=dict)
    """Device to what is wrong with it and how to put it right."""
    sheds: set[str] = field(default_factory=set)
    """What is done without because the machine is late."""
    waiting: list[str] = field(default_factory=list)
    """Typed turns that the talk has not come to, in order. What takes them is bounded, and refuses more."""
    calls: dict[str, str] = field(default_factory=dict)
    """Tools that run, in order: the id of the call to what tells of it."""
    note: str = ""
    """The last small thing that happened; goes when something else does."""
    ignored: dict[str, int] = field(default_factory=dict)
    """What was decided to be nothing since the last turn, and how often."""

    def take(self, event: Event) -> bool:
        """Follow one event; whether anything looks different now."""
        data = event.data
        match event.kind:
            case "level":
                return self._take_level(float(data["dbfs"]))
            case "floor":
                self.floor, self.note = Floor(data["floor"]), ""
            case "utterance":
                self._take_turn(event)
            case "timing":
                self.entries.append(waits_of(event))
            case "partial":
                self._take_partial(data.get("speaker", "user"), str(data["text"]))
            case "decision":
                self._take_decision(event)
            case "attention":
                self._take_attention(str(data["state"]), str(data["why"]))
            case "tool":
                self._take_tool(event)
            case "device":
                self._take_device(event)
            case "shed":
                self._take_shed(event)
            case "gap":
                self.note = f"{data['missed']} events were missed"
            case "ended":
                self._take_end(event)
            case _:
                return False
        return True

    def remark(self, text: str) -> None:
        """Add a remark."""
        self.entries.append(Remark(text))

    def waits_no_more(self, text: str) -> bool:
        """A typed turn was said, or left out; whether it waited."""
        waited = text in self.waiting
        if waited:
            self.waiting.remove(text)
        return waited

    def _take_level(self, dbfs: float) -> bool:
        exact = (max(-120.0, dbfs) + 60.0) / 5.0 if math.isfinite(dbfs) else 0.0
        if self.level - _STICK <= exact < self.level + 1 + _STICK:
            return False
        before, self.level = self.level, min(LEVELS, max(0, int(exact)))
        return self.level != before

    def _take_turn(self, event: Event) -> None:
        data = event.data
        self.note = ""
        if data["speaker"] == "agent":
            self.entries.append(turn_of(event))
            self.saying = ""
            self._tell_ignored()
        else:
            self._tell_ignored()
            self.entries.append(turn_of(event))
            self.partial = ""
            self.waits_no_more(data["text"])

    def _take_partial(self, speaker: str, text: str) -> None:
        if speaker == "agent":
            self.saying = f"{self.saying} {text}".strip()
        else:
            self.partial, self.note = text, "" if text else self.note

    def _take_decision(self, event: Event) -> None:
        """That a turn is one shows by itself."""
        what, why = (str(event.data.get(key, "")) for key in ("what", "why"))
        self.partial = ""
        self.note = f"{what}: {why}".rstrip(": ") if what not in ("turn", "interruption") else ""
        if what == "ignored":
            self.ignored[self.note] = self.ignored.get(self.note, 0) + 1
        if "fix" in event.data:
            self.problems[what] = f"{what.capitalize()}: {why}. {event.data['fix']}"

    def _take_attention(self, state: str, why: str) -> None:
        self.attention = state
        if state == "asleep" and not self.word:
            self.word = why.replace("_", " ")
        self.note = "" if state == "pressed" else self.note

    def _tell_ignored(self) -> None:
        for what, times in self.ignored.items():
            self.remark(f"{what} ({times} times)" if times > 1 else what)
        self.ignored.clear()

    def _take_tool(self, event: Event) -> None:
        """It is shown while it runs; what came of it stays."""
        call = str(event.data.get("id", ""))
        if event.data.get("state") == "done":
            self.calls.pop(call, None)
            self.remark(done_line(event))
        else:
            self.calls[call] = called_line(event)

    def _take_shed(self, event: Event) -> None:
        self.remark(change_line(event))
        self.sheds.discard(event.data["what"])
        self.sheds |= {event.data["what"]} if event.data["state"] == "shed" else set()
        self.problems.pop("machine", None)
        if self.sheds:
            self.problems["machine"] = without_line(sorted(self.sheds))

    def _take_device(self, event: Event) -> None:
        which, state = str(event.data.get("which", "device")), event.data.get("state")
        if which == "microphone" and state in ("muted", "open"):
            self.muted = state == "muted"
            self.level = 0 if self.muted else self.level
        self.problems.pop(which, None)
        if moved := moved_of(event):
            self.remark(moved)
        if problem := problem_of(event):
            self.problems[which] = problem

    def _take_end(self, event: Event) -> None:
        self.partial = self.saying = self.note = ""
        self.calls.clear()
        self._tell_ignored()
        for text in self.waiting:
            self.remark(f"Not answered: {text}")
        self.waiting.clear()
        reason, error = event.data["reason"], error_of(event)
        self.remark(_ENDS.get(reason, f"The talk ended: {reason}.") + (f" ({error})" if error else ""))


def turn_of(event: Event) -> Turn:
    """What an `utterance` event says."""
    data = event.data
    cut, goes_on = bool(data.get("interrupted", False)), "revises" in data
    return Turn(data["speaker"], data["text"], unheard_of(event), cut, goes_on)


def unheard_of(event: Event) -> str:
    """The words of an agent's turn that were not heard, from its `utterance` event."""
    text, said = str(event.data["text"]), str(event.data.get("said", ""))
    if said.startswith(text):
        return said[len(text) :].strip()
    return " ".join(said.split()[len(text.split()) :])


def waits_of(event: Event) -> Wait:
    """What a `timing` event says, in milliseconds."""
    stages = ("endpoint", "recognise", "think", "speak")
    each = tuple((stage, round(1000 * event.data[f"{stage}_s"])) for stage in stages)
    if not event.data["endpoint_s"] and not event.data["recognise_s"]:
        each = tuple((stage, ms) for stage, ms in each if ms)
    return Wait(each, round(1000 * event.data["to_first_audio_s"]))


def error_of(event: Event) -> str:
    """What an `ended` event says went wrong. Of a talk that failed it is "": that is told after all else, once."""
    return "" if event.data["reason"] == "failed" else str(event.data.get("error", ""))


def problem_of(event: Event) -> str:
    """What a `device` event says is wrong, with the fix; "" when nothing is."""
    data = event.data
    if "fix" not in data:
        return ""
    from discussion_helper.voice.reopening import GIVE_UP_S

    state = data.get("state", "not working")
    waits = f": it is waited for, {GIVE_UP_S:.0f} s" if state == "lost" else ""
    return f"The {data.get('which', 'device')} is {state}{waits}. {data['fix']}".strip()


def moved_of(event: Event) -> str:
    """What a `device` event says of a device that the talk moved to; "" of any other."""
    data = event.data
    if data.get("state") != "open" or not ("name" in data and "reason" in data):
        return ""
    return f'The {data["which"]} is now "{data["name"]}": {data["reason"]}.'
