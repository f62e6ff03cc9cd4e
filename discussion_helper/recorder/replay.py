"""The replay: a take runs through a fresh hearing, in the items' own time and as fast as the machine can."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

from discussion_helper.audio.inbox import Call, Captured, DeviceLost, Item, Played
from discussion_helper.audio.playback import Playback
from discussion_helper.errors import DiscussionError
from discussion_helper.recorder.entries import Called, Cleaned, Entry, Gap, Noted, OwnVoice, Taken, Told
from discussion_helper.recorder.heard import Happened, Heard, happened, heard
from discussion_helper.recorder.note_line import note_line
from discussion_helper.recorder.records import Kind
from discussion_helper.recorder.replayed_echo import ReplayedEcho
from discussion_helper.recorder.score_book import ScoreBook
from discussion_helper.recorder.take import Take
from discussion_helper.recorder.word_book import Reads, WordBook
from discussion_helper.voice.audio_work import AudioWork, Cut, HalfDuplex, Listening, Reopened, TalkKey
from discussion_helper.voice.deciding import Words
from discussion_helper.voice.echo_path import EchoPath
from discussion_helper.voice.hearing import RATE, Hearing
from discussion_helper.voice.marks import Marks
from discussion_helper.voice.notes import Note
from discussion_helper.voice.scored import Scored

__all__ = ["IN_STEP", "WARM_S", "MakesHearing", "Outcome", "Replay"]

WARM_S = 10.0
"""After a beginning that is missing: WebRTC's detector looks at the lowest levels of some seconds. What the canceller
made of the sound is taken from the recording there. The neural detector remembers the last speech for longer; where
none was heard in this time, a voice may begin a frame earlier or later than it did in the talk."""
IN_STEP = 2_560
"""Samples at 16 kHz after which a block of 10 ms and a frame of the neural detector begin together: only there can a
beginning that is missing be made up for, since every frame is then the one that it was in the talk."""

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
    happened: list[Happened] = field(default_factory=list)
    """What the talk itself did."""
    failures: list[str] = field(default_factory=list)
    """What the hearing broke with; it was not replayed any further."""

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
        self._scores = ScoreBook.of(take.entries((Kind.CAPTURED, Kind.PLAYED, Kind.CALLED, Kind.NOTED)))
        self._echo = ReplayedEcho(echo)
        self._hearing = hearing
        self._work = AudioWork(noted=self._note, lost=_nobody, failed=self._fail)
        self._work.begin(lambda fn, *args: fn(*args), Marks(Playback(48_000)))
        self._place, self._now, self._warm_s = -1, take.header.zero_s, float("-inf")
        self._first_s: float | None = None
        self._aligned = take.begins

    def run(self) -> Outcome:
        """From its beginning to its end. Raises AudioFileError when a file cannot be read."""
        if not self._take.begins:
            self._warm_s = float("inf")
            self._echo.trust()
            self._listen(self._take.header.listening)
        ended = False
        for entry, followers in _grouped(self._take.entries()):
            self._echo.expect([it for it in followers if isinstance(it, Cleaned | OwnVoice)])
            match entry:
                case Taken(item, now):
                    self._step(item, now)
                case Gap(_, listening):
                    self._cross(listening)
            if self._outcome.failures:
                return self._outcome
            self._follow(followers)
            ended = ended or any(isinstance(it, Told) and it.event.get("kind") == "ended" for it in followers)
            self._watch_echo()
        if not ended:
            self._leave_off()
        self._outcome.unknown_words = self._book.unknown
        self._outcome.seconds = self._now - (self._first_s if self._first_s is not None else self._now)
        return self._outcome

    def _step(self, item: Captured | Played | Called, now: float) -> None:
        self._place, self._now = self._place + 1, now
        if self._first_s is None:
            self._first_s = now
        if self._warm_s == float("inf"):
            self._warm_s = now + WARM_S
        for words in self._book.due(now):
            self._work.take(Call(partial(self._work.words, words)), now)
        for scored in self._scores.due(now):
            self._work.take(Call(partial(self._work.scored, scored)), now)
        self._work.take(self._item(item), now)

    def _item(self, item: Captured | Played | Called) -> Item | None:
        match item:
            case Captured(frame) if not self._aligned:
                self._aligned = round(frame.start * RATE / frame.rate) % IN_STEP == 0
                return item if self._aligned else None
            case Listening():
                return Call(partial(self._listen, item))
            case HalfDuplex():
                return Call(self._work.go_half_duplex)
            case TalkKey():
                return Call(partial(self._work.key, item))
            case Cut():
                return Call(partial(self._work.cut, item))
            case Reopened():
                return Call(self._work.reopened)
            case Scored():
                return Call(partial(self._work.scored, item)) if self._scores.holds(self._place) else None
            case Words():
                return Call(partial(self._work.words, item)) if self._book.holds(self._place) else None
            case _:
                return item

    def _listen(self, about: Listening) -> None:
        self._work.change(self._hearing(about.rate, self._echo) if about.rate else None, about.microphone)

    def _cross(self, listening: Listening) -> None:
        """Something is missing: nothing is certain for a while, and whoever was listened to may be another."""
        self._outcome.exact = False
        self._echo.trust()
        self._aligned = False
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
        self._add(note_line(note), self._outcome.replayed)
        self._book.noted(note, self._place, self._now)
        self._scores.noted(note, self._place, self._now)
        if self._noted is not None:
            self._noted(note)

    def _follow(self, entries: list[Entry]) -> None:
        """What came of an item in the talk."""
        for entry in entries:
            match entry:
                case Noted(line):
                    self._add(line, self._outcome.recorded)
                case Told() if found := happened(entry, self._take.header.zero_s):
                    self._outcome.happened.append(found)

    def _add(self, line: bytes, to: list[Heard]) -> None:
        at_s = self._now - self._take.header.zero_s
        to.append(heard(at_s, line, to, warming=self._now < self._warm_s))

    def _fail(self, error: Exception) -> None:
        told = str(error) if isinstance(error, DiscussionError) else f"{type(error).__name__}: {error}"
        self._outcome.failures.append(told)

    def _watch_echo(self) -> None:
        if self._echo.differs and self._outcome.echo_differs_s is None:
            self._outcome.echo_differs_s = self._now - self._take.header.zero_s


def _grouped(entries: Iterator[Entry]) -> Iterator[tuple[Entry | None, list[Entry]]]:
    """What was taken, or is missing, with what came of it."""
    head: Entry | None = None
    followers: list[Entry] = []
    for entry in entries:
        if isinstance(entry, Taken | Gap):
            yield head, followers
            head, followers = entry, []
        else:
            followers.append(entry)
    yield head, followers


def _nobody(_: DeviceLost) -> None:
    """A lost device was told to the talk."""
