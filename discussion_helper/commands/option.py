"""Options that know whether they were given, and the settings file where they were not."""

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from discussion_helper.errors import SettingError
from discussion_helper.settings import Settings
from discussion_helper.tuning import Tuning
from discussion_helper.voice.pause_file import pause_file_path

__all__ = ["PATIENT", "Given", "chosen_parts", "with_file"]

PATIENT = 2.0
"""What `--patient` makes of `endpoint.patient`: times as long as usual."""
_INSTEAD: Mapping[str, tuple[str, ...]] = {
    "microphone": ("device", "input"),
    "loudspeaker": ("device", "output"),
}
"""Options that say the same as a key of the file, or contradict it: then the file is silent."""
_FLAGS = {"barge_in": "no_barge_in"}
"""Keys of the file that say the opposite of an option."""


class Given(argparse.Action):
    """Stores what was given, as usual, and notes that it was, in `given`; for options with a value and for flags."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002 - as actions are called
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        value = not (option_string or "").startswith("--barge-in") if self.nargs == 0 else values
        setattr(namespace, self.dest, value)
        namespace.given = {*getattr(namespace, "given", ()), self.dest}


def chosen_parts(arguments: argparse.Namespace) -> Settings:
    """The settings of what listens, answers and speaks, of the devices, and what only the file says.

    Raises SettingError.
    """
    only_there: dict[str, Any] = {**getattr(arguments, "only_in_file", {})}
    if getattr(arguments, "patient", False):
        only_there["tuning"] = only_there.get("tuning", Tuning()).changed({"endpoint.patient": PATIENT})
    return Settings(
        language=arguments.language,
        stt=arguments.stt,
        hints=tuple(getattr(arguments, "hints", ())),
        voice=arguments.voice,
        llm=arguments.llm,
        microphone=arguments.microphone or arguments.device,
        loudspeaker=arguments.loudspeaker or arguments.device,
        pause_file=pause_file_path(),
        **only_there,
    )


def with_file(arguments: argparse.Namespace, *, may_be_missing: bool = False) -> argparse.Namespace:
    """The arguments, with what the settings file says where the command line said nothing.

    Both, those that were given too, are told which keys came from which file: `command_line.with_option` names it.
    Only for options of this command. A file that the user named must be there, unless it `may_be_missing`. Blocks.
    Raises SettingError naming the file.
    """
    from discussion_helper.config_file import config_path, read_config
    from discussion_helper.config_keys import policy_of_keys, tuning_of_keys

    keys: set[str] = set()
    filled = argparse.Namespace(**vars(arguments))
    given: set[str] = getattr(arguments, "given", set())
    values = read_config(may_be_missing=may_be_missing)
    if values:
        filled.only_in_file = {"policy": policy_of_keys(values), "tuning": tuning_of_keys(values)}
        filled.only_in_file["learn_pauses"] = values.get("learn_pauses", True)
    for key, value in values.items():
        name = _FLAGS.get(key, key)
        instead = any(getattr(arguments, other, None) for other in _INSTEAD.get(key, ()))
        if hasattr(arguments, name) and name not in given and not instead:
            _check(key, value)
            setattr(filled, name, not value if key in _FLAGS else value)
            keys.add(key)
    if "hints" in values and not hasattr(arguments, "hints"):
        filled.hints = values["hints"]
    if keys:  # for whoever tells what turns out to be wrong with them later
        filled.from_file = arguments.from_file = (str(config_path()), frozenset(keys))
    return filled


def _check(key: str, value: object) -> None:
    """What it names is there: otherwise the command line would be blamed for it. Raises SettingError."""
    from discussion_helper.choices import llm_of, recogniser_of, voice_of
    from discussion_helper.config_file import config_path

    try:
        if key == "stt":
            recogniser_of(Settings(stt=str(value)))
        elif key == "voice":
            voice_of(Settings(voice=str(value)))
        elif key == "llm":
            llm_of(Settings(llm=str(value)))
    except SettingError as error:
        raise SettingError(f"{config_path()}: {error.what}", fix=error.fix) from error
