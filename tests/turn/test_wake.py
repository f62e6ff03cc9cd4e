"""The wake word: with detectors that believe the samples, the word is a sample of its own."""

from collections import deque
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.turn.activity import ActivityTracker
from discussion_helper.turn.attention import Attending, AttentionEvent
from discussion_helper.turn.endpointing import SilenceEndpointer
from discussion_helper.turn.turns import TurnEnded, TurnPaused, TurnResumed, TurnSegmenter, TurnStarted
from discussion_helper.turn.wake import OWN_S, REFRACTORY_S, WAIT_S, WakeWord

RATE, BLOCK, ZERO_S = 16_000, 160, 50.0
WORD = 0.3  # as a sample: too little for a voice
Said = Callable[..., Samples]


class Spotter:
    """Hears the word where the last samples of a step are WORD."""

    rate, frame_samples = RATE, 1_280

    def probability(self, samples: Samples) -> float:
        return 0.9 if samples[-1] == np.float32(WORD) else 0.0

    def reset(self) -> None: ...


@pytest.fixture
def wake(tracker: ActivityTracker) -> WakeWord:
    return made(tracker)


def made(tracker: ActivityTracker, *, follow_up_s: float = 3.0) -> WakeWord:
    segmenter = TurnSegmenter(tracker, SilenceEndpointer(max_turn_s=10.0))
    return WakeWord(segmenter, Spotter(), Spotter(), word="okay_nabu", follow_up_s=follow_up_s)


def fed(wake: WakeWord, samples: Samples, *agent: tuple[float, float], says: float = 0.1) -> list[AttentionEvent]:
    """What comes of the samples, while the agent speaks from one second to another."""
    found: list[AttentionEvent] = []
    for at in range(0, len(samples), BLOCK):
        at_s = at / RATE
        if any(begin <= at_s < end for begin, end in agent):
            wake.played(Frame(np.full(BLOCK, says, np.float32), RATE, at), ZERO_S + at_s)
        found += wake.feed(Frame(samples[at : at + BLOCK].copy(), RATE, at), ZERO_S + at_s + 0.01)
    return found


def kinds(events: Sequence[AttentionEvent]) -> list[str]:
    return [event.state if isinstance(event, Attending) else type(event).__name__ for event in events]


def turns(events: Sequence[AttentionEvent]) -> list[TurnEnded]:
    return [event for event in events if isinstance(event, TurnEnded)]


def told(events: Sequence[AttentionEvent]) -> list[tuple[str, str]]:
    return [(event.state, event.why) for event in events if isinstance(event, Attending)]


def test_nothing_is_heard_before_the_word(wake: WakeWord, said: Said) -> None:
    assert [("asleep", "okay_nabu")] == told(fed(wake, said((0.5, 0.0), (2.0, 0.9), (2.0, 0.0))))


def test_the_turn_is_what_follows_the_word(wake: WakeWord, said: Said) -> None:
    events = fed(wake, said((0.96, 0.0), (0.32, WORD), (0.32, 0.0), (1.0, 0.9), (1.0, 0.0)))

    assert ["asleep", "TurnStarted", "awake", "TurnPaused", "TurnEnded"] == kinds(events)
    (turn,) = turns(events)
    assert turn.start >= 1.28 * RATE - 0.45 * RATE
    assert turn.voiced_s == pytest.approx(1.0, abs=0.07)
    (awake,) = (event for event in events if isinstance(event, Attending) and event.state == "awake")
    assert (0.9, True) == (awake.score, awake.calls)


def test_a_word_that_nothing_follows_is_a_turn_without_samples(wake: WakeWord, said: Said) -> None:
    events = fed(wake, said((0.96, 0.0), (0.32, WORD), (WAIT_S + 1.0, 0.0)))

    assert ["asleep", "TurnStarted", "awake", "TurnEnded", "asleep"] == kinds(events)
    assert 0 == len(turns(events)[0].samples)


def test_one_word_is_one_word(wake: WakeWord, said: Said) -> None:
    events = fed(wake, said((0.96, 0.0), (0.96, WORD), (REFRACTORY_S, 0.0)))

    assert 1 == kinds(events).count("awake")


def test_after_a_reply_the_word_is_not_needed_for_a_while(wake: WakeWord, said: Said) -> None:
    stream = said((2.0, 0.0), (1.0, 0.9), (5.0, 0.0), (1.0, 0.9), (1.0, 0.0))

    events = fed(wake, stream, (0.0, 1.5))

    assert [("asleep", "okay_nabu"), ("awake", "follow-up"), ("asleep", "okay_nabu")] == told(events)
    assert 1 == len(turns(events))
    assert not any(event.calls for event in events if isinstance(event, Attending))


def test_what_is_said_right_behind_the_reply_is_whole(wake: WakeWord, said: Said) -> None:
    (turn,) = turns(fed(wake, said((1.7, 0.0), (0.4, 0.9), (1.0, 0.0)), (0.0, 1.5)))

    assert turn.voiced_s == pytest.approx(0.4, abs=0.07)


def test_without_follow_up_it_is_always_needed(tracker: ActivityTracker, said: Said) -> None:
    wake = made(tracker, follow_up_s=0.0)

    assert [] == turns(fed(wake, said((2.0, 0.0), (1.0, 0.9), (1.0, 0.0)), (0.0, 1.5)))


