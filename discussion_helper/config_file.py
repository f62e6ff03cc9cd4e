"""The settings file: what `talk` and `serve` take for granted where the command line says nothing."""

import json
import os
import re
import stat
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from discussion_helper.config_keys import KEYS, Value, checked, flat
from discussion_helper.errors import SettingError
from discussion_helper.regular_file import regular_bytes
from discussion_helper.shown import LONGEST

__all__ = ["KEYS", "VARIABLE", "Value", "config_path", "is_named", "read_config", "write_config"]

VARIABLE = "DISCUSSION_HELPER_CONFIG"
"""Names another file than the platform's."""
_LARGEST = 65_536
"""Bytes. A file of settings is not longer."""


def config_path() -> Path:
    """Where the file is: DISCUSSION_HELPER_CONFIG, or `settings.toml` in the platform's folder for settings."""
    if named := os.environ.get(VARIABLE, ""):
        return Path(os.path.expanduser(named))
    import platformdirs

    return Path(platformdirs.user_config_dir("discussion_helper", appauthor=False)) / "settings.toml"


def is_named() -> bool:
    """Whether the user says which file it is: then it has to be there."""
    return bool(os.environ.get(VARIABLE))


def read_config(path: Path | None = None, *, may_be_missing: bool = False) -> dict[str, Value]:
    """What the file says, checked; {} where there is none, and in the null device.

    Raises SettingError naming the file, the key and the fix; also for a pipe and the like, which is not opened, and for
    a file that the variable names and that is not there, unless it `may_be_missing`.
    """
    is_wanted = path is None and is_named() and not may_be_missing
    path = path or config_path()
    try:
        data = b"" if _is_null_device(path) else regular_bytes(path, _LARGEST + 1)
    except FileNotFoundError:
        if is_wanted:
            raise _not_there(path) from None
        return {}
    except (OSError, ValueError) as error:  # ValueError: a null character in its name
        reason = getattr(error, "strerror", None) or error
        raise SettingError(f"{path} cannot be read ({reason}).", fix=f"Correct it, or {VARIABLE}.") from error
    return _checked(path, _parsed(path, data))


def write_config(values: Mapping[str, Value], path: Path | None = None) -> Path:
    """Put these into the file and leave everything else in it as it is; the file's path.

    It is written beside the old one and takes its place at once; what is no file is left alone. Raises SettingError.
    """
    path = path or config_path()
    _check_replaceable(path)
    wanted = _checked(path, {**read_config(path), **values})
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path.resolve(), _edited(text, values, wanted))  # a link stays a link
    except OSError as error:
        raise _not_written(path, error.strerror) from error
    return path


def _not_there(path: Path) -> SettingError:
    fix = f"Correct the name, make the file (an empty one will do), or unset {VARIABLE}."
    return SettingError(f"{VARIABLE}: there is no file {path}.", fix=fix)


def _is_null_device(path: Path) -> bool:
    return stat.S_ISCHR(path.stat().st_mode) and path.samefile(os.devnull)


def _check_replaceable(path: Path) -> None:
    """Raises SettingError for a device, a pipe, a socket or a folder: a file would take its place, for everybody."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # nothing is there, or whoever reads it says what is wrong
        return
    if not stat.S_ISREG(mode):
        raise _not_written(path, "it is no file")


def _not_written(path: Path, reason: object) -> SettingError:
    fix = f"Name a file that can be written in {VARIABLE}."
    return SettingError(f"{path} cannot be written ({reason}).", fix=fix)


def _parsed(path: Path, data: bytes) -> dict[str, Any]:
    fix = 'Correct it: each line is a key, = and a value, such as stt = "base".'
    if len(data) > _LARGEST:
        raise SettingError(f"{path} is longer than {_LARGEST} bytes.", fix="Leave nothing in it but settings.")
    try:
        return tomllib.loads(data.decode("utf-8-sig").replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:  # a number of too many digits is no TOMLDecodeError
        raise SettingError(f"{path} is not TOML: {_why(error)}.", fix=fix) from error


def _why(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    return str(error)[:LONGEST] if isinstance(error, ValueError) else "it is too deep"


def _checked(path: Path, values: Mapping[str, Any]) -> dict[str, Value]:
    try:
        return checked(flat(values))
    except SettingError as error:
        raise SettingError(f"{path}: {error.what}", fix=error.fix) from error


def _edited(text: str, values: Mapping[str, Value], wanted: Mapping[str, Value]) -> str:
    """The text with these lines; if that does not give what is wanted (a text over several lines), all is written."""
    lines = text.replace("\r\n", "\n").removeprefix("\ufeff").splitlines()
    for key, value in values.items():
        top = next((n for n, line in enumerate(lines) if line.lstrip().startswith("[")), len(lines))  # a table begins
        places = [n for n, old in enumerate(lines[:top]) if _key(key).match(old)]
        if places:
            lines[places[0]] = _line(key, value, lines[places[0]])
        else:
            lines.insert(top, _line(key, value))
    edited = "\n".join(lines) + "\n"
    try:
        kept = flat(tomllib.loads(edited)) == dict(wanted)
    except (SettingError, ValueError, RecursionError):
        kept = False
    return edited if kept else "".join(f"{key} = {_toml(value)}\n" for key, value in wanted.items())


def _key(key: str) -> re.Pattern[str]:
    return re.compile(rf'\s*["\']?{re.escape(key)}["\']?\s*=[ \t]*')


def _line(key: str, value: Value, old: str = "") -> str:
    """The line that says so, with the comment that stood behind the old one."""
    begins = _key(key).match(old)
    return f"{begins[0] if begins else f'{key} = '}{_toml(value)}{_comment(old)}"


def _comment(line: str) -> str:
    """What follows the value in a line of one, with the spaces before it."""
    for place in (match.start() for match in re.finditer("#", line)):
        try:
            tomllib.loads(line[:place])
        except ValueError:  # it belongs to a text
            continue
        return line[len(line[:place].rstrip()) :]
    return ""


def _toml(value: Value) -> str:
    """JSON's texts, numbers and lists are TOML's as well, but for one control character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _replace(path: Path, text: str) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".settings-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
