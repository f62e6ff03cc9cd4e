"""The folder of a recording: its segments, who may write there, and that nobody else may read it."""

import errno
import os
import re
from dataclasses import dataclass
from pathlib import Path

from discussion_helper.audio.file_claim import claim
from discussion_helper.errors import AudioFileError, SettingError
from discussion_helper.recorder.records import MAGIC
from discussion_helper.regular_file import check_regular, regular_bytes

__all__ = ["LOCK", "Segment", "claimed", "private_folder", "segments_in"]

LOCK = "recording.lock"
_NAME = re.compile(r"(\d{8}T\d{6}\.\d{3}Z)-(\d{6})\.rec")
_IGNORED = {LOCK, ".DS_Store", "Thumbs.db", "desktop.ini"}


@dataclass(frozen=True, slots=True, order=True)
class Segment:
    """A file with some seconds of one talk; the oldest is the least."""

    take: str
    """When the talk began, in UTC, as it stands in the file's name."""
    index: int
    path: Path


def segments_in(folder: Path) -> list[Segment]:
    """Those there are, the oldest first. Raises AudioFileError."""
    try:
        names = os.listdir(folder)
    except OSError as error:
        what = f'"{folder}" cannot be read: {error.strerror}.'
        raise AudioFileError(what, fix="Name the folder of a recording.") from error
    found = [(match, folder / match[0]) for name in names if (match := _NAME.fullmatch(name))]
    return sorted(Segment(match[1], int(match[2]), path) for match, path in found)


def claimed(folder: Path) -> int:
    """Make the folder, or check that there is nothing in it but recordings; a descriptor that keeps others out.

    Only this user may look into it from now on. Raises SettingError, whose text begins with "record".
    """
    try:
        private_folder(folder)
        _check(folder)
        folder.chmod(0o700)
        descriptor = _lock_file(folder / LOCK)
    except OSError as error:
        what = f'record: "{folder}" cannot be used: {error.strerror}.'
        raise SettingError(what, fix="Name a folder that you may write to.") from error
    if not claim(descriptor):
        os.close(descriptor)
        raise SettingError(f'record: another program records in "{folder}".', fix="Name another folder.")
    return descriptor


def private_folder(folder: Path) -> list[Path]:
    """Make it and what it is in, for this user's eyes alone; what was made, the innermost first. Raises OSError."""
    missing = []
    for path in (folder, *folder.parents):
        if path.is_dir():
            break
        missing.append(path)
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(exist_ok=True)  # for the error where it is something else
    return missing


def _lock_file(path: Path) -> int:
    """An open descriptor. Raises OSError, also where it is a link or no file."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, f"{path.name} in it is a link")
    if path.exists():
        check_regular(path.stat())
    flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
    return os.open(path, flags, 0o600)


def _check(folder: Path) -> None:
    for name in sorted(os.listdir(folder)):
        if name not in _IGNORED and not (_NAME.fullmatch(name) and _begins_right(folder / name)):
            what = f'record: "{folder}" holds other files, such as {name}.'
            raise SettingError(what, fix="Name an empty folder, or that of a recording.")


def _begins_right(path: Path) -> bool:
    # A program may have been killed before it wrote more.
    return path.is_file() and MAGIC.startswith(regular_bytes(path, len(MAGIC)))
