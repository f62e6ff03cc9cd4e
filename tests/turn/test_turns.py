"""Turns cut out of a stream, by detectors that believe the samples."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.turn.activity import ActivityTracker
from discussion_helper.turn.endpointing import SilenceEndpointer
from discussion_helper.turn.turns import TurnEnded, TurnEvent, TurnPaused, TurnResumed, TurnSegmenter, TurnStarted

RATE = 16_000
LIMIT_S = 4.0
Said = Callable[..., Samples]


@pytest.fixture
def segmenter(tracker: ActivityTracker) -> TurnSegmenter:
    return TurnSegmenter(tracker, SilenceEndpointer(silence_s=0.5, early_s=0.05, max_turn_s=LIMIT_S))


def fed(segmenter: TurnSegmenter, samples: Samples, *, size: int = 160, start: int = 0) -> list[TurnEvent]:
    found: list[TurnEvent] = []
    for at in range(0, len(samples), size):
        found += segmenter.feed(Frame(samples[at : at + size].copy(), RATE, start + at))
    return found


def kinds(events: Sequence[TurnEvent]) -> str:
    """One letter an event."""
    return "".join({TurnStarted: "s", TurnPaused: "p", TurnResumed: "r", TurnEnded: "e"}[type(e)] for e in events)


def ended(events: Sequence[TurnEvent]) -> list[TurnEnded]:
    return [event for event in events if isinstance(event, TurnEnded)]


def test_a_turn_with_its_lead_and_its_tail(segmenter: TurnSegmenter, said: Said) -> None:
    stream = said((1.0, 0.0), (1.0, 0.9), (1.0, 0.0))

    started, paused, end = fed(segmenter, stream)

    assert started == TurnStarted(31 * 512)
    assert isinstance(end, TurnEnded)
    assert end.start == 31 * 512 - 4_800  # 300 ms
    assert end.end == 63 * 512 + 800  # 50 ms
    assert np.array_equal(end.samples, stream[end.start : end.end])
    assert end.voiced_s == pytest.approx(32 * 0.032)
    assert not end.limit
    assert isinstance(paused, TurnPaused)


@pytest.mark.parametrize(
    ("quiet_s", "played_until", "lead"),
    [(0.5, 0, 8_000), (0.5, 31 * 512 - 8_000, 8_000), (0.5, 31 * 512 - 7_999, 4_800), (0.1, 0, 4_800)],
    ids=["nothing was played", "that is over", "that is not over", "less is no less"],
)
def test_a_turn_has_more_of_a_lead_where_nothing_of_the_loudspeaker_is_in_it(
    tracker: ActivityTracker, said: Said, quiet_s: float, played_until: int, lead: int
) -> None:
    segmenter = TurnSegmenter(tracker, SilenceEndpointer(), quiet_preroll_s=quiet_s)
    segmenter.played_until = played_until

    [end] = ended(fed(segmenter, said((1.0, 0.0), (1.0, 0.9), (1.0, 0.0))))

    assert end.start == 31 * 512 - lead


def test_all_of_that_lead_is_kept_for_a_voice_that_is_certain_late(tracker: ActivityTracker, said: Said) -> None:
    segmenter = TurnSegmenter(tracker, SilenceEndpointer(), quiet_preroll_s=0.5)
    fed(segmenter, said((4.0, 0.0)))
    segmenter.hear(4 * RATE - round(1.8 * RATE))

    turn = segmenter.so_far()

    assert turn is not None
    assert turn.start == 4 * RATE - round(2.3 * RATE)


def test_what_was_made_of_a_pause_holds_for_the_end(segmenter: TurnSegmenter, said: Said) -> None:
    _, paused, end = fed(segmenter, said((0.5, 0.0), (1.0, 0.9), (1.0, 0.0)))

    assert isinstance(paused, TurnPaused)
    assert isinstance(end, TurnEnded)
    assert (paused.start, paused.end, paused.voiced_s) == (end.start, end.end, end.voiced_s)
    assert np.array_equal(paused.samples, end.samples)


def test_a_pause_that_is_broken_belongs_to_the_turn(segmenter: TurnSegmenter, said: Said) -> None:
    events = fed(segmenter, said((0.5, 0.0), (0.6, 0.9), (0.4, 0.0), (0.6, 0.9), (1.0, 0.0)))

    assert kinds(events) == "sprpe"
    resumed, end = events[2], events[4]
    assert isinstance(resumed, TurnResumed)
    assert resumed.at == pytest.approx(1.5 * RATE, abs=512)
    assert isinstance(end, TurnEnded)
    assert end.end - end.start == pytest.approx(2.0 * RATE, abs=1024)
    assert end.voiced_s == pytest.approx(1.2, abs=0.1)


def test_a_pause_that_is_too_long_makes_two_turns(segmenter: TurnSegmenter, said: Said) -> None:
    events = fed(segmenter, said((0.5, 0.0), (0.6, 0.9), (0.6, 0.0), (0.6, 0.9), (1.0, 0.0)))

    assert kinds(events) == "spespe"
    first, second = ended(events)
    assert second.start >= first.end - 800  # of the first turn only silence comes again
    assert second.start <= 1.7 * RATE - 4_800  # and the lead is whole


@pytest.mark.parametrize("voiced_s", [0.03, 0.06])
def test_a_click_is_no_turn(segmenter: TurnSegmenter, said: Said, voiced_s: float) -> None:
    assert fed(segmenter, said((0.5, 0.0), (voiced_s, 1.0), (1.0, 0.0))) == []
    assert segmenter.open_voiced_s == 0.0


def test_clicks_do_not_add_up(segmenter: TurnSegmenter, said: Said) -> None:
    assert fed(segmenter, said(*[(0.06, 1.0), (0.8, 0.0)] * 8)) == []


def test_a_turn_at_the_very_start_has_the_lead_that_there_is(segmenter: TurnSegmenter, said: Said) -> None:
    stream = said((0.1, 0.0), (0.5, 0.9), (1.0, 0.0))

    [end] = ended(fed(segmenter, stream))

    assert end.start == 0
    assert np.array_equal(end.samples, stream[: end.end])


def test_the_limit_cuts_a_turn_and_the_next_one_goes_on_there(segmenter: TurnSegmenter, said: Said) -> None:
    stream = said((0.5, 0.0), (6.0, 0.9), (1.0, 0.0))

    events = fed(segmenter, stream)

    assert kinds(events) == "sespe"
    first, second = ended(events)
    assert (first.limit, second.limit) == (True, False)
    assert second.start == first.end
    assert len(first.samples) <= (LIMIT_S + 0.3) * RATE + 160
    assert np.array_equal(np.concatenate((first.samples, second.samples)), stream[first.start : second.end])


def test_a_voice_that_never_ends_takes_no_more_memory(segmenter: TurnSegmenter, said: Said) -> None:
    held = []
    for at in range(120):
        segmenter.feed(Frame(said((0.5, 0.9)), RATE, at * RATE // 2))
        held.append(sum(map(len, segmenter._blocks)))

    assert max(held) <= (LIMIT_S + 0.3) * RATE + 160
    fed(segmenter, said((2.0, 0.0)), start=60 * RATE)
    assert sum(map(len, segmenter._blocks)) <= 2.1 * RATE + 160


def test_flush_ends_an_open_turn_with_what_is_there(segmenter: TurnSegmenter, said: Said) -> None:
    stream = said((0.5, 0.0), (1.0, 0.9))
    fed(segmenter, stream)

    [end] = segmenter.flush()

    assert isinstance(end, TurnEnded)
    assert np.array_equal(end.samples, stream[end.start :])
    assert segmenter.flush() == []


def test_a_short_hole_counts_as_silence(segmenter: TurnSegmenter, said: Said) -> None:
    voice = said((0.8, 0.9))
    events = fed(segmenter, voice) + fed(segmenter, said((0.8, 0.9), (1.0, 0.0)), start=len(voice) + 4_800)

    assert kinds(events) == "sprpe"
    [end] = ended(events)
    assert not end.samples[len(voice) : len(voice) + 4_800].any()


def test_a_long_hole_ends_the_turn(segmenter: TurnSegmenter, said: Said) -> None:
    events = fed(segmenter, said((0.8, 0.9)))
    later = 3_600 * RATE
    events += fed(segmenter, said((0.3, 0.0), (0.8, 0.9), (1.0, 0.0)), start=later)

    assert kinds(events) == "sespe"
    first, second = ended(events)
    assert first.end == 0.8 * RATE
    assert second.start >= later


def test_a_frame_of_the_past_or_of_another_rate_is_refused(segmenter: TurnSegmenter, said: Said) -> None:
    segmenter.feed(Frame(said((0.1, 0.0)), RATE, 0))

    with pytest.raises(ValueError, match="from sample 1600 on, got 16000 Hz from sample 1599"):
        segmenter.feed(Frame(said((0.1, 0.0)), RATE, 1_599))
    with pytest.raises(ValueError, match="expected 16000 Hz"):
        segmenter.feed(Frame(said((0.1, 0.0)), 48_000, 1_600))


def test_samples_that_are_no_numbers_are_silence(segmenter: TurnSegmenter, said: Said) -> None:
    broken = np.full(RATE, np.nan, np.float32)

    assert fed(segmenter, np.concatenate((broken, said((0.5, 0.9), (1.0, 0.0)))))[-1:] != []
    assert not segmenter.speaking


def test_what_is_known_of_the_open_turn(segmenter: TurnSegmenter, said: Said) -> None:
    fed(segmenter, said((0.5, 0.0), (0.5, 0.9)))
    assert segmenter.open_voiced_s == pytest.approx(0.5, abs=0.05)
    assert segmenter.onset == 15 * 512
    assert segmenter.voiced_until == RATE

    fed(segmenter, said((1.0, 0.0)), start=RATE)
    assert segmenter.open_voiced_s == 0.0
    assert segmenter.onset == 15 * 512
    assert segmenter.voiced_until == 32 * 512


script = st.lists(
    st.tuples(st.sampled_from([0.02, 0.06, 0.1, 0.25, 0.45, 0.7, 1.3]), st.sampled_from([0.0, 0.4, 0.9])), max_size=14
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(script=script, size=st.integers(1, 3_000))
def test_any_stream_in_any_pieces(
    tracker: ActivityTracker, said: Said, script: list[tuple[float, float]], size: int
) -> None:
    segmenter = TurnSegmenter(tracker, SilenceEndpointer(max_turn_s=3.0))
    stream = said((0.0, 0.0), *script, (0.8, 0.0))

    segmenter.reset()
    events = fed(segmenter, stream)
    segmenter.reset()
    again = fed(segmenter, stream, size=size)

    assert repr(again) == repr(events)  # the pieces of the stream decide nothing
    _check_order(kinds(events))
    for found in (events, again):
        _check_turns(found, stream)


def _check_order(letters: str) -> None:
    turns = letters.split("e")
    assert turns.pop() == ""  # every turn has ended
    for turn in turns:
        assert turn[0] == "s"
        assert turn[1:].replace("pr", "") in ("", "p")


def _check_turns(events: Sequence[TurnEvent], stream: Samples) -> None:
    onset = before = 0
    for event in events:
        if isinstance(event, TurnStarted):
            assert event.at >= before
            onset = event.at
        elif isinstance(event, TurnPaused | TurnEnded):
            assert np.array_equal(event.samples, stream[event.start : event.end])
            assert event.voiced_s >= 0.1
            assert event.start <= max(onset - 4_800, 0, before)
            if isinstance(event, TurnEnded):
                before = event.end


def test_somebody_whom_the_detectors_do_not_hear_has_a_turn_where_it_is_said_so(
    segmenter: TurnSegmenter, said: Said
) -> None:
    stream = said((4.0, 0.0))
    found = fed(segmenter, stream[:32_000])
    found += segmenter.hear(16_000)
    for at in range(32_000, 48_000, 160):
        found += segmenter.feed(Frame(stream[at : at + 160], RATE, at))
        found += segmenter.hear(16_000)
    found += fed(segmenter, stream[48_000:], start=48_000)
    (end,) = ended(found)

    assert "spe" == kinds(found)
    assert (16_000 - 4_800, 48_000 + 800) == (end.start, end.end)
    assert end.voiced_s == pytest.approx(2.0)
    assert 0.0 == segmenter.open_voiced_s


def test_that_turn_goes_on_after_a_pause(segmenter: TurnSegmenter, said: Said) -> None:
    stream = said((4.0, 0.0))
    found = fed(segmenter, stream[:16_000])
    found += segmenter.hear(8_000)
    found += fed(segmenter, stream[16_000:20_800], start=16_000)
    found += segmenter.hear(20_640)
    found += fed(segmenter, stream[20_800:], start=20_800)

    assert "sprpe" == kinds(found)
    assert ended(found)[0].voiced_s == pytest.approx(0.51)


def test_a_turn_after_it_counts_its_own_voice(segmenter: TurnSegmenter, said: Said) -> None:
    stream = said((2.0, 0.0), (1.0, 0.9), (1.0, 0.0))
    found = fed(segmenter, stream[:16_000])
    found += segmenter.hear(8_000)
    found += fed(segmenter, stream[16_000:], start=16_000)

    assert [0.5, 1.0] == pytest.approx([end.voiced_s for end in ended(found)], abs=0.04)


def test_what_came_since_a_sample_is_there_while_no_turn_is_open(segmenter: TurnSegmenter, said: Said) -> None:
    stream = said((3.0, 0.0), (0.5, 0.9))
    fed(segmenter, stream[:48_000])
    since = segmenter.since(48_000 - 24_000)

    assert since is not None
    assert (48_000 - 24_000 - 4_800, 48_000, 1.5) == (since.start, since.end, since.voiced_s)
    assert np.array_equal(since.samples, stream[since.start : since.end])
    fed(segmenter, stream[48_000:], start=48_000)
    assert segmenter.since(48_000) is None
