"""The pause file: what was learned of a speaker's pauses, kept from one talk to the next."""

import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from discussion_helper.errors import SettingError
from discussion_helper.regular_file import regular_bytes
from discussion_helper.turn.pauses import LEAST_S, LONGEST_S, MOST

__all__ = ["SPEAKER", "PauseFile", "pause_file_path"]

SPEAKER = "default"
"""Whose pauses they are; who speaks is not told apart."""
_FORMAT = 1
_LARGEST = 65_536


def pause_file_path() -> Path:
    """`pauses.json` in the platform's folder for a user's data."""
    import platformdirs

    return Path(platformdirs.user_data_dir("discussion_helper", appauthor=False)) / "pauses.json"


class PauseFile:
    """A small JSON file for its user alone: the last pauses of each speaker, in seconds, the oldest first."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, speaker: str = SPEAKER) -> tuple[float, ...]:
        """The pauses of that speaker; () where there is no file, or none that can be understood: they are learned anew.

        Raises SettingError where it cannot be read.
        """
        return _pauses(self._document().get(speaker))

    def write(self, pauses_s: tuple[float, ...], speaker: str = SPEAKER) -> None:
        """Put them in the place of those that were there, at once. Raises SettingError."""
        speakers = {**self._document(), speaker: [round(pause_s, 3) for pause_s in pauses_s]}
        text = json.dumps({"format": _FORMAT, "speakers": speakers})
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._replace(text)
        except OSError as error:
            raise self._refusal("written", error) from error

    def _document(self) -> dict[str, Any]:
        """The speakers. What is no such document counts as none."""
        try:
            content = regular_bytes(self._path, _LARGEST)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:  # no path holds a NUL, or half an emoji
            raise self._refusal("read", error) from error
        try:
            document = json.loads(content)
        except (ValueError, RecursionError):
            return {}
        right = isinstance(document, dict) and document.get("format") == _FORMAT
        speakers = document.get("speakers") if right else None
        return speakers if isinstance(speakers, dict) else {}

    def _replace(self, text: str) -> None:
        descriptor, name = tempfile.mkstemp(dir=self._path.parent, prefix=".pauses-")  # for this user alone
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(name, self._path)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise

    def _refusal(self, verb: str, error: Exception) -> SettingError:
        path = str(self._path).encode("utf-8", "replace").decode()
        what = f"{path} cannot be {verb} ({getattr(error, 'strerror', None) or error})."
        return SettingError(what, fix="Give this user the right to it, or set learn_pauses = false.")


def _pauses(values: object) -> tuple[float, ...]:
    if not isinstance(values, list):
        return ()
    numbers = [it for it in values if isinstance(it, int | float) and not isinstance(it, bool)]
    return tuple(float(it) for it in numbers if LEAST_S <= it <= LONGEST_S)[-MOST:]
