"""The recorder: what the audio work takes and makes of it, on its way to a folder, never in the way of the talk."""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Event as Flag
from threading import Thread

from discussion_helper.audio.inbox import Call, Captured, Item, Played
from discussion_helper.errors import SettingError
from discussion_helper.events import Event
from discussion_helper.recorder.entries import Cleaned, Entry, Gap, Header, Noted, OwnVoice, Taken, Told
from discussion_helper.recorder.folder import LOCK, claimed
from discussion_helper.recorder.note_line import note_line
from discussion_helper.recorder.segments import SEGMENT_S, SegmentWriter
from discussion_helper.voice.audio_work import Cut, HalfDuplex, Listening, Reopened, TalkKey
from discussion_helper.voice.deciding import Words
from discussion_helper.voice.notes import Note
from discussion_helper.voice.scored import Scored

__all__ = ["CLOSE_S", "DEFAULT_MINUTES", "PACE_S", "RecordTo", "Recorder"]

DEFAULT_MINUTES = 30.0
PACE_S = 0.1
"""Between two writes: what a process that is killed has lost at most, and ten times a second that its thread wakes."""
CLOSE_S = 3.0
"""How long the end waits for what is still to be written."""
_AUDIO, _RESERVE = 2_000, 500
"""Places for blocks of audio, which are 5 s of both directions and of what comes of them, and for all else."""

_Raw = tuple[Note] | Entry
_Recorded = Listening | Words | HalfDuplex | TalkKey | Scored | Reopened | Cut
"""What a call is about, if it matters."""


@dataclass(frozen=True, slots=True)
class RecordTo:
    """Where to record, and how many minutes are kept. Raises SettingError."""

    folder: Path
    minutes: float = DEFAULT_MINUTES

    def __post_init__(self) -> None:
        if not 1.0 <= self.minutes <= 24 * 60.0:
            raise SettingError(f"record_limit: {self.minutes!r} is out of range.", fix="Use minutes from 1 to 1440.")


class Recorder:
    """Its taps belong to the audio thread, `event` to the event loop, and a thread of its own writes.

    A disk that is too slow makes a gap in the recording, one that is full ends it: `trouble` says why, and
    `on_trouble` is told so, on the recorder's thread.
    """

    def __init__(
        self,
        to: RecordTo,
        header: Header,
        *,
        on_trouble: Callable[[str], object] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`clock`: the one of the items' times. Raises SettingError when the folder cannot be used."""
        self.folder = to.folder
        self.trouble = ""
        self._on_trouble = on_trouble
        self._clock = clock
        self._listening = header.listening
        self._queue: SimpleQueue[_Raw | None] = SimpleQueue()
        self._missed = self._missed_events = 0
        self._closing = Flag()
        self._over = False
        keep = max(2, int(to.minutes * 60.0 / SEGMENT_S))
        self._made = [path for path in (to.folder, *to.folder.parents) if not path.exists()]
        self._lock = claimed(to.folder)
        self._segments = SegmentWriter(to.folder, header, keep=keep)
        self._thread = Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    # -- on the audio thread: nothing here waits

    def item(self, item: Item | None, now: float) -> None:
        """A `Tap` of the audio work."""
        if isinstance(item, Call):
            about = item.about if isinstance(item.about, _Recorded) else None
            if isinstance(about, Listening):
                self._listening = about
            self._put(Taken(about, now), _AUDIO + _RESERVE)
        else:
            self._put(Taken(item, now), _AUDIO if isinstance(item, Captured | Played) else _AUDIO + _RESERVE)

    def note(self, note: Note) -> None:
        """A note tap."""
        self._put((note,), _AUDIO + _RESERVE)

    def echo(self, entry: Cleaned | OwnVoice) -> None:
        """What the echo path gave; see `TappedEcho`."""
        self._put(entry, _AUDIO)

    def _put(self, raw: _Raw, limit: int) -> None:
        if self._over:
            return
        if self._queue.qsize() >= limit:
            self._missed += 1
            return
        if self._missed:
            self._queue.put(Gap(self._missed, self._listening))
            self._missed = 0
        self._queue.put(raw)

    # -- on the event loop

    def event(self, event: Event) -> None:
        """An event of the session."""
        if self._over or self._queue.qsize() >= _AUDIO + _RESERVE:
            self._missed_events += 1
            return
        self._queue.put(Told(self._clock(), event.as_dict()))

    def close(self) -> None:
        """Write what is left, and end. Idempotent; blocks for 3 s at most."""
        if not self._closing.is_set():
            self._closing.set()
            self._queue.put(None)
            self._thread.join(CLOSE_S)
            self._over = True

    def discard(self) -> None:
        """End, and leave nothing of a talk that never began, nor the folder where it was made for that. As `close`."""
        self.close()
        with suppress(OSError):
            self._segments.remove()
            if self._made:
                (self.folder / LOCK).unlink(missing_ok=True)
            for path in self._made:
                path.rmdir()

    # -- on its own thread

    def _run(self) -> None:
        try:
            with self._segments as segments:
                while self._write(segments, self._waiting()):
                    self._closing.wait(PACE_S)
        except OSError as error:
            self._end(f'The recording in "{self.folder}" has ended: {error.strerror or error}.')
        except Exception as error:
            self._end(f'The recording in "{self.folder}" has ended: {error!r}.')
        finally:
            self._over = True
            os.close(self._lock)

    def _waiting(self) -> list[_Raw | None]:
        """All there is, once there is something."""
        found = [self._queue.get()]
        with suppress(Empty):
            while found[-1] is not None:
                found.append(self._queue.get_nowait())
        return found

    def _write(self, segments: SegmentWriter, batch: list[_Raw | None]) -> bool:
        """Whether there is more to come."""
        for raw in batch:
            if raw is not None:
                segments.add(_entry(raw))
        segments.flush()
        return batch[-1] is not None

    def _end(self, trouble: str) -> None:
        self._over = True
        self.trouble = trouble
        if self._on_trouble is not None:
            self._on_trouble(trouble)


def _entry(raw: _Raw) -> Entry:
    """What is heavy is made here, away from the audio thread."""
    return Noted(note_line(raw[0])) if isinstance(raw, tuple) else raw
