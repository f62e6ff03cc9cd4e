"""Values that every layer shares: who spoke, what was heard, and how long each stage took.

Times are float seconds on the session's clock, which starts at `start()`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, Literal, NotRequired, TypedDict, get_args

from discussion_helper.errors import SettingError
from discussion_helper.policy import Policy
from discussion_helper.revision import Said, places_revised, without
from discussion_helper.tool_use import ToolUse

__all__ = [
    "Conversation",
    "Floor",
    "Message",
    "Policy",
    "Speaker",
    "SpokenSentence",
    "SpokenUtterance",
    "TurnTiming",
    "Utterance",
    "speaker_of",
    "unheard_in",
    "without_revised",
]

Speaker = Literal["user", "agent"]


class Message(TypedDict):
    """One turn for a language model; what is not there in the two optional keys is false and "".

    An agent's turn has what was heard as its content, which is "" when the user cut in before the first word.
    """

    role: Literal["user", "assistant"]
    content: str
    interrupted: NotRequired[bool]
    """The user cut it off."""
    unheard: NotRequired[str]
    """What of an interrupted turn was never heard."""
    calls: NotRequired[list[dict[str, Any]]]
    """Tools that were called before it was said, each as `ToolUse.as_dict` has it."""


class Floor(Enum):
    """Who has the floor."""

    IDLE = "idle"
    LISTENING = "listening"
    THINKING = "thinking"
    SPEAKING = "speaking"


def speaker_of(value: object) -> Speaker:
    """Check a speaker that came from outside. Raises SettingError (a ValueError) unless "user" or "agent"."""
    if value == "user":
        return "user"
    if value == "agent":
        return "agent"
    raise SettingError(f"speaker: {value!r} is not a speaker.", fix=f"Use one of {', '.join(get_args(Speaker))}.")


@dataclass(frozen=True, slots=True)
class Utterance:
    """One finished turn.

    For the agent `text` is what was heard: the words whose audio left the device. `said` is the whole
    text that was to be spoken, "" when that is the same. `calls`: tools that its model used for it.
    """

    speaker: Speaker
    text: str
    started_s: float = 0.0
    ended_s: float = 0.0
    interrupted: bool = False
    said: str = ""
    calls: tuple[ToolUse, ...] = ()

    def __post_init__(self) -> None:
        speaker_of(self.speaker)

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return self.ended_s - self.started_s

    @property
    def unheard(self) -> str:
        """What was to be said and was not heard; "" for a user's turn, and where it cannot be told."""
        return unheard_in(self.said, self.text) or ""

    def as_dict(self) -> dict[str, Any]:
        """The utterance as it goes on the wire; times with 3 decimals; `calls` where there are any."""
        return {
            "speaker": self.speaker,
            "text": self.text,
            "said": self.said,
            "interrupted": self.interrupted,
            "started_s": round(self.started_s, 3),
            "ended_s": round(self.ended_s, 3),
            **({"calls": [call.as_dict() for call in self.calls]} if self.calls else {}),
        }


def unheard_in(said: str, heard: str) -> str | None:
    """What comes after `heard` in `said`, whose beginning it is but for white space; None if it is not.

    "" also when nothing is left that could be pronounced.
    """
    expected = iter("".join(heard.split()))
    missing = next(expected, None)
    for at, character in enumerate(said):
        if missing is None:
            return said[at:].strip() if any(map(str.isalnum, said[at:])) else ""
        if not character.isspace():
            if character != missing:
                return None
            missing = next(expected, None)
    return "" if missing is None else None


@dataclass(frozen=True, slots=True)
class SpokenUtterance(Utterance):
    """A user turn from a listener that measured its own stages."""

    endpoint_s: float = 0.0
    """Last voiced sample to the decision that the turn is over."""
    recognise_s: float = 0.0
    """That decision to the text."""
    wants_answer: bool = True
    """False for "stop" and no more over the agent: it is on record, and the agent is silent."""
    decided: bool = False
    """It was said over the agent, and the listener has decided that it is no echo of that."""
    revises: str = ""
    """The text of the turn before, which was not over: this is all of it."""
    unclear: str = ""
    """Of a turn without text: why, though somebody said something who waits for an answer; "" for a mere sound."""
    measured: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """What the listener's own `decision` about it holds beside `what` and `why`."""


@dataclass(frozen=True, slots=True)
class SpokenSentence:
    """What became of one sentence handed to a voice."""

    text: str
    first_audio_s: float = 0.0
    """From the call of `speak` to the first sample at the device."""
    played_s: float = 0.0
    """Seconds of its audio that left the device."""
    cut: bool = False
    heard: str | None = None
    """The words whose audio left the device, a beginning of `text`; None = not known, then it is estimated from
    `played_s`."""
    estimated: bool = False
    """`heard` is no more than a guess: a reply that goes on says the whole sentence again."""


