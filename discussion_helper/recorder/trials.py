"""The settings of a recording, and those that may be tried on it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from discussion_helper.config_keys import KEYS, POLICY_FIELDS, Value, policy_of_keys
from discussion_helper.errors import AudioFileError, SettingError
from discussion_helper.recorder.entries import Header
from discussion_helper.settings import Settings
from discussion_helper.shown import LONGEST, shown
from discussion_helper.tuning import TUNING_NAMES, Tuning
from discussion_helper.turn.pauses import PauseModel
from discussion_helper.types import Policy
from discussion_helper.voice.assembly import pauses_of

__all__ = ["NAMES", "Heeded", "heeded_by", "settings_for", "tried"]


@dataclass(frozen=True, slots=True)
class Heeded:
    """All that the hearing of a talk depends on beside what it hears."""

    policy: Policy
    language: str = "en"
    tuning: Tuning = field(default_factory=Tuning)
    pauses_s: tuple[float, ...] | None = None
    """What was known of the speaker's pauses at the talk's beginning; None = none were learned."""

    def pauses(self) -> PauseModel | None:
        """The model that the talk began with."""
        return None if self.pauses_s is None else pauses_of(self.tuning, self.pauses_s)

    def value(self, name: str) -> Any:
        """Of the setting with that name, one of `NAMES`."""
        if name in TUNING_NAMES:
            return self.tuning.as_mapping()[name]
        return self.language if name == "language" else getattr(self.policy, POLICY_FIELDS[name])


def _phrases(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _truth(text: str) -> bool:
    return {"true": True, "false": False}[text.strip().lower()]


_READ: Mapping[str, Callable[[str], Value]] = {
    "true or false": _truth,
    "a whole number": int,
    "a number of seconds": float,
    "a number": float,
    "text": str.strip,
    "a list of phrases": _phrases,
}
_BEHIND = (
    *("barge_in_grace_s", "barge_in_ramp_s", "max_sentences", "silence_timeout"),
    *("speculate", "reopen_s", "say_not_understood"),
)
"""Manners of the talk that come after what is replayed."""
_ALSO = {"allow_barge_in": "barge_in"}
"""What a program calls it."""
_TRIED = {*TUNING_NAMES, *POLICY_FIELDS, "language"}.difference(_BEHIND)
NAMES: Mapping[str, str] = {name: kind for name, kind in KEYS.items() if name in _TRIED}
"""What may be set for a replay, by the names of the settings file, and of what kind it is."""


def settings_for(
    policy: Policy,
    language: str,
    tuning: Tuning | None = None,
    *,
    pauses: PauseModel | None = None,
    **models: str,
) -> dict[str, Any]:
    """What a header holds of the settings.

    `pauses`: what is known of the speaker's, as it is now. `models`: what recognises, speaks and answers, by name.
    """
    known = {} if pauses is None else {"pauses": list(pauses.pauses_s)}
    tuning = tuning or Tuning()
    return {"language": language, "policy": asdict(policy), "tuning": tuning.as_mapping(), **known, **models}


def heeded_by(header: Header) -> Heeded:
    """What the hearing of a recorded talk heeded. Raises AudioFileError when its header does not say it right."""
    settings = header.settings
    try:
        tuning = Tuning.from_mapping(settings.get("tuning", {}))
        language = Settings(language=settings.get("language", "en")).language
        pauses_s = None if settings.get("pauses") is None else tuple(float(it) for it in settings["pauses"])
        return Heeded(Policy.from_mapping(settings.get("policy", {})), language, tuning, pauses_s)
    except (SettingError, TypeError, AttributeError) as error:
        what = f"The recording's settings are not those of this version ({error})."
        raise AudioFileError(what, fix=f"It was made by version {header.package}.") from error


def tried(heeded: Heeded, wishes: Iterable[str]) -> Heeded:
    """With `name=value` for each wish, all at once; of two for one name the last counts.

    Raises SettingError, which says the wish that is wrong, and lists the names where there is none of that name.
    """
    typed: dict[str, str] = {}
    values: dict[str, Value] = {}
    for wish in wishes:
        name, value = _read(wish)
        typed[name], values[name] = wish[:LONGEST], value
    try:
        return _with(heeded, values)
    except SettingError as error:
        wish = typed.get(error.what.partition(":")[0], "")
        raise SettingError(f"--set{f' {wish}' if wish else ''}: {error.what}", fix=error.fix) from error


def _read(wish: str) -> tuple[str, Value]:
    name, equals, text = wish.partition("=")
    name = name.strip().replace("barge_in.", "barge_in_")
    name = _ALSO.get(name, name)
    if not equals:
        raise SettingError(f"--set {wish[:LONGEST]}: no value.", fix=f"Use NAME=VALUE with {', '.join(NAMES)}.")
    if name not in NAMES:
        behind = name in _BEHIND or name in Policy.__dataclass_fields__
        why = f"{name} acts behind what is replayed" if behind else f"there is no setting {shown(name)} to try"
        raise SettingError(f"--set {wish[:LONGEST]}: {why}.", fix=f"Use NAME=VALUE with {', '.join(NAMES)}.")
    kind = NAMES[name]
    try:
        return name, _READ[kind](text)
    except (ValueError, KeyError) as error:
        kind = "phrases with commas between them" if kind == "a list of phrases" else kind
        raise SettingError(f"--set {wish[:LONGEST]}: {shown(text)} is not {kind}.", fix=f"Use {kind}.") from error


def _with(heeded: Heeded, values: Mapping[str, Value]) -> Heeded:
    language = Settings(language=str(values.get("language", heeded.language))).language
    policy_of_keys(values)  # for its errors, which say the names of the file
    changes: dict[str, Any] = {POLICY_FIELDS[name]: value for name, value in values.items() if name in POLICY_FIELDS}
    tuning = heeded.tuning.changed({name: value for name, value in values.items() if name in TUNING_NAMES})
    return replace(heeded, language=language, policy=replace(heeded.policy, **changes), tuning=tuning)
