"""Voice activity: the state machine alone, and behind two detectors."""

from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.audio.frames import Samples
from discussion_helper.errors import SettingError
from discussion_helper.turn.activity import ActivityTracker, Hysteresis, VoiceChange, VoiceStarted, VoiceStopped

FRAME = 512


def changes_of(probabilities: Sequence[float], gates: Sequence[bool] | None = None) -> list[tuple[int, VoiceChange]]:
    """(sample of the decision, change)"""
    machine = Hysteresis()
    return list(_steps(machine, probabilities, gates or [True] * len(probabilities)))


def _steps(
    machine: Hysteresis, probabilities: Sequence[float], gates: Sequence[bool]
) -> Iterator[tuple[int, VoiceChange]]:
    for at, (probability, gate) in enumerate(zip(probabilities, gates, strict=True)):
        if change := machine.step(probability, gate=gate, start=at * FRAME, end=(at + 1) * FRAME):
            yield (at + 1) * FRAME, change


frames = st.lists(st.tuples(st.sampled_from([0.0, 0.2, 0.34, 0.35, 0.4, 0.49, 0.5, 0.9]), st.booleans()), max_size=200)


@given(frames)
def test_starts_and_stops_alternate_in_the_order_of_time(script: list[tuple[float, bool]]) -> None:
    found = changes_of([p for p, _ in script], [gate for _, gate in script])

    kinds = [type(change) for _, change in found]
    assert kinds == [VoiceStarted, VoiceStopped] * (len(kinds) // 2) + [VoiceStarted] * (len(kinds) % 2)
    samples = [change.sample for _, change in found]
    assert samples == sorted(samples)
    assert all(change.sample < decided for decided, change in found)


@given(frames)
def test_a_voice_is_at_least_two_frames_and_never_more_than_was_heard(script: list[tuple[float, bool]]) -> None:
    machine = Hysteresis()
    found = list(_steps(machine, [p for p, _ in script], [gate for _, gate in script]))
    ends = [change.sample for _, change in found] + [len(script) * FRAME] * (len(found) % 2)

    lengths = [end - start for start, end in zip(ends[::2], ends[1::2], strict=True)]
    assert all(length >= 2 * FRAME for length in lengths)
    assert machine.voiced <= sum(lengths)
    assert machine.voiced <= FRAME * sum(p >= 0.35 for p, _ in script)


def test_two_frames_start_a_voice_and_it_began_with_the_first() -> None:
    assert changes_of([0.1, 0.6, 0.6]) == [(3 * FRAME, VoiceStarted(FRAME))]


def test_one_frame_is_no_voice() -> None:
    assert changes_of([0.9, 0.1, 0.9, 0.1, 0.9, 0.0]) == []


def test_a_voice_starts_above_on_and_holds_above_off() -> None:
    assert changes_of([0.49] * 9) == []
    assert changes_of([0.5, 0.35, *[0.35] * 9]) == [(2 * FRAME, VoiceStarted(0))]


def test_it_stops_after_the_hangover_where_the_voice_was_last() -> None:
    found = changes_of([0.9, 0.9, 0.9, 0.0, 0.0, 0.0])

    assert found == [(2 * FRAME, VoiceStarted(0)), (6 * FRAME, VoiceStopped(3 * FRAME))]


def test_a_gap_shorter_than_the_hangover_is_no_stop() -> None:
    assert changes_of([0.9, 0.9, 0.0, 0.0, 0.4, 0.0, 0.0]) == [(2 * FRAME, VoiceStarted(0))]


def test_nothing_starts_until_the_gate_agrees() -> None:
    assert changes_of([0.9] * 5, [False] * 5) == []
    assert changes_of([0.9] * 5, [False] * 4 + [True]) == [(5 * FRAME, VoiceStarted(0))]


@pytest.mark.parametrize(("on", "off"), [(0.3, 0.5), (1.0, 0.5), (0.5, 0.0), (float("nan"), 0.3)])
def test_thresholds_that_do_not_fit_are_refused(on: float, off: float) -> None:
    with pytest.raises(SettingError, match="0 < off <= on < 1"):
        Hysteresis(on=on, off=off)


def fed(tracker: ActivityTracker, samples: Samples) -> list[VoiceChange]:
    size = tracker.block_samples
    return [
        change for at in range(0, len(samples) - size + 1, size) for change in tracker.feed(samples[at : at + size])
    ]


def test_the_tracker_places_a_voice_within_a_frame(tracker: ActivityTracker, said: Callable[..., Samples]) -> None:
    started, stopped = fed(tracker, said((1.0, 0.0), (0.5, 1.0), (0.5, 0.0)))

    assert started == VoiceStarted(31 * FRAME)  # 0.992 s: the frame holds the first loud sample
    assert stopped == VoiceStopped(47 * FRAME)  # 1.504 s
    assert tracker.voiced_s == pytest.approx(0.512)
    assert not tracker.speaking


def test_the_gate_is_remembered_for_a_while() -> None:
    class Silent:
        rate, frame_samples = 16_000, 160

        def __init__(self) -> None:
            self.answers = iter([0.0] * 10 + [1.0] + [0.0] * 500)

        def probability(self, samples: Samples) -> float:
            return next(self.answers)

        def reset(self) -> None: ...

    class Late:
        """Sure of a voice from the `at`-th frame on."""

        rate, frame_samples = 16_000, 512

        def __init__(self, at: int) -> None:
            self.left = at

        def probability(self, samples: Samples) -> float:
            self.left -= 1
            return float(self.left < 0)

        def reset(self) -> None: ...

    nothing = said_nothing(1.5)
    assert fed(ActivityTracker(gate=Silent(), judge=Late(8)), nothing) == [VoiceStarted(8 * FRAME)]  # after 0.32 s
    assert fed(ActivityTracker(gate=Silent(), judge=Late(14)), nothing) == []  # after 0.51 s: 0.1 s too late


def said_nothing(seconds: float) -> Samples:
    from discussion_helper.audio.frames import silence

    return silence(seconds, 16_000)


def test_a_reset_forgets_the_voice_and_moves_the_clock(tracker: ActivityTracker, said: Callable[..., Samples]) -> None:
    fed(tracker, said((1.0, 1.0)))
    tracker.reset(at=160_000)

    assert not tracker.speaking
    assert tracker.voiced_s == 0.0
    assert fed(tracker, said((0.064, 0.0), (0.2, 1.0))) == [VoiceStarted(160_000 + 1024)]


def test_detectors_of_two_rates_are_refused(tracker: ActivityTracker) -> None:
    class Slow:
        rate, frame_samples = 8_000, 160

        def probability(self, samples: Samples) -> float:
            return 0.0

        def reset(self) -> None: ...

    with pytest.raises(ValueError, match="8000 Hz and the judge 16000"):
        ActivityTracker(gate=Slow(), judge=tracker._judge)
