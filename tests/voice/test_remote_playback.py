"""A client's loudspeaker: what is sent to it, what it has played, and what becomes of the rest."""

from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from discussion_helper.audio.inbox import Captured, Closed, Inbox, Played
from discussion_helper.audio.playback import Position
from discussion_helper.voice.remote_messages import Down, FrameError, Pause, Play, Resume, Stop
from discussion_helper.voice.remote_playback import FRAME_S, LEAD_S, RemotePlayback

RATE = 8_000
FRAME, LEAD = round(FRAME_S * RATE), round(LEAD_S * RATE)


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def ramp(first: int, count: int) -> Any:
    """Samples of which each says which one it is."""
    return np.arange(first, first + count, dtype=np.float32) / np.float32(2**20)


def numbers(samples: Any) -> list[int]:
    return [round(float(sample) * 2**20) for sample in samples]


class Rig:
    def __init__(self) -> None:
        self.clock = Clock()
        self.inbox = Inbox(capacity=100_000)
        self.playback = RemotePlayback(self.inbox, clock=self.clock)
        self.sent: list[Down] = []

    def connect(self, rate: int = RATE) -> None:
        self.playback.connect(rate, self.sent.append)

    def write(self, generation: int, count: int, first: int = 0) -> int | None:
        return self.playback.write(generation, ramp(first, count))

    @property
    def plays(self) -> list[Play]:
        return [down for down in self.sent if isinstance(down, Play)]

    def played(self) -> list[Played]:
        self.inbox.close()
        items: list[Played] = []
        while not isinstance(item := self.inbox.get(), Closed):
            assert isinstance(item, Played)
            items.append(item)
        return items


@pytest.fixture
def rig() -> Rig:
    rig = Rig()
    rig.connect()
    return rig


def test_as_much_is_sent_as_the_client_may_be_behind_and_the_rest_as_it_plays(rig: Rig) -> None:
    rig.write(1, 5 * LEAD)
    first = len(rig.plays)

    rig.playback.acknowledge(1, 3 * FRAME, 100.0)

    assert first * FRAME == LEAD
    assert len(rig.plays) == first + 3
    assert [FRAME * number for number in range(first + 3)] == [play.sample for play in rig.plays]
    assert not any(play.last for play in rig.plays)


def test_the_end_of_what_there_is_is_told(rig: Rig) -> None:
    rig.write(1, FRAME + 10)

    assert [(FRAME, False), (10, True)] == [(len(play.samples), play.last) for play in rig.plays]


def test_only_what_was_told_of_was_played(rig: Rig) -> None:
    rig.write(1, LEAD)
    before = rig.playback.position, rig.playback.pending(1), rig.playback.idle

    rig.playback.acknowledge(1, 400, 102.05)

    assert (Position(0, 0, RATE), LEAD, False) == before
    assert (Position(1, 400, RATE), LEAD - 400) == (rig.playback.position, rig.playback.pending(1))
    (item,) = rig.played()
    assert item.position == Position(1, 400, RATE)
    assert item.at_s == pytest.approx(102.0)
    assert list(range(400)) == numbers(item.frame.samples)


def test_samples_follow_each_other_and_a_pause_between_them_shows(rig: Rig) -> None:
    rig.write(1, LEAD)
    for count, at_s in ((160, 100.02), (320, 100.041), (480, 102.06)):
        rig.playback.acknowledge(1, count, at_s)

    assert [0, 160, 16_320] == [item.frame.start for item in rig.played()]


@pytest.mark.parametrize(("generation", "samples"), [(1, 161), (2, 0), (1, 10**12)])
def test_what_was_not_sent_cannot_have_been_played(rig: Rig, generation: int, samples: int) -> None:
    rig.write(1, FRAME)

    with pytest.raises(FrameError) as refused:
        rig.playback.acknowledge(generation, samples, 100.0)

    assert (refused.value.code, rig.playback.position.samples) == ("order", 0)


def test_what_was_played_cannot_be_taken_back(rig: Rig) -> None:
    rig.write(1, FRAME)
    rig.playback.acknowledge(1, 100, 100.0)

    with pytest.raises(FrameError):
        rig.playback.acknowledge(1, 99, 100.1)


def test_a_reply_that_is_halted_is_dead_at_the_client_and_here(rig: Rig) -> None:
    rig.write(1, 3 * LEAD)
    rig.playback.acknowledge(1, 500, 100.0)
    sent = len(rig.plays)

    position = rig.playback.halt(1)
    again = rig.playback.halt(1)
    rig.playback.acknowledge(1, 900, 100.1)  # it has faded out meanwhile
    written = rig.write(1, 100)

    assert Position(1, 500, RATE) == position == again == rig.playback.position
    assert (None, sent, [Stop(1)]) == (written, len(rig.plays), rig.sent[sent:])
    assert (True, True, 0) == (rig.playback.idle, rig.playback.is_cut, rig.playback.pending(1))