@dataclass(frozen=True, slots=True)
class TurnTiming:
    """Where the time of one turn went, from the user's last voiced sample to the agent's first."""

    endpoint_s: float = 0.0
    recognise_s: float = 0.0
    think_s: float = 0.0
    speak_s: float = 0.0
    ahead: bool = False
    """The reply was begun in the silence, before the turn was over."""

    @property
    def to_first_audio_s(self) -> float:
        """The whole wait."""
        return self.endpoint_s + self.recognise_s + self.think_s + self.speak_s

    @property
    def slowest_stage(self) -> str:
        """One of endpoint, recognise, think, speak; the earliest of equals."""
        stages = self._stages
        return max(stages, key=lambda name: stages[name]).removesuffix("_s")

    @property
    def _stages(self) -> dict[str, float]:
        return {f.name: float(getattr(self, f.name)) for f in fields(self) if f.name.endswith("_s")}

    def as_dict(self) -> dict[str, Any]:
        """All of it, with 3 decimals; `ahead` where that is true."""
        stages: dict[str, Any] = {name: round(value, 3) for name, value in self._stages.items()}
        whole = {"to_first_audio_s": round(self.to_first_audio_s, 3), "slowest_stage": self.slowest_stage}
        return stages | whole | ({"ahead": True} if self.ahead else {})


@dataclass(slots=True)
class Conversation:
    """The transcript so far, who has the floor, and a timing for each answered turn."""

    utterances: list[Utterance] = field(default_factory=list)
    floor: Floor = Floor.IDLE
    timings: list[TurnTiming] = field(default_factory=list)

    def add(self, utterance: Utterance) -> None:
        """Append one finished turn."""
        self.utterances.append(utterance)

    def revise(self, utterance: Utterance, text: str) -> list[int]:
        """Append a turn that takes the place of the user's newest one with that text, which was not over.

        Replies behind that of which nothing was heard go too. Returns where they all stood; the first turn stands at 0.
        """
        said = [
            Said(u.speaker == "user", u.text, u.interrupted and not u.text.strip() and not u.calls)
            for u in self.utterances
        ]
        places = places_revised(said, text)
        self.utterances[:] = [self.utterances[at] for at in without(len(said), places)]
        self.utterances.append(utterance)
        return places

    @property
    def last_user_text(self) -> str:
        """The newest thing the user said, "" if nothing."""
        return next((u.text for u in reversed(self.utterances) if u.speaker == "user"), "")

    @property
    def interruption_rate(self) -> float:
        """Share of the agent's turns that were cut, 0.0 to 1.0."""
        agent = [u.interrupted for u in self.utterances if u.speaker == "agent"]
        return sum(agent) / len(agent) if agent else 0.0

    def as_dict(self) -> dict[str, Any]:
        """All that a watcher needs to catch up, as it goes on the wire."""
        return {
            "floor": self.floor.value,
            "utterances": [utterance.as_dict() for utterance in self.utterances],
            "timings": [timing.as_dict() for timing in self.timings],
            "interruption_rate": self.interruption_rate,
        }

    def as_messages(self) -> list[Message]:
        """The turns for a language model: of the agent's what was heard, and what was not where it was interrupted.

        The tools that it used are in its `calls`. Turns without any of the three are left out.
        """
        messages = map(_message_of, self.utterances)
        return [it for it in messages if it["content"].strip() or it.get("unheard") or it.get("calls")]


def _message_of(utterance: Utterance) -> Message:
    if utterance.speaker == "user":
        return {"role": "user", "content": utterance.text}
    message: Message = {"role": "assistant", "content": utterance.text}
    if utterance.interrupted:
        message["interrupted"] = True
        if unheard := utterance.unheard:
            message["unheard"] = unheard
    if utterance.calls:
        message["calls"] = [call.as_dict() for call in utterance.calls]
    return message


def without_revised(messages: Sequence[Message], text: str) -> list[Message]:
    """The messages as they are once a turn revises the user's newest one with that text."""
    said = [Said(message["role"] == "user", message["content"], _is_unheard(message)) for message in messages]
    return [messages[at] for at in without(len(said), places_revised(said, text))]


def _is_unheard(message: Message) -> bool:
    cut = message["role"] == "assistant" and message.get("interrupted", False)
    return cut and not message["content"].strip() and not message.get("calls")
