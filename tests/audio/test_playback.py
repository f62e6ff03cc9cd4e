"""Playback: what is rendered, once and in order; halts, gains and pauses without a click."""

import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Samples
from discussion_helper.audio.playback import Playback, Position

RATE = 48_000
BLOCK = 480
FADE = round(0.010 * RATE)
RAMP = round(0.010 * RATE)


def tone(generation: int, start: int, count: int) -> Samples:
    """A smooth signal that begins at zero, another one for each generation."""
    hertz = 150 + 10 * (generation % 7)
    return np.asarray(0.6 * np.sin(2 * np.pi * hertz / RATE * np.arange(start, start + count)), np.float32)


def render(playback: Playback, count: int = BLOCK) -> tuple[Position | None, Samples]:
    out = np.full(count, 9.0, np.float32)
    position = playback.render(out)
    return position, out


def test_what_is_written_is_rendered_unchanged_and_counted() -> None:
    playback = Playback(RATE)

    assert playback.write(1, tone(1, 0, 700)) == 700
    assert playback.write(1, tone(1, 700, 260)) == 960
    assert playback.pending(1) == 960
    blocks = [render(playback) for _ in range(2)]

    assert [position for position, _ in blocks] == [Position(1, 480, RATE), Position(1, 960, RATE)]
    np.testing.assert_array_equal(np.concatenate([out for _, out in blocks]), tone(1, 0, 960))
    assert playback.position == Position(1, 960, RATE)
    assert playback.position.seconds == 0.02
    assert playback.pending(1) == 0


def test_silence_is_zeros_and_has_no_position() -> None:
    playback = Playback(RATE)

    position, out = render(playback)

    assert position is None
    assert not out.any()
    assert playback.idle


def test_a_reply_that_breaks_off_is_faded_out() -> None:
    playback = Playback(RATE)
    playback.write(1, tone(1, 0, 100))

    position, out = render(playback, 2 * BLOCK)

    assert position == Position(1, 100, RATE)
    assert np.abs(np.diff(out)).max() < 0.05
    assert not out[100 + FADE :].any()
    assert playback.idle


def test_a_fade_goes_on_over_blocks_shorter_than_itself() -> None:
    playback = Playback(RATE)
    playback.write(1, tone(1, 0, 64))

    blocks = [render(playback, 64) for _ in range(12)]

    sounding = [position is not None for position, _ in blocks]
    assert sounding == sorted(sounding, reverse=True)
    assert [bool(out.any()) for _, out in blocks] == sounding
    assert np.abs(np.diff(np.concatenate([out for _, out in blocks]))).max() < 0.05