def test_a_halt_of_what_was_not_written_yet_ends_what_was_before_it(rig: Rig) -> None:
    rig.write(1, FRAME)
    rig.playback.halt(2)
    rig.playback.halt(3)

    assert [Stop(2)] == rig.sent[1:]
    assert rig.playback.idle


def test_the_next_reply_waits_until_the_one_before_was_played(rig: Rig) -> None:
    rig.write(1, FRAME)
    rig.write(2, FRAME, first=1000)
    before = [play.reply for play in rig.plays]

    rig.playback.acknowledge(1, FRAME, 100.02)

    assert ([1], [1, 2]) == (before, [play.reply for play in rig.plays])
    assert rig.playback.newest == 2


def test_a_halt_lets_the_next_reply_begin(rig: Rig) -> None:
    rig.write(1, LEAD)
    rig.write(2, FRAME)
    rig.playback.halt(1)

    assert (Stop(1), 2) == (rig.sent[-2], rig.plays[-1].reply)


def test_it_is_turned_down_and_goes_on_at_the_client(rig: Rig) -> None:
    rig.playback.set_ramp(0.03)
    rig.write(1, FRAME)
    rig.playback.pause(1)
    rig.playback.pause(1)
    rig.playback.resume()
    rig.playback.resume()

    assert [Pause(1, 0.03), Resume(1, 0.03)] == rig.sent[1:]


def test_a_pause_of_a_dead_reply_is_none(rig: Rig) -> None:
    rig.write(1, FRAME)
    rig.playback.pause(1)
    rig.playback.halt(1)
    rig.playback.pause(1)
    rig.playback.resume()

    assert [Pause(1, 0.01), Stop(1)] == rig.sent[1:]


def test_a_reply_is_kept_from_beginning_for_half_a_second_at_most(rig: Rig) -> None:
    rig.playback.hold(True)
    rig.write(1, FRAME)
    for _ in range(49):
        rig.clock.now_s += 0.01
        rig.playback.hold(True)
    held = len(rig.plays)
    rig.clock.now_s += 0.02
    rig.playback.hold(True)

    assert (0, 1) == (held, len(rig.plays))
    (item,) = rig.played()
    assert item.position == Position(1, 0, RATE)
    assert not item.frame.samples.any()


def test_a_reply_that_is_held_begins_when_nobody_speaks_any_more(rig: Rig) -> None:
    rig.playback.hold(True)
    rig.write(1, FRAME)
    rig.playback.hold(False)

    assert [1] == [play.reply for play in rig.plays]


def test_a_reply_that_has_begun_is_not_held(rig: Rig) -> None:
    rig.write(1, 2 * LEAD)
    rig.playback.hold(True)
    rig.playback.acknowledge(1, LEAD, 100.2)

    assert 2 * LEAD == sum(len(play.samples) for play in rig.plays)


def test_who_comes_back_gets_the_rest_from_the_first_sample_that_was_not_played(rig: Rig) -> None:
    rig.write(1, 2 * LEAD)
    rig.playback.acknowledge(1, 333, 100.0)
    rig.playback.pause(1)
    rig.playback.disconnect()
    rig.write(1, 10, first=2 * LEAD)
    rig.sent.clear()

    rig.connect()

    assert rig.sent[0] == Pause(1, 0.01)
    assert rig.plays[0].sample == 333
    assert list(range(333, 333 + FRAME)) == numbers(rig.plays[0].samples)


def test_nothing_is_sent_to_nobody() -> None:
    rig = Rig()
    rig.write(1, LEAD)
    rig.playback.pause(1)
    rig.playback.halt(1)

    assert not rig.sent


def test_a_client_of_another_rate_sets_the_rate_of_what_comes(rig: Rig) -> None:
    rig.write(1, FRAME)
    with pytest.raises(RuntimeError):
        rig.connect(16_000)
    rig.playback.halt(1)

    rig.connect(16_000)

    assert (16_000, 16_000 * 60) == (rig.playback.rate, rig.playback.room)


def test_a_client_that_plays_nothing_of_what_it_has_is_overdue(rig: Rig) -> None:
    rig.clock.now_s += 50.0
    idle = rig.playback.overdue_s()
    rig.write(1, FRAME)
    rig.clock.now_s += 3.0
    silent = rig.playback.overdue_s()
    rig.playback.pause(1)
    paused = rig.playback.overdue_s()
    rig.clock.now_s += 3.0
    rig.playback.resume()
    resumed = rig.playback.overdue_s()
    rig.playback.acknowledge(1, FRAME, 107.0)

    assert (0.0, 3.0, 0.0, 0.0, 0.0) == (idle, silent, paused, resumed, rig.playback.overdue_s())


