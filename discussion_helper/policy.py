"""The policy of a conversation: interruptions, length and silence."""

import os
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args

from discussion_helper.bounds import check_number, check_one_of, check_whole
from discussion_helper.errors import SettingError

__all__ = [
    "LEAST_RAMP_S",
    "LEAST_SPEECH_S",
    "MOST_RAMP_S",
    "MOST_RESUME_S",
    "MOST_SPEECH_S",
    "MOST_WORDS",
    "RANGES",
    "Policy",
    "TurnPolicy",
    "check_sayable",
    "policy_of",
    "wake_word_file",
]

LEAST_SPEECH_S, MOST_SPEECH_S = 0.01, 5.0
"""Of voice that is an interruption. The least is a block of the microphone: with none at all silence would be one."""
MOST_RESUME_S = 60.0
MOST_WORDS = 20
LEAST_RAMP_S, MOST_RAMP_S = 0.01, 0.1
"""Shorter, it would click; longer, the agent would still be heard when it is decided what the voice was."""

RANGES: Mapping[str, tuple[float, float]] = {
    "barge_in_grace_s": (0.0, 10.0),
    "silence_timeout_s": (0.0, 86_400.0),
    "reopen_s": (0.0, 5.0),
    "barge_in_min_speech_s": (LEAST_SPEECH_S, MOST_SPEECH_S),
    "barge_in_resume_after_s": (0.0, MOST_RESUME_S),
    "barge_in_ramp_s": (LEAST_RAMP_S, MOST_RAMP_S),
    "follow_up_s": (0.0, 60.0),
    "max_reply_sentences": (0, 10_000),
    "barge_in_min_words": (0, MOST_WORDS),
}
"""Least and most of each field that is a number: of seconds, or else whole."""

TurnPolicy = Literal["open", "push_to_talk", "wake_word"]
"""When what is heard may be a turn: always, while a key is pressed, or after a word and, for a while, a reply."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What to do about interruptions, length and silence. Raises SettingError (a ValueError) naming the field."""

    allow_barge_in: bool = True
    """Whether a voice over the agent may cut the reply."""
    barge_in_grace_s: float = 0.35
    """Nothing spoken this soon after a reply's first audio cuts it, unless it is still being said afterwards."""
    max_reply_sentences: int = 0
    """0 = no cap."""
    silence_timeout_s: float = 0.0
    """The session ends after this much silence; 0 = never."""
    speculate: bool = True
    """A reply is begun, and its first clause synthesised, while the user is silent and may be about to go on."""
    reopen_s: float = 1.2
    """Who goes on this soon after a turn that was taken to be over goes on with it; 0 = never. At most 5 s.

    Until anything is heard of the reply there are 7 s for that.
    """
    say_not_understood: bool = True
    """Who said something that was not understood, or has no answer, is told so; else it is a `decision` and no more."""
    barge_in_min_speech_s: float = 0.128
    """Voice this long over the agent is an interruption; how it was chosen stands in `voice/barge_in.py`.

    From 0.01 to 5 s.
    """
    barge_in_resume_after_s: float = 1.5
    """A reply that a sound without words turned down or cut goes on after this long at the latest; 0 = never.

    With 0 nothing is turned down and decided: enough voice cuts the reply, whatever it says.
    """
    barge_in_min_words: int = 1
    """Words, listener's responses not counted, that are an interruption; 0 = enough voice is one, whatever it says."""
    barge_in_ramp_s: float = 0.01
    """How long the agent takes to fall silent where it is turned down, and to be as loud as before when it goes on.

    Where it is stopped it takes 10 ms. From 0.01 to 0.1 s.
    """
    barge_in_backchannels: tuple[str, ...] = ()
    """Phrases that are no interruption, beside those of the language: "mm-hm", "I see"."""
    barge_in_stop_words: tuple[str, ...] = ()
    """Phrases that always are one, beside those of the language: "stop", "wait"."""

    turn_policy: TurnPolicy = "open"
    """When what the microphone hears may be a turn."""
    wake_word: str = "okay_nabu"
    """With `turn_policy` "wake_word": a model of the manifest, or a file; see `wake_word_file`."""
    follow_up_s: float = 6.0
    """With that, so long after a reply the word is not needed; 0 = it always is. At most 60 s."""

    def __post_init__(self) -> None:
        for name in ("allow_barge_in", "speculate", "say_not_understood"):
            if not isinstance(value := getattr(self, name), bool):
                raise SettingError(f"{name}: {value!r} is not a boolean.", fix="Use true or false.")
        for name, (least, most) in RANGES.items():
            if name.endswith("_s"):
                check_number(name, getattr(self, name), least, most, unit="seconds")
            else:
                check_whole(name, getattr(self, name), int(least), int(most))
        check_one_of("turn_policy", self.turn_policy, get_args(TurnPolicy))
        if not isinstance(self.wake_word, str) or not self.wake_word.strip():
            raise SettingError(f"wake_word: {self.wake_word!r:.80} is no name.", fix="Use okay_nabu, for one.")
        self._check_phrases("barge_in_backchannels")
        self._check_phrases("barge_in_stop_words")

    def _check_phrases(self, name: str) -> None:
        """Also makes a list, as JSON has it, the tuple it is to be."""
        value = getattr(self, name)
        if not isinstance(value, list | tuple) or len(value) > 200 or not all(map(_is_phrase, value)):
            what = f"{name}: {str(value)[:80]!r} is no list of phrases."
            raise SettingError(what, fix="Use at most 200 texts of 1 to 60 characters.")
        check_sayable(name, value)
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


def check_sayable(name: str, phrases: Iterable[str]) -> None:
    """Raises SettingError unless each holds a letter or a digit: nothing else is ever found in what a user says."""
    for phrase in phrases:
        if not any(map(str.isalnum, unicodedata.normalize("NFKC", phrase).casefold())):
            what = f"{name}: {phrase!r} holds nothing that could be said."
            raise SettingError(what, fix="Use phrases with a letter or a digit.")


def wake_word_file(name: str) -> Path | None:
    """The file that a wake word names, a network of openWakeWord's kind in .onnx or .tflite; None = it is a name."""
    return Path(os.path.expanduser(name)) if name.lower().endswith((".onnx", ".tflite")) else None


def policy_of(value: Policy | None) -> Policy:
    """The policy given, or the usual one. Raises SettingError for anything else."""
    if value is not None and not isinstance(value, Policy):
        raise SettingError(f"policy: {value!r} is no Policy.", fix="Use Policy(...) or Policy.from_mapping({...}).")
    return Policy() if value is None else value
