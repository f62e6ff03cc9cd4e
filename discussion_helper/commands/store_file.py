"""The file that an option names for threads."""

import os
import shlex
from pathlib import Path

from discussion_helper.errors import SettingError

__all__ = ["checked_file", "file_to_read", "store_option"]


def checked_file(option: str, path: Path | None) -> Path | None:
    """The same. Raises SettingError naming the option for a folder, as which an empty name counts, and for a file in a
    folder that there is not: a name with a slip in it makes no folders.
    """
    if path is not None and os.path.isdir(path):
        named = "the name is empty, or that of this folder" if path == Path() else f"{path} is a folder"
        raise SettingError(f"{option}: {named}.", fix="Name a file, or leave it out.")
    if path is not None and not os.path.isdir(path.parent):
        raise SettingError(f"{option}: there is no folder {path.parent}.", fix="Make it, or name another file.")
    return path


def file_to_read(option: str, path: Path | None) -> Path | None:
    """The same, of a file that is looked into: a name with a slip in it makes no database. Raises SettingError."""
    path = checked_file(option, path)
    if path is not None and str(path) != ":memory:" and not path.is_file():
        raise SettingError(f"{option}: {path} is not there.", fix="Name the file that chat, talk or serve was given.")
    return path


def store_option(path: Path | None) -> str:
    """What names the same store in another command, behind its other words; "" for the user's own."""
    return "" if path is None else f" --store={shlex.quote(str(path))}"