def test_over_the_agent_only_the_word_is_heard_and_it_calls(wake: WakeWord, said: Said) -> None:
    stream = said((0.96, 0.0), (1.6, 0.9), (0.16, 0.0), (0.32, WORD), (0.4, 0.0), (0.8, 0.9), (0.8, 0.0))

    events = fed(wake, stream, (0.0, 3.1))

    assert [("asleep", "okay_nabu"), ("awake", "okay_nabu")] == told(events)[:2]
    (turn,) = turns(events)
    assert turn.voiced_s == pytest.approx(0.8, abs=0.07)


def test_a_reply_that_begins_before_the_user_does_keeps_nobody_from_being_heard(wake: WakeWord, said: Said) -> None:
    stream = said((0.96, 0.0), (0.32, WORD), (1.5, 0.0), (1.0, 0.9), (1.0, 0.0))

    assert 1 == len(turns(fed(wake, stream, (1.6, 4.0))))


def test_a_follow_up_ends_when_the_agent_speaks_again(wake: WakeWord, said: Said) -> None:
    events = fed(wake, said((4.0, 0.0)), (0.0, 1.0), (2.5, 4.0))

    assert [("awake", "follow-up"), ("asleep", "the agent speaks")] == told(events)[1:]


def test_a_word_that_the_agent_says_wakes_nobody(wake: WakeWord, said: Said) -> None:
    stream = said((1.2, 0.0), (0.32, WORD), (1.0, 0.0))  # its echo, 0.2 s later

    fed(wake, said((0.0, 0.0)))
    events = fed(wake, stream, (0.96, 1.28), says=WORD)

    assert ("refused", "the agent's own voice") in told(events)
    assert [] == [event for event in events if isinstance(event, Attending) and event.calls]
    assert [] == turns(events)


class LateSpotter(Spotter):
    """Is certain of the word some steps of 80 ms after it, as the real one."""

    def __init__(self, steps: int) -> None:
        self._before = deque([0.0] * steps)

    def probability(self, samples: Samples) -> float:
        self._before.append(super().probability(samples))
        return self._before.popleft()


@pytest.mark.parametrize("steps", [1, 4])
def test_a_word_that_ends_what_the_agent_says_wakes_nobody_though_nothing_follows_it(
    tracker: ActivityTracker, said: Said, steps: int
) -> None:
    segmenter = TurnSegmenter(tracker, SilenceEndpointer(max_turn_s=10.0))
    wake = WakeWord(segmenter, LateSpotter(steps), LateSpotter(steps), word="okay_nabu", follow_up_s=3.0)
    stream = said((1.04, 0.0), (0.32, WORD), (1.04, 0.0), (0.32, WORD), (1.0, 0.0))  # its echo; then somebody

    events = fed(wake, stream, (0.96, 1.04), says=WORD)

    assert ("refused", "the agent's own voice") in told(events)
    assert [] == [event for event in events if isinstance(event, Attending) and event.calls]


def test_who_says_it_later_than_the_agent_could_be_heard_is_somebody_else(wake: WakeWord, said: Said) -> None:
    stream = said((1.28 + OWN_S + 0.32, 0.0), (0.32, WORD), (1.0, 0.0))

    assert ("awake", "okay_nabu") in told(fed(wake, stream, (0.96, 1.28), says=WORD))


def test_the_word_in_the_midst_of_a_turn_is_a_word_of_it(wake: WakeWord, said: Said) -> None:
    stream = said((0.96, 0.0), (0.32, WORD), (0.32, 0.0), (2.4, 0.9), (0.32, WORD), (1.04, 0.9), (1.0, 0.0))

    (turn,) = turns(fed(wake, stream))

    assert turn.voiced_s == pytest.approx(2.4 + 1.04, abs=0.1)


def test_the_end_of_listening_ends_the_turn(wake: WakeWord, said: Said) -> None:
    fed(wake, said((0.96, 0.0), (0.32, WORD), (0.2, 0.0), (0.5, 0.9)))

    assert ["TurnEnded", "asleep"] == kinds(wake.finish())
    assert [] == wake.finish()


PIECES = st.lists(
    st.tuples(st.sampled_from([0.08, 0.32, 0.8, 1.6, 4.0]), st.sampled_from([0.0, 0.9, WORD])), min_size=1, max_size=10
)
SPOKEN = st.lists(st.tuples(st.floats(0.0, 8.0), st.floats(0.1, 3.0)), max_size=3)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(PIECES, SPOKEN)
def test_every_turn_begins_once_and_ends_once_while_awake(
    tracker: ActivityTracker, said: Said, pieces: list[tuple[float, float]], spoken: list[tuple[float, float]]
) -> None:
    tracker.reset()
    wake = made(tracker)
    events = [*fed(wake, said(*pieces), *((at, at + length) for at, length in spoken)), *wake.finish()]

    is_open = False
    for event in events:
        match event:
            case TurnStarted():
                assert not is_open
                is_open = True
            case TurnPaused() | TurnResumed() | TurnEnded():
                assert is_open
                is_open = not isinstance(event, TurnEnded)
            case Attending(state="asleep"):
                assert not is_open
    assert not is_open
    assert bool(turns(events)) <= any(state == "awake" for state, _ in told(events))
