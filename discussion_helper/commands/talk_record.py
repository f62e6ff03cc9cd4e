"""What `talk --record` asks for."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from discussion_helper.errors import SettingError

if TYPE_CHECKING:
    from discussion_helper.recorder.recorder import RecordTo

__all__ = ["add_recording", "record_to"]


def add_recording(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    about = "Off unless asked for. `discussion-helper replay DIR` runs it again; a minute takes 10 to 28 MB at 48 kHz."
    recording = parser.add_argument_group("recording", about)
    text = "record all that is heard, said and decided, in a folder of its own"
    recording.add_argument("--record", metavar="DIR", type=Path, help=text)
    text = "keep the last so many minutes of it, earlier talks included (default: 30)"
    recording.add_argument("--record-limit", metavar="MINUTES", type=float, help=text)


def record_to(arguments: argparse.Namespace) -> "RecordTo | None":
    """Where to record, if anywhere. Raises SettingError."""
    from discussion_helper.recorder.recorder import DEFAULT_MINUTES, RecordTo

    folder, minutes = arguments.record, arguments.record_limit
    if folder is None and minutes is not None:
        raise SettingError("record_limit: nothing is recorded.", fix="Add --record DIR, or leave it out.")
    if folder is None:
        return None
    return RecordTo(folder, DEFAULT_MINUTES if minutes is None else minutes)
