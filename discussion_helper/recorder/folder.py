"""The folder of a recording: its segments, who may write there, and that nobody else may read it."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from discussion_helper.audio.file_claim import claim
from discussion_helper.errors import AudioFileError, SettingError
from discussion_helper.recorder.records import MAGIC

__all__ = ["LOCK", "Segment", "claimed", "segments_in"]

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
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check(folder)
        folder.chmod(0o700)
        descriptor = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0), 0o600)
    except OSError as error:
        what = f'record: "{folder}" cannot be used: {error.strerror}.'
        raise SettingError(what, fix="Name a folder that you may write to.") from error
    if not claim(descriptor):
        os.close(descriptor)
        raise SettingError(f'record: another program records in "{folder}".', fix="Name another folder.")
    return descriptor


def _check(folder: Path) -> None:
    for name in sorted(os.listdir(folder)):
        if name not in _IGNORED and not (_NAME.fullmatch(name) and _begins_right(folder / name)):
            what = f'record: "{folder}" holds other files, such as {name}.'
            raise SettingError(what, fix="Name an empty folder, or that of a recording.")


def _begins_right(path: Path) -> bool:
    with path.open("rb") as file:
        return MAGIC.startswith(file.read(len(MAGIC)))  # a program may have been killed before it wrote more
