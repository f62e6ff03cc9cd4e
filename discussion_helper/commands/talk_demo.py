"""The conversation for a machine without a microphone: recorded clips speak as the user."""

import os
from itertools import count
from pathlib import Path

import discussion_helper
from discussion_helper.audio.clips import load_clips
from discussion_helper.audio.devices import find_device
from discussion_helper.errors import AudioFileError, DeviceError

__all__ = ["demo_clips", "free_path", "missing_microphone"]

_FOLDER_VARIABLE = "DISCUSSION_HELPER_CLIPS"


def missing_microphone() -> str:
    """What is missing, and the fix; "" when there is a microphone. Blocks."""
    try:
        find_device(None, "input")
    except DeviceError as error:
        return str(error)
    return ""


def demo_clips() -> tuple[Path, ...]:
    """The recordings of the demo conversation, in order. Raises AudioFileError."""
    chosen = os.environ.get(_FOLDER_VARIABLE)
    folder = Path(chosen).expanduser() if chosen else Path(discussion_helper.__file__).parents[1] / "audio"
    fix = f"Give recordings with --input FILE, or name the folder of the clips in {_FOLDER_VARIABLE}."
    try:
        clips = sorted((clip for clip in load_clips(folder) if clip.demo), key=lambda clip: clip.demo)
    except AudioFileError as error:
        raise AudioFileError(f"There is no microphone, and there are no demo clips: {error.what}", fix=fix) from error
    if not clips:
        raise AudioFileError(f"There is no microphone, and there are no demo clips in {folder}.", fix=fix)
    return tuple(clip.path for clip in clips)


def free_path(path: Path) -> Path:
    """The path, or the first of path-2, path-3 ... that no file has."""
    others = (path.with_stem(f"{path.stem}-{number}") for number in count(2))
    return path if not path.exists() else next(other for other in others if not other.exists())
