"""The reference: what was played, in its place on the microphone's timeline."""

from collections.abc import Callable

import numpy as np
import pytest

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Played
from discussion_helper.audio.playback import Position
from discussion_helper.audio.reference import Reference, SampleClock

RATE = 16_000
EPOCH_S = 5_000.0
"""When the loudspeaker's first sample is at the DAC, on the clock of the stamps."""


TONES = np.random.default_rng(1).uniform(200.0, 3_000.0, 16)
PHASES = np.random.default_rng(2).uniform(0.0, 6.28, 16)


def babble(start: int, count: int, rate: float) -> Samples:
    """A signal that is different everywhere: below 3 kHz, so that every rate carries it."""
    seconds = np.arange(start, start + count)[:, None] / rate
    return np.asarray(0.08 * np.sin(2 * np.pi * TONES * seconds + PHASES).sum(axis=1), np.float32)


def played(start: int, samples: Samples, rate: int, at_s: float) -> Played:
    return Played(Frame(samples, rate, start), at_s, Position(1, start, rate))


class Room:
    """A loudspeaker and a microphone whose clocks differ by `skew`, whose stamps jitter, and what they carry."""

    def __init__(self, rate: int, *, skew: float = 0.0, jitter_s: float = 0.0, ahead_s: float = 0.025) -> None:
        self.reference = Reference(rate=RATE)
        self.rate = rate
        self.skew = skew
        self.jitter_s = jitter_s
        self.ahead_s = ahead_s
        self.random = np.random.default_rng(4)
        self.clock = SampleClock()
        self.next = 0
        self.dry_s = 0.0

    def jitter(self) -> float:
        return float(self.random.normal()) * self.jitter_s

    def play_until(self, now_s: float, sound: Callable[[int, int], Samples | None]) -> None:
        """Render what is due at `now_s`; None from `sound` is a silence that is not told."""
        count = self.rate // 100
        while (at_s := self.next / (self.rate * (1.0 + self.skew)) + self.dry_s) < now_s + self.ahead_s:
            samples = sound(self.next, count)
            if samples is not None:
                self.reference.feed(played(self.next, samples, self.rate, EPOCH_S + at_s + self.jitter()))
            self.next += count

    def listen(self, number: int, sound: Callable[[int, int], Samples | None]) -> Samples:
        """The reference for the microphone's block `number`."""
        self.play_until((number + 1) / 100, sound)
        self.clock.observe(number / 100, EPOCH_S + number / 100 + self.jitter())
        return self.reference.take(self.clock.offset_s + number / 100, 160)


def lead_of(blocks: list[Samples], first: int) -> float:
    """By how many seconds the reference is ahead of the loudspeaker, from its best place."""
    found = np.concatenate(blocks)
    truth = babble(first * 160 - 400, len(found) + 1_200, RATE)
    return float(np.argmax(np.correlate(truth, found, "valid")) - 400) / RATE


@pytest.mark.parametrize("rate", [48_000, 44_100, 16_000, 22_050])
def test_every_rate_lands_in_its_place_ahead_of_the_dac(rate: int) -> None:
    room = Room(rate)

    blocks = [room.listen(number, lambda start, count: babble(start, count, rate)) for number in range(60)]

    assert lead_of(blocks[20:40], 20) == pytest.approx(0.015, abs=2 / RATE)


@pytest.mark.parametrize("skew", [100e-6, -200e-6])
def test_two_clocks_and_jittery_stamps_move_it_by_samples_only(skew: float) -> None:
    room = Room(48_000, skew=skew, jitter_s=0.001)
    seconds = 12

    blocks = [
        room.listen(number, lambda start, count: babble(start, count, 48_000 * (1.0 + skew)))
        for number in range(100 * seconds)
    ]

    leads = [lead_of(blocks[100 * second : 100 * second + 20], 100 * second) for second in range(1, seconds)]
    assert leads == pytest.approx([0.015] * len(leads), abs=0.002)
    assert np.ptp(leads[5:]) < 0.001


def test_a_delayed_reference_comes_so_much_later_and_is_known_undelayed() -> None:
    room = Room(48_000)

    def listen(number: int) -> Samples:
        return room.listen(number, lambda start, count: babble(start, count, 48_000))

    for number in range(200):
        listen(number)
    room.reference.delay = 12_000
    after = [listen(number) for number in range(200, 260)]
    undelayed = room.reference.around(1_600, 160, undelayed=True)

    assert lead_of(after[20:40], 220 - 75) == pytest.approx(0.015, abs=2 / RATE)
    assert lead_of([undelayed], 250) == pytest.approx(0.015, abs=2 / RATE)


def test_a_device_opened_anew_has_no_delay_yet() -> None:
    reference = Reference()
    reference.feed(played(48_000, babble(0, 48_000, 48_000), 48_000, 10.0))
    reference.delay = 12_000
    reference.feed(played(0, np.full(480, 0.5, np.float32), 48_000, 20.0))

    assert 0 == reference.delay


def test_nothing_played_is_zeros() -> None:
    reference = Reference()

    assert not reference.take(1.0, 160).any()


