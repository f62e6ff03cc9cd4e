"""E1: early cut-offs against latency, on recorded people, against what was accepted."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from discussion_helper.models import Store, load_manifest
from discussion_helper.turn.smart_turn import SMART_TURN_MODEL, SmartTurn

ROOT = Path(__file__).parents[2]
KEPT = Path(__file__).parent / "recorded_turns.json"
"""What was heard at each pause of the recordings in `audio/speech`, by `benchmarks.endpointing_turns`."""
ACCEPTED = {"silence": (14.7, 538.0), "Smart Turn": (8.8, 734.0), "policy": (8.8, 508.0)}
"""Of the 34 turns with a wait of 0.5 s: cut off early in percent, and the mean latency in ms."""
WORSE_POINTS, WORSE_MS = 2.0, 12.0
"""By which neither may get worse: of the latency a fiftieth, too."""
AGAIN_POINTS, AGAIN_MS = 3.0, 60.0
"""The same on another processor, where a score in the middle may fall to the other side: that is one turn of 34."""


@pytest.fixture
def curve(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The benchmark, which is no part of the package."""
    monkeypatch.syspath_prepend(str(ROOT))
    yield import_module("benchmarks.endpointing"), import_module("benchmarks.endpointing_turns")
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        del sys.modules[name]


def check(measure: Any, turns: Any, points: float, ms: float) -> None:
    for way in measure.WAYS:
        point = measure.measured(turns, way, 0.5)
        cut_percent, mean_ms = ACCEPTED[way.name]
        assert point.cut_percent <= cut_percent + points, point
        assert point.mean_ms <= mean_ms + ms, point


def test_neither_cut_offs_nor_latency_got_worse_by_the_rules(curve: Any) -> None:
    measure, turns = curve

    check(measure, turns.read_turns(KEPT), WORSE_POINTS, WORSE_MS)


def test_the_policy_is_better_than_silence_and_than_the_model_alone_on_both_axes(curve: Any) -> None:
    measure, turns = curve
    points = {way.name: measure.measured(turns.read_turns(KEPT), way, 0.5) for way in measure.WAYS}

    assert points["policy"].cut_percent < points["silence"].cut_percent
    assert points["policy"].cut_percent <= points["Smart Turn"].cut_percent
    assert points["policy"].mean_ms < min(points["silence"].mean_ms, points["Smart Turn"].mean_ms)


@pytest.mark.parametrize(
    ("gap_s", "cut", "heard", "left"),
    [(0.45, 0, 0, 0), (0.9, 100, 0, 0), (1.5, 100, 100, 0), (1.8, 100, 100, 100), (-1.0, 0, 0, 0)],
)
def test_a_cut_that_is_taken_back_before_the_reply_is_audible_is_not_heard(
    curve: Any, gap_s: float, cut: float, heard: float, left: float
) -> None:
    """Silence alone, half a second of it, in a turn that pauses once after a second."""
    measure, turns = curve
    pauses = [turns.Pause(16_000, gap_s, 1.0, (), -1.0)]
    pauses += [turns.Pause(64_000, -1.0, 2.0, (), -1.0)] if gap_s > 0 else []
    turn = turns.RecordedTurn("a", "read", False, 0, pauses[-1].until, tuple(pauses))
    point = measure.measured([turn], measure.WAYS[0], 0.5)

    assert (point.cut_percent, point.heard_percent, point.left_percent) == (cut, heard, left)


def test_hardly_a_cut_is_heard_and_fewer_stay(curve: Any) -> None:
    measure, turns = curve
    point = measure.measured(turns.read_turns(KEPT), measure.WAYS[2], 0.5)

    assert point.left_percent <= point.heard_percent <= 3.0


@pytest.mark.slow
@pytest.mark.models
@pytest.mark.timeout(600)
def test_neither_got_worse_by_what_is_heard(curve: Any) -> None:
    measure, turns = curve
    judge = SmartTurn(Store().path_of(load_manifest().model(SMART_TURN_MODEL)))
    names = {turn.name for turn in turns.read_turns(KEPT)}
    recordings = [it for it in turns.recordings_in(ROOT / "audio") if it.name in names]

    check(measure, turns.turns_of(recordings, judge), AGAIN_POINTS, AGAIN_MS)
