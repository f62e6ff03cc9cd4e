"""The suite: every run of the bench, one after another, each with a talk of its own."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from discussion_helper.audio.clips import Clip
from discussion_helper.bench.barge_in_run import run_barge_ins
from discussion_helper.bench.clips import barge_ins, load_all, noises, transcribed, turns
from discussion_helper.bench.echo_run import run_echo
from discussion_helper.bench.endpointing_run import run_endpointing
from discussion_helper.bench.health_rows import health_row
from discussion_helper.bench.idle_run import run_idle, run_starts
from discussion_helper.bench.no_speech_run import run_no_speech
from discussion_helper.bench.noise_run import run_noises
from discussion_helper.bench.one_word_run import run_one_words
from discussion_helper.bench.onset_run import run_onsets
from discussion_helper.bench.progress import Progress
from discussion_helper.bench.recognition import compared, count_played
from discussion_helper.bench.report import write_rows
from discussion_helper.bench.results import Results
from discussion_helper.bench.room import ROOM_DBFS, Room
from discussion_helper.bench.speed_rows import speed_rows
from discussion_helper.bench.talk_handle import TalkHandle
from discussion_helper.bench.turns_run import run_turns
from discussion_helper.bench.usage import UsageMeter
from discussion_helper.errors import DiscussionError
from discussion_helper.failures import is_interruption
from discussion_helper.settings import Settings
from discussion_helper.testing.virtual_devices import VirtualDevices

__all__ = ["IN_PROCESS", "ON_DEVICES", "RUNS", "Amounts", "Plan", "run_suite"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """How much of each is measured."""

    starts: int = 3
    idle_s: float = 15.0
    turns: int = 26
    barge_ins: int = 18
    noises: int = 22
    replies: int = 5
    onsets: int = 20
    words: int = 20
    """One-word answers of recordings, and of the talk's voice."""
    minutes: float = 60.0
    """In which nobody speaks."""
    recordings: int | None = None
    """Whose turns are ended; None = all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is measured, with which clips, and where the results go. `output` is a folder that is there."""

    clips: Path
    output: Path
    runs: Sequence[str]
    amounts: Amounts
    keep: bool = False
    """Whether the recordings are written to `output` too."""


class _Suite:
    def __init__(self, plan: Plan, clips: Sequence[Clip], progress: Progress) -> None:
        self.results = Results()
        self._plan = plan
        self._clips = clips
        self._progress = progress
        self._settings = Settings()

    @contextmanager
    def _talk(self, room: Room, run: str) -> Generator[TalkHandle]:
        with room.talk() as talk:
            meter = UsageMeter(talk.pid)
            yield talk
            self.results.peaks_mb[run] = meter.read().peak_mb
            self.results.health.append(health_row(run, talk.health()))

    def starts(self, room: Room) -> None:
        self.results.starts += run_starts(room.environment, room.log, self._plan.amounts.starts, self._progress)

    def idle(self, room: Room) -> None:
        self.results.idle.append(run_idle(room.environment, self._plan.amounts.idle_s, self._progress))

    def turns(self, room: Room) -> None:
        sayings = turns(self._clips, self._settings.language, self._plan.amounts.turns)
        self.results.speeds += speed_rows(self._settings, "before turns")
        with self._talk(room, "turns") as talk:
            self.results.turns = run_turns(room, talk, sayings, self._progress)
        self.results.speeds += speed_rows(self._settings, "behind turns")

    def barge_ins(self, room: Room) -> None:
        sayings = barge_ins(self._clips, self._settings.language, self._plan.amounts.barge_ins)
        with self._talk(room, "barge-ins") as talk:
            found = run_barge_ins(room, talk, sayings, self._progress)
        self.results.barge_ins = found  # stands if counting fails
        self.results.barge_ins = count_played(found, self._settings)

    def noises(self, room: Room) -> None:
        sayings = noises(self._clips, self._plan.amounts.noises)
        with self._talk(room, "noises") as talk:
            self.results.noises += run_noises(room, talk, sayings, self._progress)

    def echo(self, room: Room) -> None:
        with self._talk(room, "echo") as talk:
            self.results.echo += run_echo(room, talk, self._plan.amounts.replies, self._progress)

    def recognition(self) -> None:
        clips = transcribed(self._clips, self._settings.language)
        self.results.recognition += compared(clips, self._settings, self._progress)

    def onsets(self) -> None:
        clips = transcribed(self._clips, self._settings.language)
        self.results.onsets += run_onsets(clips, self._settings, self._plan.amounts.onsets, self._progress)

    def one_words(self) -> None:
        words = self._plan.amounts.words
        self.results.one_words += run_one_words(self._plan.clips, self._settings, words, self._progress)

    def no_speech(self) -> None:
        minutes = self._plan.amounts.minutes
        self.results.no_speech = run_no_speech(self._clips, self._settings, minutes, self._progress)

    def endpointing(self) -> None:
        found = run_endpointing(self._plan.clips, self._plan.amounts.recordings, self._progress)
        self.results.endpointing += found

    def attempt(self, name: str, run: Callable[[], None]) -> None:
        """Measure, or tell why not; the rows are written then: Ctrl-C keeps those of the runs that are over."""
        try:
            run()
        except DiscussionError as error:
            if is_interruption(error):
                raise KeyboardInterrupt from error
            self.results.problems.append(f"{name}: {error}")
            self._progress.say(f"{name}: {error}")
        write_rows(self.results, self._plan.output)


ON_DEVICES: Mapping[str, Callable[[_Suite, Room], None]] = {
    "start": _Suite.starts,
    "idle": _Suite.idle,
    "turns": _Suite.turns,
    "barge-ins": _Suite.barge_ins,
    "noises": _Suite.noises,
    "echo": _Suite.echo,
}
"""Whole talks, through virtual devices."""
IN_PROCESS: Mapping[str, Callable[[_Suite], None]] = {
    "recognition": _Suite.recognition,
    "onsets": _Suite.onsets,
    "one-word": _Suite.one_words,
    "no-speech": _Suite.no_speech,
    "endpointing": _Suite.endpointing,
}
"""Parts of a talk in sample time, which need no devices."""
RUNS = (*ON_DEVICES, *IN_PROCESS)
"""What can be measured, in the order in which it is."""


def run_suite(plan: Plan, progress: Progress) -> Results:
    """Measure what was planned; what could not be measured is a problem in the results, and the rest goes on.

    The rows are written to the output folder after each run.

    Raises AudioFileError when there are no clips, and DeviceError when there can be no virtual devices.
    """
    suite = _Suite(plan, load_all(plan.clips), progress)
    on_devices = [name for name in plan.runs if name in ON_DEVICES]
    if on_devices:
        _on_devices(suite, plan, on_devices)
    for name in plan.runs:
        if name in IN_PROCESS:
            suite.attempt(name, partial(IN_PROCESS[name], suite))
    return suite.results


def _on_devices(suite: _Suite, plan: Plan, names: Sequence[str]) -> None:
    keep = plan.output / "recordings" if plan.keep else None
    if keep is not None:
        keep.mkdir(exist_ok=True)
    with VirtualDevices(room_dbfs=ROOM_DBFS) as devices:
        room = Room(devices, plan.output / "talk.log", keep)
        for name in names:
            suite.attempt(name, partial(ON_DEVICES[name], suite, room))
