"""The replay: a take runs through a fresh hearing, in the items' own time and as fast as the machine can."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Call, Captured, DeviceLost, Item, Played
from discussion_helper.audio.playback import Playback
from discussion_helper.recorder.entries import Cleaned, Gap, Noted, Taken, Told, sixteen
from discussion_helper.recorder.heard import Heard
from discussion_helper.recorder.note_line import note_line
from discussion_helper.recorder.records import Kind
from discussion_helper.recorder.take import Take
from discussion_helper.recorder.tapped_echo import TappedEcho
from discussion_helper.recorder.word_book import Reads, WordBook
from discussion_helper.voice.audio_work import AudioWork, HalfDuplex, Listening
from discussion_helper.voice.deciding import Words
from discussion_helper.voice.hearing import EchoPath, Hearing
from discussion_helper.voice.marks import Marks
from discussion_helper.voice.notes import Note

__all__ = ["WARM_S", "MakesHearing", "Outcome", "Replay"]

WARM_S = 10.0
"""After a beginning that is missing: the detectors have forgotten it after a second or two, and the canceller has
learnt the room, as far as it ever does (`audio/echo.py`)."""

MakesHearing = Callable[[int, EchoPath], Hearing]
"""What hears a microphone of so many hertz, through that echo path."""


@dataclass(slots=True)
class Outcome:
    """What a replay came to."""

    recorded: list[Heard] = field(default_factory=list)
    replayed: list[Heard] = field(default_factory=list)
    exact: bool = True
    """All is there from the beginning of the talk on, so that the same settings must give the same bytes."""
    seconds: float = 0.0
    unknown_words: int = 0
    """Stretches that the recogniser would have been asked for, and was not."""
    echo_differs_s: float | None = None
    """From here on the canceller gave other samples than it did in the talk."""
    failures: list[str] = field(default_factory=list)

    @property
    def same(self) -> bool:
        """Every note is the recorded one, to the last byte."""
        return [heard.line for heard in self.recorded] == [heard.line for heard in self.replayed]


class Replay:
    """One run through one take. It has no thread and no clock."""

    def __init__(
        self,
        take: Take,
        hearing: MakesHearing,
        echo: EchoPath,
        *,
        read: Reads | None = None,
        noted: Callable[[Note], object] | None = None,
    ) -> None:
        """`echo`: a fresh one. `read` recognises what was not asked for in the talk. `noted` is told every note."""
        self._take = take
        self._noted = noted
        self._outcome = Outcome(exact=take.begins)
        self._book = WordBook.of(take.entries((Kind.CAPTURED, Kind.PLAYED, Kind.CALLED, Kind.NOTED)), read)
        self._cleaned: deque[tuple[int, NDArray[np.int16]]] = deque()
        self._echo = TappedEcho(echo, self._clean)
        self._hearing = hearing
        self._work = AudioWork(noted=self._note, lost=_nobody, failed=self._fail)
        self._work.begin(lambda fn, *args: fn(*args), Marks(Playback(48_000)))
        self._place, self._now, self._warm_s = -1, take.header.zero_s, float("-inf")
        self._first_s: float | None = None

    def run(self) -> Outcome:
        """From its beginning to its end. Raises AudioFileError when a file cannot be read."""
        if not self._take.begins:
            self._warm_s = float("inf")
            self._listen(self._take.header.listening)
        ended = False
        for entry in self._take.entries():
            match entry:
                case Taken(item, now):
                    self._step(item, now)
                case Noted(line):
                    self._outcome.recorded.append(self._heard(line))
                case Told(event={"kind": "ended"}):
                    ended = True
                case Cleaned():
                    self._compare(entry)
                case Gap(_, listening):
                    self._cross(listening)
        if not ended:
            self._leave_off()
        self._outcome.unknown_words = self._book.unknown
        self._outcome.seconds = self._now - (self._first_s if self._first_s is not None else self._now)
        return self._outcome

    def _step(self, item: Captured | Played | DeviceLost | Listening | Words | HalfDuplex | None, now: float) -> None:
        self._place, self._now = self._place + 1, now
        if self._first_s is None:
            self._first_s = now
        if self._warm_s == float("inf"):
            self._warm_s = now + WARM_S
        for words in self._book.due(now):
            self._work.take(Call(partial(self._work.words, words)), now)
        self._cleaned.clear()
        self._work.take(self._item(item), now)

    def _item(self, item: Captured | Played | DeviceLost | Listening | Words | HalfDuplex | None) -> Item | None:
        match item:
            case Listening():
                return Call(partial(self._listen, item))
            case HalfDuplex():
                return Call(self._work.go_half_duplex)
            case Words():
                return Call(partial(self._work.words, item)) if self._book.holds(self._place) else None
            case _:
                return item

    def _listen(self, about: Listening) -> None:
        self._work.change(self._hearing(about.rate, self._echo) if about.rate else None, about.microphone)

    def _cross(self, listening: Listening) -> None:
        """Something is missing: nothing is certain for a while, and whoever was listened to may be another."""
        self._outcome.exact = False
        self._warm_s = float("inf")
        if self._work.hears is not bool(listening.rate):
            self._listen(listening)

    def _leave_off(self) -> None:
        """The recording was broken off: of what came of its last item not all may be in it."""
        recorded, replayed, end_s = self._outcome.recorded, self._outcome.replayed, self._now
        more = len(replayed) - len(recorded)
        while more > 0 and replayed[-1].at_s == end_s - self._take.header.zero_s:
            replayed.pop()
            more -= 1

    # -- what comes of it

    def _note(self, note: Note) -> None:
        self._outcome.replayed.append(self._heard(note_line(note)))
        self._book.noted(note, self._place, self._now)
        if self._noted is not None:
            self._noted(note)

    def _heard(self, line: bytes) -> Heard:
        return Heard(self._now - self._take.header.zero_s, line, warming=self._now < self._warm_s)

    def _fail(self, error: Exception) -> None:
        self._outcome.failures.append(f"{type(error).__name__}: {error}")

    def _clean(self, start: int, samples: Samples) -> None:
        self._cleaned.append((start, sixteen(samples)))

    def _compare(self, recorded: Cleaned) -> None:
        """The canceller's samples with those of the talk."""
        start, samples = self._cleaned.popleft() if self._cleaned else (-1, recorded.samples)
        alike = start == recorded.start and np.array_equal(samples, recorded.samples)
        if self._outcome.echo_differs_s is None and self._outcome.exact and not alike:
            self._outcome.echo_differs_s = self._now - self._take.header.zero_s


def _nobody(_: DeviceLost) -> None:
    """A lost device was told to the talk."""
