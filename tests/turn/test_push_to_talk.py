"""Push to talk: what is said between press and release is a turn, and nothing else."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.turn.activity import ActivityTracker
from discussion_helper.turn.attention import Attending, AttentionEvent
from discussion_helper.turn.endpointing import OpenTurn, Verdict
from discussion_helper.turn.push_to_talk import PREROLL_S, HeldEndpointer, PushToTalk
from discussion_helper.turn.turns import TurnEnded, TurnPaused, TurnResumed, TurnSegmenter, TurnStarted

RATE, BLOCK, ZERO_S = 16_000, 160, 50.0
LIMIT_S = 4.0
Said = Callable[..., Samples]
Keys = Sequence[tuple[float, bool]]


@pytest.fixture
def key(tracker: ActivityTracker) -> PushToTalk:
    return PushToTalk(TurnSegmenter(tracker, HeldEndpointer(max_turn_s=LIMIT_S)), max_turn_s=LIMIT_S)


def fed(key: PushToTalk, samples: Samples, keys: Keys = (), *, late_s: float = 0.0) -> list[AttentionEvent]:
    """What comes of the samples; each press and release is told of `late_s` after it."""
    found: list[AttentionEvent] = []
    left = sorted(keys)
    for at in range(0, len(samples), BLOCK):
        now_s = ZERO_S + (at + BLOCK) / RATE
        while left and ZERO_S + left[0][0] + late_s <= now_s:
            at_s, down = left.pop(0)
            (key.press if down else key.release)(ZERO_S + at_s)
        found += key.feed(Frame(samples[at : at + BLOCK].copy(), RATE, at), now_s)
    return found


def kinds(events: Sequence[AttentionEvent]) -> list[str]:
    return [event.state if isinstance(event, Attending) else type(event).__name__ for event in events]


def turns(events: Sequence[AttentionEvent]) -> list[TurnEnded]:
    return [event for event in events if isinstance(event, TurnEnded)]


def test_what_is_said_with_the_key_up_is_nothing(key: PushToTalk, said: Said) -> None:
    assert ["released"] == kinds(fed(key, said((0.5, 0.0), (2.0, 0.9), (2.0, 0.0))))


def test_a_turn_lasts_from_the_press_to_the_release(key: PushToTalk, said: Said) -> None:
    stream = said((1.0, 0.9), (0.2, 0.0), (1.0, 0.9), (0.3, 0.0), (1.5, 0.9))
    events = fed(key, stream, [(1.3, True), (2.2, False)])

    assert ["released", "TurnStarted", "pressed", "TurnEnded", "released"] == kinds(events)
    (turn,) = turns(events)
    assert turn.start == pytest.approx((1.3 - PREROLL_S) * RATE, abs=BLOCK)
    assert turn.end == pytest.approx(2.2 * RATE, abs=BLOCK)
    assert np.array_equal(turn.samples, stream[turn.start : turn.end])
    assert [event.calls for event in events if isinstance(event, Attending)] == [False, True, False]


def test_a_silence_ends_no_turn_and_work_begins_in_it(key: PushToTalk, said: Said) -> None:
    events = fed(key, said((0.5, 0.0), (0.5, 0.9), (1.0, 0.0), (0.5, 0.9), (1.0, 0.0)), [(0.3, True), (3.2, False)])

    of_turn = [kind for kind in kinds(events) if kind.startswith("Turn")]
    assert ["TurnStarted", "TurnPaused", "TurnResumed", "TurnPaused", "TurnEnded"] == of_turn
    paused = [event for event in events if isinstance(event, TurnPaused)][-1]
    assert np.array_equal(paused.samples, turns(events)[0].samples)  # what was read of it holds


def test_a_press_without_a_word_is_a_turn_without_samples(key: PushToTalk, said: Said) -> None:
    events = fed(key, said((3.0, 0.0)), [(1.0, True), (1.5, False)])

    assert ["released", "TurnStarted", "pressed", "TurnEnded", "released"] == kinds(events)
    assert (0, 0.0) == (len(turns(events)[0].samples), turns(events)[0].voiced_s)


def test_a_key_that_is_told_of_late_loses_nothing(key: PushToTalk, said: Said) -> None:
    stream, keys = said((0.5, 0.0), (1.0, 0.9), (1.0, 0.0)), [(0.5, True), (1.6, False)]

    (turn,) = turns(fed(key, stream, keys, late_s=0.4))

    assert turn.start <= (0.5 - PREROLL_S) * RATE + 2 * BLOCK
    assert turn.voiced_s == pytest.approx(1.0, abs=0.07)


def test_a_key_that_never_comes_up_is_let_go_of(key: PushToTalk, said: Said) -> None:
    events = fed(key, said((1.0, 0.0), (9.0, 0.9)), [(1.0, True)])

    assert ["released", "TurnStarted", "pressed", "TurnEnded", "released"] == kinds(events)
    assert turns(events)[0].limit
    assert turns(events)[0].end == pytest.approx((1.0 + LIMIT_S) * RATE, abs=0.35 * RATE)


def test_it_takes_a_release_before_the_next_press_counts(key: PushToTalk, said: Said) -> None:
    keys = [(0.5, True), (6.0, True), (6.5, False), (7.0, True), (8.0, False)]

    assert [True, False] == [turn.limit for turn in turns(fed(key, said((9.0, 0.9)), keys))]


def test_the_end_of_listening_lets_go_of_it(key: PushToTalk, said: Said) -> None:
    fed(key, said((0.5, 0.0), (1.0, 0.9)), [(0.5, True)])

    assert ["TurnEnded", "released"] == kinds(key.finish())
    assert [] == key.finish()


def test_its_endpointer_ends_nothing_but_what_is_too_long() -> None:
    endpointer = HeldEndpointer(early_s=0.05, max_turn_s=3.0)

    verdicts = [endpointer.verdict(OpenTurn(0, 16_000, now, 1.0)) for now in (16_500, 24_000, 47_999, 48_000)]

    assert [Verdict.GO_ON, Verdict.EARLY, Verdict.EARLY, Verdict.LIMIT] == verdicts


MOMENTS = st.lists(st.tuples(st.floats(0.0, 6.0), st.booleans()), max_size=12)
PIECES = st.lists(st.tuples(st.floats(0.05, 1.5), st.sampled_from([0.0, 0.9])), min_size=1, max_size=8)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PIECES, MOMENTS, st.floats(0.0, 0.5))
def test_every_turn_begins_once_ends_once_and_lies_under_the_key(
    tracker: ActivityTracker, said: Said, pieces: list[tuple[float, float]], moments: Keys, late_s: float
) -> None:
    tracker.reset()
    key = PushToTalk(TurnSegmenter(tracker, HeldEndpointer(max_turn_s=LIMIT_S)), max_turn_s=LIMIT_S)
    events = [*fed(key, said(*pieces), moments, late_s=late_s), *key.finish()]

    open_turn = pressed = False
    for event in events:
        match event:
            case TurnStarted():
                assert not open_turn
                open_turn = True
            case TurnPaused() | TurnResumed():
                assert open_turn
            case TurnEnded():
                assert open_turn
                open_turn = False
            case Attending(state=state):
                assert state in ("pressed", "released")
                assert (state == "pressed") is open_turn
                pressed = state == "pressed"
    assert not open_turn
    assert not pressed
    first = min((at_s for at_s, down in moments if down), default=None)
    assert all(first is not None and turn.start >= (first - PREROLL_S) * RATE - 2 * BLOCK for turn in turns(events))
