"""The keys of the settings file: what may stand in it, of what kind, and what it is a setting of."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from discussion_helper.errors import SettingError
from discussion_helper.policy import Policy
from discussion_helper.settings import Settings
from discussion_helper.shown import shown
from discussion_helper.tuning import TUNING_NAMES, Tuning

__all__ = ["KEYS", "POLICY_FIELDS", "Value", "checked", "flat", "policy_of_keys", "tuning_of_keys"]

Value = str | bool | int | float | list[str]

POLICY_FIELDS: Mapping[str, str] = {
    "barge_in": "allow_barge_in",
    "max_sentences": "max_reply_sentences",
    "silence_timeout": "silence_timeout_s",
    "speculate": "speculate",
    "reopen_s": "reopen_s",
    "say_not_understood": "say_not_understood",
    "barge_in_grace_s": "barge_in_grace_s",
    "barge_in_min_speech_s": "barge_in_min_speech_s",
    "barge_in_min_words": "barge_in_min_words",
    "barge_in_resume_after_s": "barge_in_resume_after_s",
    "barge_in_ramp_s": "barge_in_ramp_s",
    "barge_in_backchannels": "barge_in_backchannels",
    "barge_in_stop_words": "barge_in_stop_words",
    "turn_policy": "turn_policy",
    "wake_word": "wake_word",
    "follow_up_s": "follow_up_s",
}
"""The field of the policy that a key is."""
KEYS: Mapping[str, str] = {
    "language": "text",
    "stt": "text",
    "hints": "a list of phrases",
    "voice": "text",
    "llm": "text",
    "system": "text",
    "filler": "text",
    "microphone": "text",
    "loudspeaker": "text",
    "barge_in": "true or false",
    "learn_pauses": "true or false",
    "max_sentences": "a whole number",
    "silence_timeout": "a number of seconds",
    "speculate": "true or false",
    "reopen_s": "a number of seconds",
    "say_not_understood": "true or false",
    "barge_in_grace_s": "a number of seconds",
    "barge_in_min_speech_s": "a number of seconds",
    "barge_in_min_words": "a whole number",
    "barge_in_resume_after_s": "a number of seconds",
    "barge_in_ramp_s": "a number of seconds",
    "barge_in_backchannels": "a list of phrases",
    "barge_in_stop_words": "a list of phrases",
    "turn_policy": "text",
    "wake_word": "text",
    "follow_up_s": "a number of seconds",
    **dict.fromkeys(TUNING_NAMES, "a number"),
}
"""What may stand in the file, and of what kind it is: options of `talk` without their dashes, and what may be tuned."""

_TYPES: Mapping[str, tuple[type, ...]] = {
    "text": (str,),
    "true or false": (bool,),
    "a whole number": (int,),
    "a number of seconds": (int, float),
    "a number": (int, float),
    "a list of phrases": (list,),
}
_GROUPS = {name.partition(".")[0] for name in TUNING_NAMES}
"""The tables that a key with a full stop in it makes."""
_MOST = 1 << 63
"""No number in the file needs as many digits."""


def flat(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values by their keys: `vad.threshold`, whether it was written so, in quotes or in a table.

    Raises SettingError where it was twice.
    """
    found: dict[str, Any] = {}
    for key, value in values.items():
        inner = value if key in _GROUPS and isinstance(value, dict) else None
        for name, one in {key: value}.items() if inner is None else inner.items():
            whole = name if inner is None else f"{key}.{name}"
            if whole in found:
                raise SettingError(f"{whole}: it stands there twice.", fix="Leave one of them out.")
            found[whole] = one
    return found


def checked(values: Mapping[str, Any]) -> dict[str, Value]:
    """These, all known and of their kind. Raises SettingError naming the key."""
    for key, value in values.items():
        if key not in KEYS:
            near = get_close_matches(key, KEYS, n=1)
            meant = f"Is {near[0]} meant? " if near else ""
            raise SettingError(f"there is no setting {shown(key)}.", fix=f"{meant}Use {', '.join(KEYS)}.")
        _check(key, value, KEYS[key])
    elsewhere = (*POLICY_FIELDS, *TUNING_NAMES)
    parts: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in values.items()}
    Settings(**{key: value for key, value in parts.items() if key not in elsewhere})
    policy_of_keys(values)
    tuning_of_keys(values)
    return dict(values)


def policy_of_keys(values: Mapping[str, Value]) -> Policy:
    """The policy with what these say. Raises SettingError naming the key."""
    fields: dict[str, Any] = {POLICY_FIELDS[key]: value for key, value in values.items() if key in POLICY_FIELDS}
    try:
        return Policy.from_mapping(fields)
    except SettingError as error:
        field, colon, rest = error.what.partition(":")
        key = next((key for key, name in POLICY_FIELDS.items() if name == field), field)
        raise SettingError(f"{key}{colon}{rest}", fix=error.fix) from error


def tuning_of_keys(values: Mapping[str, Value]) -> Tuning:
    """The tuning with what these say. Raises SettingError naming the key."""
    return Tuning.from_mapping({key: value for key, value in values.items() if key in TUNING_NAMES})


def _check(key: str, value: object, kind: str) -> None:
    fits = isinstance(value, _TYPES[kind]) and (not isinstance(value, bool) or kind == "true or false")
    if not fits or (isinstance(value, list) and not all(isinstance(one, str) for one in value)):
        raise SettingError(f"{key}: {shown(value)} is not {kind}.", fix=f"Use {kind}, or leave it out.")
    if isinstance(value, int) and abs(value) >= _MOST:
        raise SettingError(f"{key}: {shown(value)} is out of range.", fix="Use a smaller number, or leave it out.")
    for text in value if isinstance(value, list) else [value]:
        if isinstance(text, str) and not _is_utf8(text):
            raise SettingError(f"{key}: {shown(text)} is no text.", fix="Use characters of Unicode.")


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half an emoji, or a byte of the command line that was none of a character
        return False
    return True
