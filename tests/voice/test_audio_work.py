"""The audio work: no thread, no clock, the same notes for the same items."""

from collections.abc import Callable
from typing import Any

import numpy as np

from discussion_helper.audio.frames import Frame
from discussion_helper.audio.inbox import Call, Captured, DeviceLost, Item, Played
from discussion_helper.audio.playback import Playback, Position
from discussion_helper.voice.audio_work import STALL_S, TICK_S, AudioWork, Listening
from discussion_helper.voice.marks import Marks
from discussion_helper.voice.notes import Level, Note


class Loudness:
    """Hears the first sample of each block."""

    def __init__(self) -> None:
        self.played_blocks = 0

    def captured(self, item: Captured) -> list[Note]:
        return [Level(float(item.frame.samples[0]))]

    def played(self, item: Played) -> None:
        self.played_blocks += 1

    def finish(self) -> list[Note]:
        return [Level(-99.0)]


class Work:
    """The work, and who is told at once."""

    def __init__(self, tap: Callable[[Item | None, float], object] | None = None) -> None:
        self.notes: list[Note] = []
        self.lost: list[DeviceLost] = []
        self.failed: list[Exception] = []
        self.hearing: Any = Loudness()
        self.work = AudioWork(noted=self.notes.append, lost=self.lost.append, failed=self.failed.append, tap=tap)
        self.work.begin(lambda fn, *args: fn(*args), Marks(Playback(1_000)))

    def listen(self, about: Listening) -> Call:
        return Call(lambda: self.work.change(self.hearing if about.microphone else None, about.microphone), about)


def captured(amplitude: float, start: int) -> Captured:
    return Captured(Frame(np.full(10, amplitude, np.float32), 1_000, start), start / 1_000)


def test_it_hears_from_when_it_is_told_to_until_it_is_told_to_stop() -> None:
    work = Work()
    for item in (captured(0.1, 0), work.listen(Listening("mic", 1_000)), captured(0.5, 10)):
        work.work.take(item, 0.0)
    work.work.take(Played(Frame(np.zeros(10, np.float32), 1_000), 0.0, Position(1, 10, 1_000)), 0.0)
    work.work.take(work.listen(Listening()), 0.0)
    work.work.take(captured(0.7, 20), 0.0)

    assert [Level(0.5), Level(-99.0)] == work.notes
    assert 1 == work.hearing.played_blocks
    assert not work.work.hears


def test_what_the_tap_is_shown_gives_another_work_the_same_notes() -> None:
    shown: list[tuple[Item | None, float]] = []
    first, second = Work(lambda item, now: shown.append((item, now))), Work()
    first.work.take(first.listen(Listening("mic", 1_000)), 1.0)
    for number in range(5):
        first.work.take(captured(number / 10, 10 * number), 1.0 + number / 100)
    for tick in range(5):
        first.work.take(None, 1.1 + tick * TICK_S)

    for item, now in shown:
        if isinstance(item, Call):
            assert isinstance(item.about, Listening)
            item = second.listen(item.about)
        second.work.take(item, now)

    assert (first.notes, first.lost) == (second.notes, second.lost)
    assert 1 == len(second.lost)


def test_a_microphone_that_delivers_nothing_is_lost_once_and_asks_for_no_more_ticks() -> None:
    work = Work()
    assert work.work.tick_s is None
    work.work.take(work.listen(Listening("mic", 1_000)), 0.0)
    work.work.take(captured(0.1, 0), 0.0)
    for tick in range(1, 20):
        work.work.take(None, tick * STALL_S / 3)

    assert ['"mic" delivers nothing any more'] == [lost.reason for lost in work.lost]
    assert work.work.tick_s is None


def test_a_machine_that_slept_has_not_lost_its_microphone() -> None:
    work = Work()
    work.work.take(work.listen(Listening("mic", 1_000)), 0.0)
    work.work.take(captured(0.1, 0), 0.0)
    work.work.take(None, 3_600.0)

    assert [] == work.lost


def test_an_error_is_told_and_the_work_goes_on() -> None:
    work = Work()
    work.work.take(Call(lambda: 1 // 0), 0.0)
    work.work.take(work.listen(Listening("mic", 1_000)), 0.0)
    work.work.take(captured(0.25, 0), 0.0)

    assert ["ZeroDivisionError"] == [type(error).__name__ for error in work.failed]
    assert [Level(0.25)] == work.notes
