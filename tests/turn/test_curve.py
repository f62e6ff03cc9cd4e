"""E1: early cut-offs against latency, on recorded people, against what was accepted."""

from pathlib import Path
from typing import Any

import pytest

from discussion_helper.bench import endpointing, recorded_turns
from discussion_helper.models import Store, load_manifest
from discussion_helper.turn.smart_turn import SMART_TURN_MODEL, SmartTurn

ROOT = Path(__file__).parents[2]
KEPT = Path(__file__).parent / "recorded_turns.json"
"""What was heard at each pause of the recordings in `audio/speech`, by `bench/recorded_turns.py`."""
DIALOGUE = Path(__file__).parent / "recorded_dialogue.json"
"""The same of dialogue: figures alone, for neither the words that it was cut by nor all of its sound may lie here."""
ACCEPTED = {"silence": (14.7, 571.0), "Smart Turn": (8.8, 765.0), "policy": (2.9, 719.0)}
"""Of the 34 turns with a wait of 0.5 s: cut off early in percent, and the mean latency in ms."""
ACCEPTED_DIALOGUE = {"silence": (26.2, 459.0), "Smart Turn": (21.4, 544.0), "policy": (9.5, 576.0)}
"""Of the 42 turns of dialogue, likewise."""
READ_AFTER_S = 0.3
"""Of silence the text is there: reading begins after 0.05 s and takes 0.25 s."""
WORSE_POINTS, WORSE_MS = 2.0, 12.0
"""By which neither may get worse: of the latency a fiftieth, too."""
AGAIN_POINTS, AGAIN_MS = 3.0, 60.0
"""The same on another processor, where a score in the middle may fall to the other side: that is one turn of 34."""


@pytest.fixture
def curve() -> Any:
    return endpointing, recorded_turns


def points_of(measure: Any, turns: Any) -> Any:
    delays = measure.Delays(text_s=READ_AFTER_S)
    return {way.name: measure.measured(turns, way, 0.5, delays) for way in measure.WAYS}


def check(measure: Any, turns: Any, accepted: dict[str, tuple[float, float]], points: float, ms: float) -> None:
    for name, point in points_of(measure, turns).items():
        cut_percent, mean_ms = accepted[name]
        assert point.cut_percent <= cut_percent + points, point
        assert point.mean_ms <= mean_ms + ms, point


@pytest.mark.parametrize(
    ("file", "accepted"), [(KEPT, ACCEPTED), (DIALOGUE, ACCEPTED_DIALOGUE)], ids=("read", "dialogue")
)
def test_neither_cut_offs_nor_latency_got_worse_by_the_rules(
    curve: Any, file: Path, accepted: dict[str, tuple[float, float]]
) -> None:
    measure, turns = curve

    check(measure, turns.read_turns(file), accepted, WORSE_POINTS, WORSE_MS)


def test_of_dialogue_a_tenth_is_cut_off_within_600_ms(curve: Any) -> None:
    measure, turns = curve
    point = points_of(measure, turns.read_turns(DIALOGUE))["policy"]

    assert point.cut_percent <= 10.0
    assert point.mean_ms <= 600.0


@pytest.mark.parametrize("file", [KEPT, DIALOGUE], ids=("read", "dialogue"))
def test_silence_and_the_model_alone_cut_more_off_even_where_they_wait_longer(curve: Any, file: Path) -> None:
    measure, turns = curve
    recorded = turns.read_turns(file)
    ours = points_of(measure, recorded)["policy"]

    for way in measure.WAYS[:2]:
        others = [measure.measured(recorded, way, wait_s) for wait_s in measure.WAITS_S[:10]]
        assert ours.cut_percent < min(it.cut_percent for it in others if it.mean_ms <= ours.mean_ms + 50.0)


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
    turn = turns.RecordedTurn("a", "read", 0, pauses[-1].until, tuple(pauses))
    point = measure.measured([turn], measure.WAYS[0], 0.5)

    assert (point.cut_percent, point.heard_percent, point.left_percent) == (cut, heard, left)


def test_who_is_not_heard_to_the_end_has_waited_since_what_was_heard(curve: Any) -> None:
    """As of a whisper whose last word no detector takes for a voice: it lends the others no time."""
    measure, turns = curve
    turn = turns.RecordedTurn("a", "read", 0, 48_000, (turns.Pause(16_000, -1.0, 1.0, (), -1.0),))
    point = measure.measured([turn], measure.WAYS[0], 0.5)

    assert point.cut_percent == 0.0
    assert point.mean_ms == pytest.approx(500.0, abs=11.0)


@pytest.mark.parametrize("file", [KEPT, DIALOGUE], ids=("read", "dialogue"))
def test_hardly_a_cut_is_heard_and_fewer_stay(curve: Any, file: Path) -> None:
    measure, turns = curve
    point = measure.measured(turns.read_turns(file), measure.WAYS[2], 0.5)

    assert point.left_percent <= point.heard_percent <= 3.0


@pytest.mark.slow
@pytest.mark.models
@pytest.mark.timeout(600)
def test_neither_got_worse_by_what_is_heard(curve: Any) -> None:
    measure, turns = curve
    judge = SmartTurn(Store().path_of(load_manifest().model(SMART_TURN_MODEL)))
    names = {turn.name for turn in turns.read_turns(KEPT)}
    recordings = [it for it in turns.recordings_in(ROOT / "audio") if it.name in names]

    check(measure, turns.turns_of(recordings, judge), ACCEPTED, AGAIN_POINTS, AGAIN_MS)
