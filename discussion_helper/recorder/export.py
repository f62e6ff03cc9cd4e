"""A take as files that every program reads."""

import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TextIO

from discussion_helper.audio.echo import LAG
from discussion_helper.audio.frames import Frame
from discussion_helper.audio.inbox import Captured, Played
from discussion_helper.audio.resample import HALF
from discussion_helper.errors import AudioFileError
from discussion_helper.recorder.entries import Cleaned, Entry, Noted, Taken, Told
from discussion_helper.recorder.folder import private_folder
from discussion_helper.recorder.take import Take
from discussion_helper.recorder.tracks import Timeline, Track
from discussion_helper.voice.hearing import RATE

__all__ = ["FILES", "exported"]

FILES = ("microphone.wav", "played.wav", "cancelled.wav", "events.jsonl", "notes.jsonl")
_CANCELLED_LATE_S = (LAG + HALF) / RATE
"""Of the canceller and the resampler before it, which is taken out."""


def exported(take: Take, folder: Path) -> list[Path]:
    """Write `FILES` into `folder`, which is made; those that there are now. Only this user may read them.

    The three sounds begin at the same moment and are aligned to the sample, each with a rate of its own; every event
    and note has its place in them as `file_s`. The same take gives the same bytes. Raises AudioFileError, and leaves
    nothing then.
    """
    try:
        made = private_folder(folder)
        found = [name for name in FILES if os.path.lexists(folder / name)]
        if found:
            raise AudioFileError(f'"{folder / found[0]}" is there already.', fix="Name an empty folder.")
        with _nothing_left(folder, made), ExitStack() as stack:
            _Export(folder, stack).run(take)
    except OSError as error:
        raise AudioFileError(f'"{folder}" cannot be written: {error.strerror}.', fix="Name another folder.") from error
    return [path for name in FILES if (path := folder / name).exists()]


@contextmanager
def _nothing_left(folder: Path, made: list[Path]) -> Iterator[None]:
    """Of what was begun, where it does not come to its end; `made`: the folders that were not there before."""
    try:
        yield
    except BaseException:
        for name in FILES:
            (folder / name).unlink(missing_ok=True)
        for path in made:
            with suppress(OSError):  # somebody else has put something there
                path.rmdir()
        raise


class _Export:
    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._microphone = stack.enter_context(Track(folder / FILES[0]))
        self._played = stack.enter_context(Track(folder / FILES[1]))
        self._cancelled = stack.enter_context(Track(folder / FILES[2], late_s=_CANCELLED_LATE_S))
        self._events = stack.enter_context(_text_file(folder / FILES[3]))
        self._notes = stack.enter_context(_text_file(folder / FILES[4]))
        self._timeline = Timeline()
        self._captured_s = 0.0
        self._now = 0.0

    def run(self, take: Take) -> None:
        for entry in take.entries():
            self._take(entry)

    def _take(self, entry: Entry) -> None:
        match entry:
            case Taken(Captured(frame, at_s), now):
                self._now = now
                self._microphone.put(frame, self._timeline.captured(frame, at_s))
                self._captured_s = frame.start_s
            case Taken(Played(frame, at_s, _), now):
                self._now = now
                self._played.put(frame, self._timeline.of(at_s))
            case Taken(_, now):
                self._now = now
            case Cleaned(start, samples):
                place_s = self._timeline.after(start / RATE - self._captured_s)
                self._cancelled.put(Frame(samples, RATE, start), place_s)
            case Told(now, event):
                self._line(self._events, now, event)
            case Noted(line):
                self._line(self._notes, self._now, json.loads(line))

    def _line(self, file: TextIO, now: float, values: dict[str, object]) -> None:
        placed = values | {"file_s": round(self._timeline.of(now), 3)}
        file.write(_json(placed) + "\n")


def _text_file(path: Path) -> TextIO:
    """A new one. Raises OSError."""
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    return os.fdopen(descriptor, "w", encoding="utf-8", newline="\n")


def _json(values: dict[str, object]) -> str:
    """Numbers that JSON does not know are null."""
    try:
        return json.dumps(values, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return json.dumps(json.loads(json.dumps(values), parse_constant=lambda _: None), ensure_ascii=False)
