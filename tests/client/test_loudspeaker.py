"""A loudspeaker without a device: what sounds, and what is told of it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.audio.frames import Samples
from discussion_helper.client.loudspeaker import FADE_S, Loudspeaker
from discussion_helper.voice.remote_messages import Play, Progress

RATE = 1000
FADE = round(FADE_S * RATE)


def sound(reply: int, sample: int, count: int, *, last: bool = False, level: float = 1.0) -> Play:
    return Play(reply, sample, np.full(count, level, np.float32), last)


def counted(reply: int, sample: int, count: int, *, last: bool = False) -> Play:
    """Each sample says which one it is."""
    return Play(reply, sample, np.arange(sample + 1, sample + count + 1, dtype=np.float32), last)


def test_a_reply_sounds_once_and_is_told_of_to_its_end() -> None:
    loudspeaker = Loudspeaker(RATE)
    loudspeaker.take(counted(1, 0, 30))
    loudspeaker.take(counted(1, 30, 10, last=True))
    blocks = [loudspeaker.play(20, at_s) for at_s in (1.0, 2.0, 3.0)]

    assert list(range(1, 41)) + [0] * 20 == [sample for samples, _ in blocks for sample in samples]
    assert [Progress(1, 20, 1.0, "playing")] == blocks[0][1]
    assert [Progress(1, 40, 2.0, "done")] == blocks[1][1]
    assert [] == blocks[2][1]


def test_a_reply_that_goes_on_later_begins_where_it_was_and_one_that_ends_in_a_block_ended_then() -> None:
    loudspeaker = Loudspeaker(RATE)
    loudspeaker.take(counted(3, 500, 5, last=True))
    samples, told = loudspeaker.play(20, 1.0)
    loudspeaker.take(counted(3, 505, 20))
    more, after = loudspeaker.play(20, 2.0)

    assert [*range(501, 506), *[0] * 15] == list(samples)
    assert [Progress(3, 505, 0.985, "done")] == told
    assert list(range(506, 526)) == list(more)
    assert [Progress(3, 525, 2.0, "playing")] == after


def test_the_next_reply_follows_at_once() -> None:
    loudspeaker = Loudspeaker(RATE)
    loudspeaker.take(counted(1, 0, 5, last=True))
    loudspeaker.take(counted(2, 0, 30))
    samples, told = loudspeaker.play(20, 1.0)

    assert [*range(1, 6), *range(1, 16)] == list(samples)
    assert [(1, 5, "done"), (2, 15, "playing")] == [(each.reply, each.sample, each.state) for each in told]


def test_what_was_sent_before_or_leaves_a_hole_is_thrown_away() -> None:
    loudspeaker = Loudspeaker(RATE)
    for play in (counted(1, 0, 10), counted(1, 0, 10), counted(1, 5, 10), counted(1, 16, 10)):
        loudspeaker.take(play)
    samples, told = loudspeaker.play(20, 1.0)

    assert [*range(1, 16), *[0] * 5] == list(samples)
    assert 15 == told[-1].sample


def test_a_pause_leads_down_and_keeps_the_place_and_resuming_leads_up() -> None:
    loudspeaker = Loudspeaker(RATE)
    loudspeaker.take(sound(1, 0, 200))
    loudspeaker.play(20, 1.0)
    loudspeaker.pause(1, 0.03)
    down = [loudspeaker.play(20, at_s) for at_s in (2.0, 3.0, 4.0)]
    loudspeaker.resume(0.03)
    up = [loudspeaker.play(20, at_s) for at_s in (5.0, 6.0)]
    fallen, risen = (np.concatenate([samples for samples, _ in blocks]) for blocks in (down, up))

    assert (np.diff(fallen[:30]) < 0).all()
    assert abs(fallen[29]) < 1e-6
    assert 0.0 == abs(fallen[30:]).max()
    assert [(40, "playing"), (50, "paused")] == [(each.sample, each.state) for _, told in down for each in told]
    assert (np.diff(risen[:30]) > 0).all()
    assert (risen[30:] == 1.0).all()
    assert 90 == up[-1][1][-1].sample


def test_a_reply_that_is_paused_before_it_begins_is_not_heard_until_it_may() -> None:
    loudspeaker = Loudspeaker(RATE)
    loudspeaker.pause(1, 0.03)
    loudspeaker.take(sound(1, 0, 100))
    silent, told = loudspeaker.play(20, 1.0)
    loudspeaker.resume(0.03)
    heard, _ = loudspeaker.play(20, 2.0)

    assert (0.0, []) == (abs(silent).max(), told)
    assert 0.0 < heard[0] < heard[-1] < 1.0


def test_what_is_stopped_fades_and_nothing_of_it_sounds_again() -> None:
    loudspeaker = Loudspeaker(RATE)
    loudspeaker.take(sound(1, 0, 100))
    loudspeaker.play(20, 1.0)
    stopped = loudspeaker.stop(1, 1.5)
    loudspeaker.take(sound(1, 100, 100))
    faded, told = loudspeaker.play(20, 2.0)
    loudspeaker.take(counted(2, 0, 20))
    following, _ = loudspeaker.play(20, 3.0)

    assert Progress(1, 20 + FADE, 1.5, "stopped") == stopped
    assert (np.diff(faded[:FADE]) < 0).all()
    assert (0.0, []) == (abs(faded[FADE:]).max(), told)
    assert list(range(1, 21)) == list(following)


def test_a_stop_means_all_before_it_and_what_is_paused_is_silent_already() -> None:
    loudspeaker = Loudspeaker(RATE)
    loudspeaker.take(sound(1, 0, 100))
    loudspeaker.take(sound(2, 0, 100))
    loudspeaker.play(20, 1.0)
    loudspeaker.pause(2, 0.01)
    loudspeaker.play(20, 2.0)
    stopped = loudspeaker.stop(2, 2.5)
    after, told = loudspeaker.play(20, 3.0)
    unknown = loudspeaker.stop(7, 4.0)

    assert Progress(2, 0, 2.5, "stopped") == stopped
    assert (0.0, []) == (abs(after).max(), told)
    assert Progress(7, 0, 4.0, "stopped") == unknown


def test_another_connection_begins_with_nothing() -> None:
    loudspeaker = Loudspeaker(RATE)
    loudspeaker.take(sound(5, 0, 100))
    loudspeaker.pause(5, 0.03)
    loudspeaker.stop(4, 0.0)
    loudspeaker.clear()
    silent, _ = loudspeaker.play(20, 1.0)
    loudspeaker.take(counted(1, 60, 20))
    heard, _ = loudspeaker.play(20, 2.0)

    assert 0.0 == abs(silent).max()
    assert list(range(61, 81)) == list(heard)


ORDERS = st.lists(
    st.one_of(
        st.tuples(st.just("take"), st.integers(1, 40)),
        st.tuples(st.just("next"), st.just(0)),
        st.tuples(st.just("pause"), st.integers(1, 50)),
        st.tuples(st.just("resume"), st.integers(1, 50)),
        st.tuples(st.just("stop"), st.just(0)),
        st.tuples(st.just("play"), st.integers(1, 60)),
    ),
    max_size=40,
)


@given(orders=ORDERS)
def test_whatever_is_ordered_places_only_grow_and_no_dead_reply_is_told_of(orders: list[tuple[str, int]]) -> None:
    loudspeaker, reply, written, stopped = Loudspeaker(RATE), 1, 0, 0
    places: dict[int, int] = {}
    for order, value in orders:
        if order == "take":
            loudspeaker.take(sound(reply, written, value))
            written += value
        elif order == "next":
            reply, written = reply + 1, 0
        elif order == "pause":
            loudspeaker.pause(reply, value / RATE)
        elif order == "resume":
            loudspeaker.resume(value / RATE)
        elif order == "stop":
            loudspeaker.stop(reply, 0.0)
            stopped = reply
        else:
            samples, told = loudspeaker.play(value, 1.0)
            check(samples, told, places, stopped, value)


def check(samples: Samples, told: list[Progress], places: dict[int, int], stopped: int, count: int) -> None:
    assert count == len(samples)
    assert 0.0 <= samples.min()
    assert samples.max() <= 1.0
    for each in told:
        assert each.reply > stopped
        assert each.sample > places.get(each.reply, 0)
        assert 1.0 - count / RATE <= each.at <= 1.0
        places[each.reply] = each.sample
