"""The audio work: no thread, no clock, the same notes for the same items."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discussion_helper.audio.frames import Frame
from discussion_helper.audio.inbox import Call, Captured, DeviceLost, Item, Played
from discussion_helper.audio.playback import Playback, Position
from discussion_helper.voice.audio_work import PLAY_S, STALL_S, TICK_S, AudioWork, Listening
from discussion_helper.voice.marks import Marks
from discussion_helper.voice.notes import Decided, Ducked, Level, Note, Resumed


class Loudness:
    """Hears the first sample of each block."""

    def __init__(self) -> None:
        self.played_blocks = 0
        self.somebody_speaks = False

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
        self.playback = Playback(1_000)
        self.work.begin(lambda fn, *args: fn(*args), Marks(self.playback))

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


def played(work: Work) -> Played:
    """The next 10 ms of the loudspeaker."""
    block = np.empty(10, np.float32)
    position = work.playback.render(block)
    assert position is not None
    return Played(Frame(block, 1_000), 0.0, position)


def test_a_loudspeaker_that_plays_nothing_of_a_reply_is_lost() -> None:
    work = Work()
    work.playback.write(1, np.full(1_000, 0.5, np.float32))
    work.work.take(played(work), 0.0)
    assert TICK_S == work.work.tick_s  # also where no microphone is open
    ticks = round(PLAY_S / TICK_S)
    for tick in range(1, ticks):
        work.work.take(None, tick * TICK_S)
    assert [] == work.lost
    work.work.take(None, ticks * TICK_S)

    assert [("playback", "The loudspeaker plays nothing any more")] == [(it.which, it.reason) for it in work.lost]


def test_a_loudspeaker_with_nothing_to_play_is_not_lost_and_asks_for_no_ticks() -> None:
    work = Work()
    work.playback.write(1, np.full(10, 0.5, np.float32))
    work.work.take(played(work), 0.0)
    work.playback.render(np.empty(10, np.float32))  # the fade
    for tick in range(100):
        work.work.take(None, tick * TICK_S)

    assert [] == work.lost
    assert work.work.tick_s is None


def decided(what: str) -> Decided:
    numbers = ("at_s", "started_at_s", "voiced_until_s", "voiced_s", "ducked_s", "level_dbfs", "over_echo_db")
    zeros: dict[str, Any] = dict.fromkeys(numbers, 0.0)
    return Decided(what=what, why="", **zeros)


@pytest.mark.parametrize(
    ("notes", "lost"),
    [
        ([Ducked(0.0, 1)], 0),
        ([Ducked(0.0, 1), decided("ignored")], 0),
        ([Ducked(0.0, 1), Resumed(0.0)], 1),
        ([Ducked(0.0, 1), decided("interruption")], 1),
    ],
)
def test_a_reply_that_keeps_its_place_is_no_stall(notes: list[Note], lost: int) -> None:
    work = Work()
    work.playback.write(1, np.full(1_000, 0.5, np.float32))
    work.work.take(played(work), 0.0)
    work.work._tell(notes)
    for tick in range(1, round(PLAY_S / TICK_S) + 1):
        work.work.take(None, tick * TICK_S)

    assert lost == len(work.lost)


def test_while_somebody_speaks_no_reply_begins_and_the_microphone_s_end_lets_it() -> None:
    work = Work()
    work.playback.write(1, np.full(1_000, 0.5, np.float32))
    work.work.take(work.listen(Listening("mic", 1_000)), 0.0)
    work.hearing.somebody_speaks = True
    work.work.take(captured(0.1, 0), 0.0)
    spoken_over = played(work)
    work.work.take(work.listen(Listening()), 0.0)

    assert (0, False) == (spoken_over.position.samples, bool(spoken_over.frame.samples.any()))
    assert 10 == played(work).position.samples


class HalfDuplexEars(Loudness):
    """Knows how often it was told."""

    told = 0

    def go_half_duplex(self) -> None:
        self.told += 1


def test_half_duplex_before_anything_is_listened_to_begins_with_the_first_that_is() -> None:
    work = Work()
    work.work.go_half_duplex()
    first, second = HalfDuplexEars(), HalfDuplexEars()
    for hearing in (None, first, None, second):
        work.hearing = hearing
        work.work.take(work.listen(Listening("mic" if hearing else "")), 0.0)

    assert (1, 0) == (first.told, second.told)


def test_devices_that_somebody_else_looks_after_are_not_watched() -> None:
    work = Work()
    work.work.watches = False
    work.work.take(work.listen(Listening("mic", 1_000)), 0.0)
    work.work.take(captured(0.1, 0), 0.0)
    work.playback.write(1, np.full(1_000, 0.5, np.float32))
    for tick in range(1, 40):
        work.work.take(None, tick * STALL_S / 3)

    assert (None, []) == (work.work.tick_s, work.lost)


def test_a_prompt_is_for_who_hears() -> None:
    work, asked = Work(), []
    work.hearing.prompt = lambda: asked.append("prompt")
    work.work.prompt()
    work.work.take(work.listen(Listening("mic", 1_000)), 0.0)
    work.work.prompt()

    assert ["prompt"] == asked
