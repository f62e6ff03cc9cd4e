"""A talk in sample time that is recorded: nobody waits, and the same samples come every time."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discussion_helper.audio.echo import EchoPath
from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Call, Captured, Item, Played
from discussion_helper.audio.playback import Playback
from discussion_helper.events import Event
from discussion_helper.listening import hearing_with
from discussion_helper.recorder.entries import Header
from discussion_helper.recorder.recorder import Recorder, RecordTo
from discussion_helper.recorder.tapped_echo import TappedEcho
from discussion_helper.recorder.trials import settings_for
from discussion_helper.testing.sample_room import RATE, ZERO_S, Echo, SampleRoom
from discussion_helper.types import Policy
from discussion_helper.voice.audio_work import AudioWork, Listening
from discussion_helper.voice.deciding import Words
from discussion_helper.voice.marks import Marks
from discussion_helper.voice.notes import Note, WordsWanted

SPEECH = Path(__file__).parents[2] / "audio" / "speech"
STARTED_UTC_S = 1_800_000_000.0
READ_S = 0.2


@dataclass
class RecordedTalk:
    """An agent speaks, a person talks over it and once more after it; a recogniser needs 0.2 s."""

    folder: Path
    minutes: float = 30.0
    started_utc_s: float = STARTED_UTC_S
    text: str = "tell me about rivers"
    clock_s: float = ZERO_S
    notes: list[Note] = field(default_factory=list)

    def __post_init__(self) -> None:
        header = Header(
            started_utc_s=self.started_utc_s,
            zero_s=ZERO_S,
            package="0.1.0",
            settings=settings_for(Policy(), "en", stt="tiny.en"),
            machine="the test",
        )
        self.recorder = Recorder(RecordTo(self.folder, self.minutes), header, clock=lambda: self.clock_s)
        path = TappedEcho(EchoPath(), self.recorder.echo)
        self.work = AudioWork(
            noted=self.notes.append,
            lost=lambda _: None,
            failed=self._fail,
            tap=self.recorder.item,
            note_tap=self.recorder.note,
        )
        self.work.begin(lambda fn, *args: fn(*args), Marks(Playback(RATE)))
        self._path = path
        self._words: list[tuple[float, Words]] = []

    def _fail(self, error: Exception) -> None:
        raise error

    def open(self, now: float = ZERO_S - 0.1) -> None:
        hearing = hearing_with(RATE, self._path, policy=Policy(), language="en")
        about = Listening("room", RATE)
        self.take(Call(lambda: self.work.change(hearing, "room"), about), now)

    def close(self) -> None:
        self.take(Call(lambda: self.work.change(None, ""), Listening()), self.clock_s + 0.01)
        self.recorder.event(Event("ended", self.clock_s - ZERO_S, {"reason": "finished"}))
        self.recorder.close()

    def take(self, item: Item | None, now: float) -> None:
        self.clock_s = now
        while self._words and self._words[0][0] <= now:
            at_s, words = self._words.pop(0)
            self.work.take(Call(lambda words=words: self.work.words(words), words), at_s)  # type: ignore[misc]
        before = len(self.notes)
        self.work.take(item, now)
        for note in self.notes[before:]:
            if isinstance(note, WordsWanted):
                self._words.append((now + READ_S, Words(text=self.text, voiced_s=note.voiced_s)))

    def hear(self, items: Iterator[Captured | Played]) -> None:
        for item in items:
            self.take(item, max(self.clock_s, item.at_s + 0.015 if isinstance(item, Captured) else self.clock_s))


def sounds(seconds: float) -> tuple[Samples, Samples]:
    """What the agent says, and what the person says over it and after it; both once more after 25 s."""
    clips = [load(path, RATE).samples for path in sorted(SPEECH.glob("asterisk_en_*"))]
    played, said = (np.zeros(round(seconds * RATE), np.float32) for _ in "ab")
    first = (0.5, clips[1], played), (2.0, clips[0], said), (9.0, clips[2], said)
    second = (25.0, clips[1], played), (27.0, clips[0], said)
    for at_s, clip, into in (*first, *second):
        piece = clip[: max(0, len(into) - round(at_s * RATE))]
        into[round(at_s * RATE) : round(at_s * RATE) + len(piece)] = piece * 0.5
    return played, said


def recorded_in(folder: Path, *, seconds: float = 14.0, **options: Any) -> RecordedTalk:
    talk = RecordedTalk(folder, **options)
    talk.open()
    talk.hear(SampleRoom(echoes=[Echo(0.0, -12.0)]).items(*sounds(seconds)))
    talk.close()
    return talk


@pytest.fixture(scope="session")
def talk(tmp_path_factory: pytest.TempPathFactory) -> RecordedTalk:
    """A recorded talk of 14 s, whole. Not to be changed."""
    return recorded_in(tmp_path_factory.mktemp("recording") / "talk")


@pytest.fixture(scope="session")
def record() -> Any:
    """`record(folder, seconds=14.0, minutes=30.0)`: another one."""
    return recorded_in


@pytest.fixture
def recorded_talk() -> Any:
    """The class, for talks of one's own."""
    return RecordedTalk
