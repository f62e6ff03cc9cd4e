"""A recording of a talk whose turns are judged by their sound, and whose pauses are learned."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discussion_helper.audio.echo import EchoPath
from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Call, Captured
from discussion_helper.audio.playback import Playback
from discussion_helper.listening import hearing_with
from discussion_helper.recorder.entries import Header, Taken
from discussion_helper.recorder.note_line import note_line
from discussion_helper.recorder.recorder import Recorder, RecordTo
from discussion_helper.recorder.replay import Outcome, Replay
from discussion_helper.recorder.take import takes_in
from discussion_helper.recorder.tapped_echo import TappedEcho
from discussion_helper.recorder.trials import heeded_by, settings_for, tried
from discussion_helper.testing.sample_room import RATE, ZERO_S, SampleRoom
from discussion_helper.tuning import Tuning
from discussion_helper.types import Policy
from discussion_helper.voice.assembly import pauses_of
from discussion_helper.voice.audio_work import AudioWork, Listening
from discussion_helper.voice.marks import Marks
from discussion_helper.voice.notes import Note, ProsodyWanted, Turn
from discussion_helper.voice.scored import Scored

SPEECH = Path(__file__).parents[2] / "audio" / "speech"
SCORE_S = 0.06
KNOWN_S = (0.6,) * 6
"""Pauses that were learned before: with them turns are waited for 0.8 s, and a replay without them shows."""


class Judged:
    """A person says two sentences with a pause between them; the first sounds unfinished, all else complete."""

    def __init__(self, folder: Path) -> None:
        self.notes: list[Note] = []
        self.pauses = pauses_of(Tuning(), KNOWN_S)
        settings = settings_for(Policy(), "en", pauses=self.pauses, stt="tiny.en")
        header = Header(started_utc_s=1.8e9, zero_s=ZERO_S, package="0.1.0", settings=settings, machine="the test")
        recorder = Recorder(RecordTo(folder, 30.0), header, clock=lambda: self.now)
        self.now, self._due = ZERO_S, list[tuple[float, Scored]]()
        path = TappedEcho(EchoPath(), recorder.echo)
        self.work = AudioWork(
            noted=self.notes.append,
            lost=lambda _: None,
            failed=self._fail,
            tap=recorder.item,
            note_tap=recorder.note,
            ask=self._ask,
        )
        self.work.begin(lambda fn, *args: fn(*args), Marks(Playback(RATE)))
        hearing = hearing_with(RATE, path, policy=Policy(), language="en", pauses=self.pauses)
        self._take(Call(lambda: self.work.change(hearing, "room"), Listening("room", RATE)), ZERO_S - 0.1)
        for item in SampleRoom(echoes=[]).items(*self._sounds()):
            self._take(item, max(self.now, item.at_s + 0.015 if isinstance(item, Captured) else self.now))
        self._take(Call(lambda: self.work.change(None, ""), Listening()), self.now + 0.01)
        recorder.close()

    def _sounds(self) -> tuple[Samples, Samples]:
        said = np.zeros(12 * RATE, np.float32)
        for at_s, name in ((1.0, "sphinx_goforward.wav"), (4.2, "sphinx_cards_002.wav")):
            clip = load(SPEECH / name, RATE).samples
            said[round(at_s * RATE) : round(at_s * RATE) + len(clip)] += 0.5 * clip
        return np.zeros_like(said), said

    def _fail(self, error: Exception) -> None:
        raise error

    def _ask(self, wanted: ProsodyWanted) -> None:
        first = not any(isinstance(note, Turn) and "Resumed" in repr(note.event)[:20] for note in self.notes)
        self._due.append((self.now + SCORE_S, Scored(wanted.until, 0.02 if first else 0.98)))

    def _take(self, item: Any, now: float) -> None:
        self.now = now
        while self._due and self._due[0][0] <= now:
            at_s, scored = self._due.pop(0)
            self.work.take(Call(lambda scored=scored: self.work.scored(scored), scored), at_s)  # type: ignore[misc]
        self.work.take(item, now)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("judged") / "talk"


@pytest.fixture(scope="module")
def judged(folder: Path) -> Judged:
    return Judged(folder)


def run(folder: Path, *wishes: str) -> Outcome:
    (take,) = takes_in(folder)
    heeded = tried(heeded_by(take.header), wishes)
    pauses = heeded.pauses()

    def hearing(rate: int, echo: Any) -> Any:
        policy, language = heeded.policy, heeded.language
        return hearing_with(rate, echo, policy=policy, language=language, tuning=heeded.tuning, pauses=pauses)

    return Replay(take, hearing, EchoPath()).run()


def test_scores_and_learned_pauses_are_recorded_and_replayed_byte_for_byte(judged: Judged, folder: Path) -> None:
    outcome = run(folder)
    ends = [note for note in judged.notes if isinstance(note, Turn) and "TurnEnded" in repr(note.event)[:20]]
    (take,) = takes_in(folder)
    taken = [entry.item for entry in take.entries() if isinstance(entry, Taken)]

    assert [note_line(note) for note in judged.notes] == [heard.line for heard in outcome.replayed]
    assert outcome.same
    assert ends
    assert sum(isinstance(item, Scored) for item in taken) == sum(isinstance(it, ProsodyWanted) for it in judged.notes)
    assert len(judged.pauses.pauses_s) > len(KNOWN_S)
    assert KNOWN_S == tuple(heeded_by(take.header).pauses_s or ())


def test_a_trial_with_another_wait_uses_the_scores_where_the_pauses_are_the_same(judged: Judged, folder: Path) -> None:
    assert judged.notes
    quicker = run(folder, "endpoint.sure_s=0.25", "endpoint.silence_s=0.35")
    kinds = [heard.kind for heard in quicker.replayed]

    assert kinds.count("ProsodyWanted") >= 2
    assert "0.02" in "".join(heard.line.decode() for heard in quicker.replayed if heard.kind == "TurnEnded") or (
        kinds.count("TurnEnded") == 1
    )