def test_more_than_fits_is_refused_whole(rig: Rig) -> None:
    room = rig.playback.room
    with pytest.raises(RuntimeError):
        rig.write(1, room + 1)

    assert (room, 60 * RATE) == (rig.playback.room, room)


def test_what_is_no_row_of_numbers_is_refused(rig: Rig) -> None:
    with pytest.raises(ValueError, match="finite"):
        rig.playback.write(1, np.array([np.nan], np.float32))


class Talk(RuleBasedStateMachine):
    """A client that plays what it gets, in blocks of any length, and a server that does what it likes."""

    def __init__(self) -> None:
        super().__init__()
        self.rig = Rig()
        self.rig.connect()
        self.rig.playback.disconnect()
        self.newest, self.halted = 1, 0
        self.written: dict[int, int] = {1: 0}
        self.buffer: list[tuple[int, int]] = []
        """What the client has and has not played: reply and index of each sample."""
        self.played: list[tuple[int, int]] = []
        self.told: dict[int, int] = {}

    def deliver(self) -> None:
        for down in self.rig.sent:
            if isinstance(down, Play):
                assert down.reply > self.halted, "a sample of a dead reply was sent"
                assert down.sample == len([None for reply, _ in self.buffer if reply == down.reply]) + self.told.get(
                    down.reply, 0
                )
                assert list(range(down.sample, down.sample + len(down.samples))) == numbers(down.samples)
                self.buffer += [(down.reply, down.sample + number) for number in range(len(down.samples))]
                assert down.last is (down.sample + len(down.samples) == self.written[down.reply])
            elif isinstance(down, Stop):
                self.buffer = [(reply, index) for reply, index in self.buffer if reply > down.reply]
        self.rig.sent.clear()

    @rule(count=st.integers(0, 2 * LEAD))
    def write(self, count: int) -> None:
        first = self.written[self.newest]
        dead = self.newest <= self.halted
        if not dead:
            self.written[self.newest] += count
        end = self.rig.write(self.newest, count, first)
        assert end == (None if dead else first + count)
        self.deliver()

    @rule()
    def begin(self) -> None:
        self.newest += 1
        self.written[self.newest] = 0

    @rule()
    def halt(self) -> None:
        self.halted = max(self.halted, self.newest)
        assert self.rig.playback.halt(self.newest).samples == self.told.get(self.newest, 0)
        self.deliver()

    @rule()
    def pause(self) -> None:
        self.rig.playback.pause(self.newest)
        self.deliver()

    @rule()
    def resume(self) -> None:
        self.rig.playback.resume()
        self.deliver()

    @rule(on=st.booleans(), passed_s=st.sampled_from([0.0, 0.1, 1.0]))
    def hold(self, on: bool, passed_s: float) -> None:
        self.rig.clock.now_s += passed_s
        self.rig.playback.hold(on)
        self.deliver()

    @rule()
    def connect(self) -> None:
        self.buffer.clear()
        self.rig.connect()
        self.deliver()

    @rule()
    def disconnect(self) -> None:
        self.buffer.clear()
        self.rig.playback.disconnect()

    @precondition(lambda self: self.buffer)
    @rule(count=st.integers(1, LEAD))
    def play(self, count: int) -> None:
        reply = self.buffer[0][0]
        heard = [sample for sample in self.buffer[:count] if sample[0] == reply]
        del self.buffer[: len(heard)]
        self.played += heard
        self.told[reply] = heard[-1][1] + 1
        self.rig.clock.now_s += len(heard) / RATE
        self.rig.playback.acknowledge(reply, self.told[reply], self.rig.clock())
        self.deliver()

    @invariant()
    def every_sample_in_order_and_once(self) -> None:
        assert self.played == sorted(set(self.played))

    @invariant()
    def the_client_is_never_further_ahead_than_allowed(self) -> None:
        assert len(self.buffer) <= LEAD

    @invariant()
    def position_is_what_was_told(self) -> None:
        position = self.rig.playback.position
        assert position.samples == self.told.get(position.generation, 0)

    @invariant()
    def what_is_left_is_what_was_not_told_of(self) -> None:
        alive = {reply: count for reply, count in self.written.items() if reply > self.halted}
        left = {reply: count - self.told.get(reply, 0) for reply, count in alive.items()}
        assert {reply: self.rig.playback.pending(reply) for reply in alive} == left
        assert self.rig.playback.idle is not any(left.values())
        assert self.rig.playback.room == 60 * RATE - sum(left.values())

    def teardown(self) -> None:
        heard: list[int] = []
        for item in self.rig.played():
            assert not isinstance(item, Captured)
            heard += numbers(item.frame.samples) if item.frame.samples.any() or item.position.samples else []
        assert heard == [index for _, index in self.played]


TestTalk = Talk.TestCase
TestTalk.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
