"""Values that every layer shares: who spoke, what was heard, how long each stage took, and the policy.

Times are float seconds on the session's clock, which starts at `start()`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, Literal, NotRequired, TypedDict, get_args

from discussion_helper.errors import SettingError

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
    "policy_of",
    "speaker_of",
    "unheard_in",
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
    text that was to be spoken, "" when that is the same.
    """

    speaker: Speaker
    text: str
    started_s: float = 0.0
    ended_s: float = 0.0
    interrupted: bool = False
    said: str = ""

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
        """The utterance as it goes on the wire; times with 3 decimals."""
        return {
            "speaker": self.speaker,
            "text": self.text,
            "said": self.said,
            "interrupted": self.interrupted,
            "started_s": round(self.started_s, 3),
            "ended_s": round(self.ended_s, 3),
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

    @property
    def to_first_audio_s(self) -> float:
        """The whole wait."""
        return self.endpoint_s + self.recognise_s + self.think_s + self.speak_s

    @property
    def slowest_stage(self) -> str:
        """One of endpoint, recognise, think, speak; the earliest of equals."""
        stages = {f.name: float(getattr(self, f.name)) for f in fields(self)}
        return max(stages, key=lambda name: stages[name]).removesuffix("_s")

    def as_dict(self) -> dict[str, Any]:
        """All of it, with 3 decimals."""
        stages: dict[str, Any] = {f.name: round(getattr(self, f.name), 3) for f in fields(self)}
        return stages | {"to_first_audio_s": round(self.to_first_audio_s, 3), "slowest_stage": self.slowest_stage}


@dataclass(slots=True)
class Conversation:
    """The transcript so far, who has the floor, and a timing for each answered turn."""

    utterances: list[Utterance] = field(default_factory=list)
    floor: Floor = Floor.IDLE
    timings: list[TurnTiming] = field(default_factory=list)

    def add(self, utterance: Utterance) -> None:
        """Append one finished turn."""
        self.utterances.append(utterance)

    @property
    def last_user_text(self) -> str:
        """The newest thing the user said, "" if nothing."""
        return next((u.text for u in reversed(self.utterances) if u.speaker == "user"), "")

    @property
    def interruption_rate(self) -> float:
        """Share of the agent's turns that were cut, 0.0 to 1.0."""
        agent = [u.interrupted for u in self.utterances if u.speaker == "agent"]
        return sum(agent) / len(agent) if agent else 0.0

    def as_messages(self) -> list[Message]:
        """The turns for a language model: of the agent's what was heard, and what was not where it was interrupted.

        Turns without either are left out.
        """
        messages = map(_message_of, self.utterances)
        return [message for message in messages if message["content"].strip() or message.get("unheard")]


def _message_of(utterance: Utterance) -> Message:
    if utterance.speaker == "user":
        return {"role": "user", "content": utterance.text}
    message: Message = {"role": "assistant", "content": utterance.text}
    if utterance.interrupted:
        message["interrupted"] = True
        if unheard := utterance.unheard:
            message["unheard"] = unheard
    return message


@dataclass(frozen=True, slots=True)
class Policy:
    """What to do about interruptions, length and silence. Raises SettingError (a ValueError) naming the field."""

    allow_barge_in: bool = True
    barge_in_grace_s: float = 0.35
    """Nothing spoken this soon after a reply's first audio cuts it, unless it is still being said afterwards."""
    max_reply_sentences: int = 0
    """0 = no cap."""
    silence_timeout_s: float = 0.0
    """The session ends after this much silence; 0 = never."""
    barge_in_min_speech_s: float = 0.128
    """Voice this long over the agent is an interruption; how it was chosen stands in `voice/barge_in.py`."""
    barge_in_resume_after_s: float = 1.5
    """A reply that a sound without words turned down or cut goes on after this long at the latest; 0 = never.

    With 0 nothing is turned down and decided: enough voice cuts the reply, whatever it says.
    """
    barge_in_min_words: int = 1
    """Words, listener's responses not counted, that are an interruption; 0 = enough voice is one, whatever it says."""
    barge_in_backchannels: tuple[str, ...] = ()
    """Phrases that are no interruption, beside those of the language: "mm-hm", "I see"."""
    barge_in_stop_words: tuple[str, ...] = ()
    """Phrases that always are one, beside those of the language: "stop", "wait"."""

    def __post_init__(self) -> None:
        if not isinstance(self.allow_barge_in, bool):
            raise SettingError(f"allow_barge_in: {self.allow_barge_in!r} is not a boolean.", fix="Use true or false.")
        self._check_number("barge_in_grace_s", most=10.0)
        self._check_number("silence_timeout_s", most=86_400.0)
        self._check_number("barge_in_min_speech_s", most=5.0)
        self._check_number("barge_in_resume_after_s", most=60.0)
        self._check_count("max_reply_sentences", most=10_000)
        self._check_count("barge_in_min_words", most=20)
        self._check_phrases("barge_in_backchannels")
        self._check_phrases("barge_in_stop_words")

    def _check_number(self, name: str, *, most: float) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= most:
            raise SettingError(f"{name}: {value!r} is out of range.", fix=f"Use seconds from 0 to {most:g}.")

    def _check_count(self, name: str, *, most: int) -> None:
        value = getattr(self, name)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            raise SettingError(f"{name}: {value!r} is out of range.", fix=f"Use a whole number from 0 to {most}.")

    def _check_phrases(self, name: str) -> None:
        """Also makes a list, as JSON has it, the tuple it is to be."""
        value = getattr(self, name)
        if not isinstance(value, list | tuple) or len(value) > 200 or not all(map(_is_phrase, value)):
            what = f"{name}: {str(value)[:80]!r} is no list of phrases."
            raise SettingError(what, fix="Use at most 200 texts of 1 to 60 characters.")
        object.__setattr__(self, name, tuple(value))

    @classmethod
    def from_mapping(cls, values: Mapping[str, Any]) -> "Policy":
        """A policy from outside. Raises SettingError naming an unknown field or a wrong value."""
        known = {f.name for f in fields(cls)}
        for name in values:
            if name not in known:
                raise SettingError(f"{name}: there is no such policy field.", fix=f"Use {', '.join(sorted(known))}.")
        return cls(**values)


def _is_phrase(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value.strip()) <= 60


def policy_of(value: Policy | None) -> Policy:
    """The policy given, or the usual one. Raises SettingError for anything else."""
    if value is not None and not isinstance(value, Policy):
        raise SettingError(f"policy: {value!r} is no Policy.", fix="Use Policy(...) or Policy.from_mapping({...}).")
    return Policy() if value is None else value