def test_silence_between_replies_is_zeros_and_the_next_is_in_its_place() -> None:
    room = Room(48_000)

    def sound(start: int, count: int) -> Samples | None:
        return None if 0.5 <= start / 48_000 < 6.0 else babble(start, count, 48_000)

    blocks = [room.listen(number, sound) for number in range(700)]

    assert not np.concatenate(blocks[60:590]).any()
    assert lead_of(blocks[20:40], 20) == pytest.approx(0.015, abs=2 / RATE)
    assert lead_of(blocks[630:650], 630) == pytest.approx(0.015, abs=2 / RATE)


def test_a_device_that_is_rendered_for_late_leaves_no_holes() -> None:
    room = Room(48_000, ahead_s=0.003)

    blocks = [room.listen(number, lambda start, count: babble(start, count, 48_000)) for number in range(200)]

    assert min(np.square(block[-40:]).mean() for block in blocks[20:]) > 1e-4
    assert 0.002 <= lead_of(blocks[100:120], 100) < 0.015


def test_stamps_that_wander_are_not_followed_from_one_second_to_the_next() -> None:
    room = Room(48_000)
    room.jitter = lambda: 0.008 * np.sin(room.next / 48_000)  # type: ignore[method-assign]

    blocks = [room.listen(number, lambda start, count: babble(start, count, 48_000)) for number in range(1_200)]

    leads = [lead_of(blocks[100 * second : 100 * second + 20], 100 * second) for second in range(12)]
    assert np.abs(np.diff(leads)).max() < 0.0005


def test_samples_the_microphone_lost_are_skipped_here_too() -> None:
    room = Room(48_000)

    def listen(number: int) -> Samples:
        return room.listen(number, lambda start, count: babble(start, count, 48_000))

    before = [listen(number) for number in range(50)]
    after = [listen(number) for number in range(53, 103)]

    assert lead_of(after[:20], 53) == lead_of(before[20:40], 20)


@pytest.mark.parametrize("dry_s", [0.05, 0.2])
def test_a_device_that_ran_dry_is_found_again(dry_s: float) -> None:
    room = Room(48_000)

    def listen(number: int) -> Samples:
        return room.listen(number, lambda start, count: babble(start, count, 48_000))

    for number in range(100):
        listen(number)
    room.dry_s = dry_s
    after = [listen(number) for number in range(100, 200)]

    late = round(dry_s * 100)
    assert lead_of(after[60:80], 160 - late) == pytest.approx(0.015, abs=0.001)


def test_a_device_opened_anew_begins_anew() -> None:
    reference = Reference()
    reference.feed(played(48_000, babble(0, 48_000, 48_000), 48_000, 10.0))
    reference.feed(played(0, np.full(480, 0.5, np.float32), 48_000, 20.0))

    assert reference.take(19.985, 160)[40:100] == pytest.approx(0.5, abs=1e-3)
    assert not reference.take(10.5, 160).any()


def test_a_device_of_another_rate_begins_anew() -> None:
    reference = Reference()
    reference.feed(played(0, np.full(48_000, 0.2, np.float32), 48_000, 10.0))
    reference.feed(played(44_100, np.full(441, 0.5, np.float32), 44_100, 20.0))

    assert reference.take(19.985, 160)[40:100] == pytest.approx(0.5, abs=1e-3)


def test_a_reset_forgets() -> None:
    reference = Reference()
    reference.feed(played(0, np.full(48_000, 0.2, np.float32), 48_000, 10.0))

    reference.reset()

    assert not reference.take(10.5, 160).any()


def test_hours_of_playing_need_no_more_memory() -> None:
    reference = Reference()
    block = np.full(48_000, 0.25, np.float32)
    for hour in range(3):
        start = hour * 3_600 * 48_000
        for second in range(6):
            reference.feed(played(start + second * 48_000, block.copy(), 48_000, 100.0 + start / 48_000 + second))

    assert reference.take(100.0 + 2 * 3_600 + 5.5, 160) == pytest.approx(0.25, abs=1e-3)
    assert not reference.take(100.0 + 2 * 3_600 + 1.0, 160).any(), "older than what is held"


def test_a_clock_averages_jitter_away() -> None:
    clock = SampleClock()
    random = np.random.default_rng(3)

    for number in range(1_000):
        clock.observe(number / 100, 7.0 + number / 100 + random.normal() * 0.002)

    assert clock.offset_s == pytest.approx(7.0, abs=0.0003)


def test_a_clock_ignores_a_stray_stamp_and_follows_a_step() -> None:
    clock = SampleClock()
    for number in range(100):
        clock.observe(number / 100, 7.0 + number / 100 + (3.0 if number % 10 == 5 else 0.0))
    assert clock.offset_s == pytest.approx(7.0)

    for number in range(100, 105):
        clock.observe(number / 100, 7.2 + number / 100)

    assert clock.offset_s == pytest.approx(7.2)


def test_stamps_too_wild_to_follow_do_not_move_it() -> None:
    clock = SampleClock()
    clock.observe(0.0, 7.0)

    for number in range(1, 100):
        clock.observe(number / 100, 7.0 + number / 100 + 0.05 * (-1) ** number)

    assert clock.offset_s == 7.0