def test_a_halt_is_silence_within_ten_milliseconds_and_final() -> None:
    playback = Playback(RATE)
    playback.write(1, tone(1, 0, RATE))
    _, before = render(playback)

    position = playback.halt(1)
    _, fade = render(playback)
    after = [render(playback) for _ in range(3)]

    assert position == Position(1, 480, RATE)
    assert np.abs(np.diff(np.concatenate((before, fade)))).max() < 0.05
    assert fade[: FADE // 4].any()
    assert not fade[FADE:].any()
    assert all(position is None and not out.any() for position, out in after)
    assert playback.position == Position(1, 480, RATE)
    assert playback.idle
    assert playback.pending(1) == 0


def speech() -> Samples:
    """Two seconds of a recorded voice, as loud as it can be."""
    samples = load(Path(__file__).parents[2] / "audio" / "speech" / "jfk.wav", RATE).samples[RATE : 3 * RATE]
    return np.asarray(samples / np.abs(samples).max(), np.float32)


def sine(hertz: float) -> Samples:
    """Two seconds at full scale, which begin at the crest."""
    return np.asarray(np.cos(2 * np.pi * hertz / RATE * np.arange(2 * RATE)), np.float32)


def falls_silent(playback: Playback, stop: str) -> None:
    playback.pause(1) if stop == "pause" else playback.halt(1)


@pytest.mark.parametrize("stop", ["halt", "pause"])
@pytest.mark.parametrize("sound", [100.0, 250.0, 440.0, 1_000.0, None], ids=str)
def test_full_scale_falls_silent_within_the_ramp_and_without_a_click(sound: float | None, stop: str) -> None:
    """Wherever it is cut: no step of 0.05, 20 dB down after 8 ms, and no sample after 10 ms."""
    samples = speech() if sound is None else sine(sound)
    for cut in range(1_000, 1_000 + 97 * 25, 97):
        playback = Playback(RATE)
        playback.write(1, samples)
        _, before = render(playback, cut)
        falls_silent(playback, stop)
        _, after = render(playback, 2 * FADE)

        steps = np.abs(np.diff(after, prepend=before[-1]))
        assert steps.max() < 0.05
        assert np.abs(after[round(0.008 * RATE) :]).max() <= 0.1
        assert not after[FADE:].any()


def test_going_on_from_full_scale_makes_no_larger_steps_than_the_sound_has() -> None:
    playback = Playback(RATE)
    playback.write(1, sine(100.0))
    render(playback, 1_003)
    playback.pause(1)
    render(playback, 2 * FADE)
    playback.resume()
    _, after = render(playback, 2 * RAMP)

    assert np.abs(np.diff(after, prepend=np.float32(0.0))).max() < 0.05
    np.testing.assert_array_equal(after[RAMP:], sine(100.0)[1_003 + RAMP : 1_003 + 2 * RAMP])


SLOW_S = 0.05
SLOW = round(SLOW_S * RATE)


def slow_pause(samples: Samples, cut: int) -> tuple[Playback, np.float32]:
    """A playback with a long ramp, paused after so many samples; the last one."""
    playback = Playback(RATE)
    playback.set_ramp(SLOW_S)
    playback.write(1, samples)
    _, before = render(playback, cut)
    playback.pause(1)
    return playback, before[-1]


@pytest.mark.parametrize("sound", [100.0, 440.0, None], ids=str)
def test_a_longer_ramp_leads_what_would_come_next_down_and_begins_with_it_again(sound: float | None) -> None:
    samples = 0.5 * (speech() if sound is None else sine(sound))
    most = np.abs(np.diff(samples)).max()
    for cut in range(1_000, 1_000 + 997 * 10, 997):
        playback, last = slow_pause(samples, cut)
        down = np.concatenate([render(playback)[1] for _ in range(7)])
        assert np.abs(np.diff(down, prepend=last)).max() < 1.1 * most + 0.002
        np.testing.assert_allclose(down[: SLOW // 10], samples[cut : cut + SLOW // 10], atol=0.02)
        assert np.abs(down[round(0.8 * SLOW) :]).max() <= 0.1 * 0.5
        assert np.abs(down[SLOW:]).max() < 1e-4
        assert not down[SLOW + FADE :].any()
        assert playback.position == Position(1, cut, RATE)

        playback.resume()
        position, up = render(playback, 2 * SLOW)
        assert position == Position(1, cut + 2 * SLOW, RATE)
        assert np.abs(np.diff(up, prepend=np.float32(0.0))).max() < 1.1 * most + 0.002
        np.testing.assert_array_equal(up[SLOW:], samples[cut + SLOW : cut + 2 * SLOW])
        np.testing.assert_allclose(up[SLOW // 2], samples[cut + SLOW // 2] / 2, atol=2e-3)


def test_whoever_halts_a_reply_on_its_way_down_or_lets_it_go_on_hears_no_click() -> None:
    for after in range(0, SLOW, 331):
        for then in ("halt", "resume"):
            playback, last = slow_pause(tone(1, 0, RATE), 5_000)
            down = render(playback, after)[1] if after else np.zeros(0, np.float32)
            playback.halt(1) if then == "halt" else playback.resume()
            rest = np.concatenate([render(playback)[1] for _ in range(10)])
            assert np.abs(np.diff(np.concatenate((down, rest)), prepend=last)).max() < 0.05
            assert then == "resume" or not rest[FADE:].any()
            assert then == "halt" or playback.position.samples in (5_000 + 10 * BLOCK, 5_000 + 9 * BLOCK)


def test_a_reply_of_which_too_little_is_there_to_be_led_down_is_faded() -> None:
    playback, last = slow_pause(tone(1, 0, 5_000 + SLOW // 2), 5_000)
    down = render(playback, 2 * SLOW)[1]

    assert np.abs(np.diff(down, prepend=last)).max() < 0.05
    assert down[SLOW // 2 - 20 : SLOW // 2].any()
    assert not down[SLOW // 2 + FADE :].any()


@pytest.mark.parametrize("seconds", [0.009, 0.0, -1.0, float("nan")])
def test_a_ramp_that_would_click_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="ramp"):
        Playback(RATE).set_ramp(seconds)


def test_while_replies_are_held_none_begins_but_its_turn_is_told() -> None:
    playback = Playback(RATE)
    playback.hold(True)
    playback.write(1, tone(1, 0, RATE))
    held = [render(playback) for _ in range(3)]
    playback.hold(False)
    position, out = render(playback)

    assert [Position(1, 0, RATE)] * 3 == [position for position, _ in held]
    assert not any(out.any() for _, out in held)
    assert Position(1, BLOCK, RATE) == position
    np.testing.assert_array_equal(out, tone(1, 0, BLOCK))


def test_a_reply_that_has_begun_is_not_held() -> None:
    playback = Playback(RATE)
    playback.write(1, tone(1, 0, RATE))
    render(playback)
    playback.hold(True)

    assert render(playback)[0] == Position(1, 2 * BLOCK, RATE)


def test_a_reply_is_held_no_longer_than_half_a_second() -> None:
    playback = Playback(RATE)
    playback.hold(True)
    playback.write(1, tone(1, 0, RATE))
    positions = [render(playback)[0] for _ in range(51)]

    assert [Position(1, 0, RATE)] * 50 + [Position(1, BLOCK, RATE)] == positions


def test_what_was_turned_down_before_it_began_begins_when_it_is_to_go_on() -> None:
    playback = Playback(RATE)
    playback.hold(True)
    playback.write(1, tone(1, 0, RATE))
    render(playback)
    playback.pause(1)
    paused = [render(playback) for _ in range(60)]
    playback.resume()

    assert [None] * 60 == [position for position, _ in paused]
    assert render(playback)[0] == Position(1, BLOCK, RATE)


def test_a_held_reply_that_is_halted_was_not_heard() -> None:
    playback = Playback(RATE)
    playback.hold(True)
    playback.write(1, tone(1, 0, RATE))
    render(playback)

    assert Position(1, 0, RATE) == playback.halt(1)
    assert render(playback)[0] is None
    playback.write(2, tone(2, 0, BLOCK))
    assert render(playback)[0] == Position(2, 0, RATE), "the next one is held as well"


def test_halting_again_answers_the_same_and_a_dead_reply_takes_nothing() -> None:
    playback = Playback(RATE)
    playback.write(3, tone(3, 0, 4_800))
    render(playback)

    assert playback.halt(3) == playback.halt(3) == Position(3, 480, RATE)

    assert playback.write(3, tone(3, 4_800, 480)) is None
    assert playback.write(2, tone(2, 0, 480)) is None
    assert playback.room == 60 * RATE


def test_a_reply_halted_before_it_was_heard_is_at_zero() -> None:
    playback = Playback(RATE)
    playback.write(1, tone(1, 0, BLOCK))
    playback.write(2, tone(2, 0, BLOCK))
    render(playback)

    assert playback.halt(2) == Position(2, 0, RATE)
    assert playback.halt(9) == Position(9, 0, RATE)
    assert playback.position == Position(1, BLOCK, RATE)


def test_halting_an_old_reply_leaves_the_new_one_alone() -> None:
    playback = Playback(RATE)
    playback.write(1, tone(1, 0, BLOCK))
    render(playback)
    render(playback)
    playback.write(2, tone(2, 0, BLOCK))

    assert playback.halt(1) == Position(1, BLOCK, RATE)

    position, out = render(playback)
    assert position == Position(2, BLOCK, RATE)
    np.testing.assert_array_equal(out, tone(2, 0, BLOCK))


def test_the_next_reply_begins_after_the_fade_of_the_halted_one() -> None:
    playback = Playback(RATE)
    playback.write(1, tone(1, 0, RATE))
    _, first = render(playback)
    playback.halt(1)
    playback.write(2, tone(2, 0, BLOCK))

    blocks = [render(playback) for _ in range(2)]

    assert [position for position, _ in blocks] == [Position(1, 480, RATE), Position(2, 480, RATE)]
    assert not blocks[0][1][FADE:].any()
    np.testing.assert_array_equal(blocks[1][1], tone(2, 0, BLOCK))
    assert np.abs(np.diff(np.concatenate((first, *(out for _, out in blocks))))).max() < 0.05


def test_one_block_never_holds_two_replies() -> None:
    playback = Playback(RATE)
    playback.write(1, tone(1, 0, 100))
    playback.write(2, tone(2, 0, BLOCK))

    positions = [render(playback, 2 * BLOCK)[0] for _ in range(2)]

    assert positions == [Position(1, 100, RATE), Position(2, BLOCK, RATE)]


def test_a_gain_is_reached_in_ten_milliseconds_and_stays() -> None:
    playback = Playback(RATE)
    playback.write(1, np.full(RATE, 0.5, np.float32))
    render(playback)

    playback.set_gain(0.05)
    ducked = np.concatenate([render(playback, 96)[1] for _ in range(10)])

    assert np.all(np.diff(ducked[:RAMP]) <= 0.0)
    assert np.abs(np.diff(ducked)).max() < 0.002
    np.testing.assert_allclose(ducked[RAMP:], 0.025, rtol=1e-5)


def test_a_gain_set_in_silence_is_there_at_once() -> None:
    playback = Playback(RATE)
    playback.set_gain(0.5)
    render(playback)
    playback.write(1, np.full(BLOCK, 0.5, np.float32))

    np.testing.assert_allclose(render(playback)[1], 0.25)


@pytest.mark.parametrize("gain", [-0.1, 1.5, float("nan")])
def test_an_impossible_gain_is_refused(gain: float) -> None:
    with pytest.raises(ValueError, match="gain"):
        Playback(RATE).set_gain(gain)


def test_a_pause_keeps_the_place() -> None:
    playback = Playback(RATE)
    playback.write(1, tone(1, 0, RATE))
    _, before = render(playback)

    playback.pause(1)
    paused = [render(playback) for _ in range(3)]
    playback.resume()
    position, after = render(playback)
    _, later = render(playback)

    assert not np.concatenate([out for _, out in paused])[FADE:].any()
    assert position == Position(1, 960, RATE)
    np.testing.assert_array_equal(later, tone(1, 960, 480))
    everything = np.concatenate((before, *(out for _, out in paused), after, later))
    assert np.abs(np.diff(everything)).max() < 0.05


def test_a_pause_does_not_outlive_the_reply() -> None:
    playback = Playback(RATE)
    playback.write(1, tone(1, 0, RATE))
    playback.pause(1)
    playback.halt(1)
    playback.write(2, tone(2, 0, BLOCK))

    assert render(playback)[0] == Position(2, BLOCK, RATE)


def test_a_write_beyond_the_capacity_is_refused_whole() -> None:
    playback = Playback(RATE, capacity_s=0.1)
    playback.write(1, tone(1, 0, 4_000))
    assert playback.room == 800

    with pytest.raises(RuntimeError, match=r"801 samples do not fit.*800"):
        playback.write(1, tone(1, 4_000, 801))

    assert playback.pending(1) == 4_000
    render(playback)
    assert playback.write(1, tone(1, 4_000, 801)) == 4_801


def test_a_halt_makes_room_at_once() -> None:
    playback = Playback(RATE, capacity_s=0.1)
    playback.write(1, tone(1, 0, 4_800))

    playback.halt(1)

    assert playback.room == 4_800


def test_an_older_reply_cannot_go_on_behind_a_newer_one() -> None:
    playback = Playback(RATE)
    playback.write(2, tone(2, 0, 10))

    with pytest.raises(RuntimeError, match="Generation 1 cannot be written: 2 has begun"):
        playback.write(1, tone(1, 0, 10))


def test_replies_waiting_to_be_played_are_bounded() -> None:
    playback = Playback(RATE)
    for generation in range(64):
        playback.write(generation, tone(generation, 0, 10))

    with pytest.raises(RuntimeError, match="More than 64"):
        playback.write(64, tone(64, 0, 10))


def test_old_replies_are_forgotten() -> None:
    playback = Playback(RATE)
    for generation in range(500):
        playback.write(generation, tone(generation, 0, 10))
        render(playback, 2 * BLOCK)

    assert playback.halt(499) == Position(499, 10, RATE)


@pytest.mark.parametrize("samples", [np.zeros((2, 2)), np.array([0.0, np.nan]), np.array([np.inf])])
def test_what_is_no_sound_is_refused(samples: Samples) -> None:
    with pytest.raises(ValueError, match="finite"):
        Playback(RATE).write(1, samples)


def test_too_loud_is_clipped_and_the_callers_array_is_its_own() -> None:
    playback = Playback(RATE)
    samples = np.array([3.0, -3.0, 0.5, 0.0] * 120, np.float32)
    playback.write(1, samples)
    samples[:] = 0.9

    np.testing.assert_array_equal(render(playback)[1][:4], np.array([1.0, -1.0, 0.5, 0.0], np.float32))


def test_nothing_written_is_no_sound() -> None:
    playback = Playback(RATE)

    assert playback.write(1, np.zeros(0, np.float32)) == 0
    assert playback.idle
    assert render(playback)[0] is None


class Player(RuleBasedStateMachine):
    """Writers, halters and the device in any order, against a model that counts."""

    ramp = RAMP

    @initialize()
    def begin(self) -> None:
        self.playback = Playback(RATE, capacity_s=1.0)
        self.playback.set_ramp(self.ramp / RATE)
        self.generation = 1
        self.written = {1: 0}
        self.played = {1: 0}
        self.halted = 0
        self.paused = self.free = 0
        self.holding = False
        self.held: dict[int, int] = {}
        self.gain = 1.0
        self.last = 0.0
        self.mid_word = False

    def pending(self, generation: int) -> int:
        return 0 if generation <= self.halted else self.written[generation] - self.played[generation]

    @rule(count=st.integers(0, 2_500))
    def write(self, count: int) -> None:
        start = self.written[self.generation]
        waiting = sum(map(self.pending, self.written))
        if self.generation > self.halted and waiting + count > RATE:
            return
        end = self.playback.write(self.generation, tone(self.generation, start, count))
        if self.generation <= self.halted:
            assert end is None
        else:
            assert end == start + count
            self.written[self.generation] += count

    @precondition(lambda self: self.generation < 40)
    @rule()
    def next_reply(self) -> None:
        self.generation += 1
        self.written[self.generation] = self.played[self.generation] = 0

    @rule(back=st.integers(0, 2))
    def halt(self, back: int) -> None:
        generation = max(0, self.generation - back)
        position = self.playback.halt(generation)
        assert position == Position(generation, self.played.get(generation, 0), RATE)
        self.halted = max(self.halted, generation)

    @rule(gain=st.sampled_from([0.0, 0.05, 0.4, 1.0]))
    def set_gain(self, gain: float) -> None:
        self.playback.set_gain(gain)
        self.gain = gain

    @rule()
    def pause(self) -> None:
        self.playback.pause(self.generation)
        self.paused = self.generation

    @rule()
    def resume(self) -> None:
        self.playback.resume()
        self.free, self.paused = max(self.free, self.paused), 0

    @rule(on=st.booleans())
    def hold(self, on: bool) -> None:
        self.playback.hold(on)
        self.holding = on

    def is_held(self, head: int, count: int) -> bool:
        if head <= max(self.paused, self.free) or self.played[head] or not self.holding or self.last != 0.0:
            return False
        before = self.held.get(head, 0)
        if before < RATE // 2:
            self.held[head] = before + count
        return before < RATE // 2

    @rule(count=st.sampled_from([64, 441, 480, 1_024]))
    def render(self, count: int) -> None:
        head = next((generation for generation in self.written if self.pending(generation)), None)
        due = 0 if head is None or head <= self.paused else min(count, self.pending(head))
        is_held = head is not None and self.is_held(head, count)
        position, out = render(self.playback, count)
        if is_held:
            assert (Position(head or 0, 0, RATE), False) == (position, bool(out.any()))
            return
        moved = self._moved(position)
        assert moved in (0, due)
        if moved < due:
            assert self.last != 0.0, "only a fade may keep a reply waiting"
        self._check_reply(head, out[:moved])
        self._check_fade(out[moved:], out[moved - 1] if moved else self.last)
        if position is None:
            assert not out.any()
        self._check_steps(out, moved)
        self.mid_word = due == moved < count or (self.mid_word and not moved)
        self.last = float(out[-1])
        assert [self.playback.pending(g) for g in self.written] == [self.pending(g) for g in self.written]

    def _moved(self, position: Position | None) -> int:
        if position is None:
            return 0
        assert position == self.playback.position
        before = self.played.get(position.generation, 0)
        assert position.generation > self.halted or position.samples == before
        self.played[position.generation] = position.samples
        return position.samples - before

    def _check_reply(self, head: int | None, out: Samples) -> None:
        """Every sample is its own, at a gain between 0 and 1 that changes no faster than its ramp."""
        if head is None or not len(out):
            return
        source = tone(head, self.played[head] - len(out), len(out))
        audible = np.abs(source) > 0.05
        gains = out[audible] / source[audible]
        np.testing.assert_allclose(out[~audible], 0.0, atol=0.0501)
        assert np.all((gains > -1e-3) & (gains < 1.0 + 1e-3))
        distance = np.diff(np.flatnonzero(audible))
        assert np.all(np.abs(np.diff(gains)) <= distance / self.ramp + 1e-3)
        if len(gains) and len(out) > self.ramp:
            assert abs(gains[-1] - self.gain) < 1e-3

    @staticmethod
    def _check_fade(rest: Samples, level: float) -> None:
        assert np.all(np.abs(rest) <= abs(level) + 1e-6)
        assert np.all(np.diff(np.abs(rest)) <= 1e-6)
        assert not rest[FADE:].any()

    def _check_steps(self, out: Samples, moved: int) -> None:
        steps = np.abs(np.diff(out, prepend=np.float32(self.last)))
        if moved and self.mid_word:
            steps = steps[1:]  # a reply that was cut off in mid-word goes on there: that is no doing of the playback
        assert not len(steps) or steps.max() < 0.05


Player.TestCase.settings = settings(max_examples=150, stateful_step_count=40)
TestPlayer = Player.TestCase


class SlowPlayer(Player):
    """The same with a ramp of 20 ms."""

    ramp = 2 * RAMP

    @staticmethod
    def _check_fade(rest: Samples, level: float) -> None:
        assert np.all(np.abs(rest) <= 0.6)


SlowPlayer.TestCase.settings = settings(max_examples=60, stateful_step_count=40)
TestSlowPlayer = SlowPlayer.TestCase


@pytest.fixture
def _busy_threads() -> Iterator[None]:
    """Threads change places often, so that they meet everywhere."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


class Device(Thread):
    """Renders as fast as it can and keeps what it got."""

    def __init__(self, playback: Playback) -> None:
        super().__init__(daemon=True)
        self.playback = playback
        self.blocks: list[tuple[Position | None, Samples]] = []
        self.started = 0
        self.rendered = Event()
        self.stopping = False
        self.failure: Exception | None = None

    def run(self) -> None:
        try:
            while not self.stopping:
                self.started += 1
                self.blocks.append(render(self.playback, 64))
                self.rendered.set()
        except Exception as failure:
            self.failure = failure

    def check(self, last_block: dict[int, int]) -> dict[int, int]:
        """Every block holds the next samples of its reply, and none of one halted before it; samples by generation."""
        assert self.failure is None
        done: dict[int, int] = {}
        for number, (position, out) in enumerate(self.blocks, start=1):
            if position is None:
                assert not out.any()
                continue
            generation, before = position.generation, done.get(position.generation, 0)
            moved = position.samples - before
            assert not moved or number <= last_block.get(generation, number), "begun after the halt"
            np.testing.assert_array_equal(out[:moved], numbered(generation, before, moved))
            done[generation] = position.samples
        assert list(done) == sorted(done)
        return done


def numbered(generation: int, start: int, count: int) -> Samples:
    """Samples that tell their generation and their place."""
    return ((np.arange(start, start + count) % 1_000 + 1) * (1 + generation % 2) / 4_096).astype(np.float32)


@pytest.mark.usefixtures("_busy_threads")
def test_a_device_that_renders_meanwhile_never_gets_a_dead_sample() -> None:
    playback = Playback(RATE)
    device = Device(playback)
    device.start()
    last_block: dict[int, int] = {}
    answered: dict[int, int] = {}
    random = np.random.default_rng(1)
    for generation in range(1, 400):
        written = 0
        for count in random.integers(1, 500, 4):
            assert playback.write(generation, numbered(generation, written, int(count))) == written + count
            written += int(count)
        if generation % 3:
            device.rendered.clear()
            assert device.rendered.wait(10.0)
        answered[generation] = playback.halt(generation).samples
        last_block[generation] = device.started
        assert playback.write(generation, numbered(generation, written, 10)) is None
    device.stopping = True
    device.join(10.0)

    done = device.check(last_block)
    assert max(answered.values()) > 64
    for generation, samples in answered.items():
        assert 0 <= done.get(generation, 0) - samples <= 64


@pytest.mark.usefixtures("_busy_threads")
def test_replies_that_follow_each_other_meanwhile_are_played_whole() -> None:
    playback = Playback(RATE)
    device = Device(playback)
    device.start()
    lengths = np.random.default_rng(2).integers(1, 200, 2_000)
    for generation, length in enumerate(lengths):
        assert playback.write(generation, numbered(generation, 0, int(length))) == length
        while playback.pending(generation - generation % 4):
            device.rendered.clear()
            assert device.rendered.wait(10.0)
    while not playback.idle:
        device.rendered.clear()
        assert device.rendered.wait(10.0)
    device.stopping = True
    device.join(10.0)

    assert device.check({}) == dict(enumerate(lengths))


@pytest.mark.usefixtures("_busy_threads")
def test_halts_from_many_threads_leave_the_highest() -> None:
    playback = Playback(RATE)
    for generation in range(1, 60):
        playback.write(generation, tone(generation, 0, 10))
    threads = [Thread(target=playback.halt, args=(generation,)) for generation in range(1, 60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10.0)

    assert playback.write(59, tone(59, 0, 10)) is None
    assert playback.write(60, tone(60, 0, 10)) == 10
