"""The settings of a recording, and those that may be tried on it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from discussion_helper.errors import AudioFileError, SettingError
from discussion_helper.recorder.entries import Header
from discussion_helper.types import Policy
from discussion_helper.voice.tuning import Tuning

__all__ = ["NAMES", "Heeded", "heeded_by", "settings_for", "tried"]


@dataclass(frozen=True, slots=True)
class Heeded:
    """All that the hearing of a talk depends on beside what it hears."""

    policy: Policy
    language: str = "en"
    tuning: Tuning = field(default_factory=Tuning)


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _truth(text: str) -> bool:
    return {"true": True, "false": False}[text.strip().lower()]


_KINDS: Mapping[type, tuple[Callable[[str], Any], str]] = {
    bool: (_truth, "true or false"),
    int: (int, "a whole number"),
    float: (float, "a number"),
    str: (str, "a text"),
    tuple: (_phrases, "phrases with commas between them"),
}
_TUNING = {
    "vad.threshold": "vad_on",
    "vad.release": "vad_off",
    "endpoint.silence_s": "silence_s",
    "endpoint.early_s": "early_s",
    "endpoint.max_turn_s": "max_turn_s",
    "duck.over_db": "duck_over_db",
}
_POLICY = {
    "allow_barge_in": bool,
    "barge_in_min_speech_s": float,
    "barge_in_min_words": int,
    "barge_in_resume_after_s": float,
    "barge_in_backchannels": tuple,
    "barge_in_stop_words": tuple,
}
NAMES: tuple[str, ...] = (*_TUNING, *_POLICY, "language")
"""What may be set for a replay; all else of a talk comes after what is replayed."""


def settings_for(policy: Policy, language: str, **models: str) -> dict[str, Any]:
    """What a header holds of the settings; `models`: what recognises, speaks and answers, by name."""
    return {"language": language, "policy": asdict(policy), "tuning": asdict(Tuning()), **models}


def heeded_by(header: Header) -> Heeded:
    """What the hearing of a recorded talk heeded. Raises AudioFileError when its header does not say it right."""
    settings = header.settings
    try:
        tuning = Tuning.from_mapping(settings.get("tuning", {}))
        return Heeded(Policy.from_mapping(settings.get("policy", {})), str(settings.get("language", "en")), tuning)
    except (SettingError, TypeError, AttributeError) as error:
        what = f"The recording's settings are not those of this version ({error})."
        raise AudioFileError(what, fix=f"It was made by version {header.package}.") from error


def tried(heeded: Heeded, wishes: Iterable[str]) -> Heeded:
    """With `name=value` for each wish; the last one counts. Raises SettingError, which lists the names."""
    for wish in wishes:
        name, equals, text = wish.partition("=")
        name = name.strip().replace("barge_in.", "barge_in_")
        if not equals or name not in NAMES:
            what = f"--set {wish}: there is no setting {name!r} to try." if equals else f"--set {wish}: no value."
            raise SettingError(what, fix=f"Use NAME=VALUE with {', '.join(NAMES)}.")
        try:
            heeded = _with(heeded, name, text)
        except SettingError as error:
            raise SettingError(f"--set {wish}: {error.what}", fix=error.fix) from error
    return heeded


def _with(heeded: Heeded, name: str, text: str) -> Heeded:
    if name == "language":
        return replace(heeded, language=text.strip())
    if name in _POLICY:
        return replace(heeded, policy=replace(heeded.policy, **{name: _value(text, _POLICY[name])}))
    field = _TUNING[name]
    changes = {field: _value(text, float)}
    if field == "vad_on":  # a lower bar for a voice to begin is one for it to go on as well
        changes["vad_off"] = min(heeded.tuning.vad_off, changes[field])
    if field == "silence_s":
        changes["early_s"] = min(heeded.tuning.early_s, changes[field])
    return replace(heeded, tuning=replace(heeded.tuning, **changes))


def _value(text: str, kind: type) -> Any:
    make, words = _KINDS[kind]
    try:
        return make(text)
    except (ValueError, KeyError) as error:
        raise SettingError(f"{text!r} is not {words}.", fix=f"Use {words}.") from error
