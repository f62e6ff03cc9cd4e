"""The conversation for a machine without a microphone or a loudspeaker: recorded clips, and a file."""

import os
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import discussion_helper
from discussion_helper.audio.clips import Clip, load_clips
from discussion_helper.audio.devices import Kind, find_device
from discussion_helper.errors import AudioFileError, DeviceError
from discussion_helper.settings import AUTO

__all__ = ["demo_clips", "free_path", "missing_loudspeaker", "missing_microphone"]

_FOLDER_VARIABLE = "DISCUSSION_HELPER_CLIPS"
_FIX = f"Give recordings with --input FILE, or name a checkout's folder audio in {_FOLDER_VARIABLE}."
_MOST = 4
"""Clips of a language without a demo conversation of its own: about a minute with the answers."""


def missing_microphone() -> DeviceError | None:
    """What is missing, and the fix; None when there is a microphone. Blocks."""
    return _missing(None, "input")


def missing_loudspeaker(name: str | None) -> DeviceError | None:
    """The same for the loudspeaker of that name; None is the default one."""
    return _missing(name, "output")


def _missing(name: str | None, kind: Kind) -> DeviceError | None:
    try:
        find_device(name, kind)
    except DeviceError as error:
        return error
    return None


def demo_clips(language: str) -> tuple[Path, ...]:
    """The recordings of the demo conversation in a language (ISO 639-1), in order. Raises AudioFileError."""
    chosen = os.environ.get(_FOLDER_VARIABLE)
    folder = Path(chosen).expanduser() if chosen else Path(discussion_helper.__file__).parents[1] / "audio"
    if not chosen and not folder.exists():
        raise AudioFileError("There is no microphone, and an installed copy has no demo clips.", fix=_FIX)
    try:
        clips = [clip for clip in load_clips(folder) if clip.demo or (clip.kind == "speech" and clip.transcript)]
    except AudioFileError as error:
        raise AudioFileError(f"There is no microphone, and there are no demo clips: {error.what}", fix=_FIX) from error
    if not clips:
        raise AudioFileError(f"There is no microphone, and there are no demo clips in {folder}.", fix=_FIX)
    return tuple(clip.path for clip in _in_language(language, clips))


def _in_language(language: str, clips: Sequence[Clip]) -> list[Clip]:
    """Those that have a turn in the demo; in a language where none has, the first that speak it. `auto` is English."""
    wanted = "en" if language == AUTO else language.lower()
    fitting = [clip for clip in clips if _code(clip) == wanted]
    if not fitting:
        there = ", ".join(sorted({_code(clip) for clip in clips} - {""}))
        what = f"There is no microphone, and no demo clip is in {language}: they are in {there}."
        raise AudioFileError(what, fix="Name recordings of yours with --input FILE.")
    turns = sorted((clip for clip in fitting if clip.demo), key=lambda clip: clip.demo)
    return turns or fitting[:_MOST]


def _code(clip: Clip) -> str:
    return clip.language.partition("-")[0].lower()


def free_path(path: Path) -> Path:
    """The path, or the first of path-2, path-3 ... that no file has."""
    others = (path.with_stem(f"{path.stem}-{number}") for number in count(2))
    return path if not path.exists() else next(other for other in others if not other.exists())
