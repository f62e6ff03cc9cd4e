"""The settings file: what `talk` and `serve` take for granted where the command line says nothing."""

import json
import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discussion_helper.errors import SettingError
from discussion_helper.policy import Policy
from discussion_helper.settings import Settings

__all__ = ["KEYS", "VARIABLE", "Value", "config_path", "read_config", "write_config"]

VARIABLE = "DISCUSSION_HELPER_CONFIG"
"""Names another file than the platform's."""
Value = str | bool | int | float

KEYS: Mapping[str, str] = {
    "language": "text",
    "stt": "text",
    "voice": "text",
    "llm": "text",
    "system": "text",
    "microphone": "text",
    "loudspeaker": "text",
    "barge_in": "true or false",
    "max_sentences": "a whole number",
    "silence_timeout": "a number of seconds",
}
"""What may stand in the file, and of what kind it is: the options of `talk`, without their dashes."""

_TYPES: Mapping[str, tuple[type, ...]] = {
    "text": (str,),
    "true or false": (bool,),
    "a whole number": (int,),
    "a number of seconds": (int, float),
}
_POLICY = {
    "barge_in": "allow_barge_in",
    "max_sentences": "max_reply_sentences",
    "silence_timeout": "silence_timeout_s",
}
"""The field of the policy that a key is."""
_LARGEST = 65_536
"""Bytes. A file of settings is not longer."""


def config_path() -> Path:
    """Where the file is: DISCUSSION_HELPER_CONFIG, or `settings.toml` in the platform's folder for settings."""
    if named := os.environ.get(VARIABLE, ""):
        return Path(os.path.expanduser(named))
    import platformdirs

    return Path(platformdirs.user_config_dir("discussion_helper", appauthor=False)) / "settings.toml"


def read_config(path: Path | None = None) -> dict[str, Value]:
    """What the file says, checked; {} where there is none. Raises SettingError naming the file, the key and the fix."""
    path = path or config_path()
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST + 1)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:  # ValueError: a null character in its name
        reason = getattr(error, "strerror", None) or error
        raise SettingError(f"{path} cannot be read ({reason}).", fix=f"Correct it, or {VARIABLE}.") from error
    return _checked(path, _parsed(path, data))


def write_config(values: Mapping[str, Value], path: Path | None = None) -> Path:
    """Put these into the file and leave everything else in it as it is; the file's path.

    It is written beside the old one and takes its place at once. Raises SettingError.
    """
    path = path or config_path()
    wanted = _checked(path, {**read_config(path), **values})
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, _edited(text, values, wanted))
    except OSError as error:
        fix = f"Name a file that can be written in {VARIABLE}."
        raise SettingError(f"{path} cannot be written ({error.strerror}).", fix=fix) from error
    return path


def _parsed(path: Path, data: bytes) -> dict[str, Any]:
    fix = 'Correct it: each line is a key, = and a value, such as stt = "base".'
    if len(data) > _LARGEST:
        raise SettingError(f"{path} is longer than {_LARGEST} bytes.", fix="Leave nothing in it but settings.")
    try:
        return tomllib.loads(data.decode("utf-8-sig").replace("\r\n", "\n"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        reason = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error) or "it is too deep"
        raise SettingError(f"{path} is not TOML: {reason}.", fix=fix) from error


def _checked(path: Path, values: Mapping[str, Any]) -> dict[str, Value]:
    for key, value in values.items():
        if key not in KEYS:
            raise SettingError(f"{path}: there is no setting {key!r}.", fix=f"Use {', '.join(KEYS)}.")
        kind = KEYS[key]
        if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "true or false"):
            raise SettingError(f"{path}: {key}: {value!r} is not {kind}.", fix=f"Use {kind}, or leave it out.")
        if isinstance(value, str) and not _is_utf8(value):
            raise SettingError(f"{path}: {key}: {value!r} is no text.", fix="Use characters of Unicode.")
    try:
        Settings(**{key: value for key, value in values.items() if key not in _POLICY})
        Policy(**{_POLICY[key]: value for key, value in values.items() if key in _POLICY})
    except SettingError as error:
        raise SettingError(f"{path}: {_by_key(error.what)}", fix=error.fix) from error
    return dict(values)


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half an emoji, or a byte of the command line that was none of a character
        return False
    return True


def _by_key(what: str) -> str:
    """The error of a field, by the key that it has in the file."""
    field, colon, rest = what.partition(":")
    keys = {name: key for key, name in _POLICY.items()}
    return f"{keys.get(field, field)}{colon}{rest}"


def _edited(text: str, values: Mapping[str, Value], wanted: Mapping[str, Value]) -> str:
    """The text with these lines; if that does not give what is wanted (a text over several lines), all is written."""
    lines = text.replace("\r\n", "\n").removeprefix("\ufeff").splitlines()
    for key, value in values.items():
        line = f"{key} = {_toml(value)}"
        places = [n for n, old in enumerate(lines) if re.match(rf'["\']?{key}["\']?\s*=', old.strip())]
        if places:
            lines[places[0]] = line
        else:
            lines.append(line)
    edited = "\n".join(lines) + "\n"
    try:
        kept = tomllib.loads(edited) == dict(wanted)
    except tomllib.TOMLDecodeError:
        kept = False
    return edited if kept else "".join(f"{key} = {_toml(value)}\n" for key, value in wanted.items())


def _toml(value: Value) -> str:
    """JSON's texts and numbers are TOML's as well, but for one control character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _replace(path: Path, text: str) -> None:
    import tempfile

    path = path.resolve()  # a link stays a link
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, prefix=".settings-", delete=False) as file:
        beside = Path(file.name)
        file.write(text)
    try:
        beside.replace(path)
    except OSError:
        beside.unlink()
        raise
