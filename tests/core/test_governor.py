"""What a machine that is late does without, in the order and with the hysteresis it is meant to."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.governor import SHEDS, STAGES, Budgets, Change, Governor, Hysteresis, Sheds

PULSE_S = 0.1
LATE_S = 10.0


def run(governor: Governor, late_s: float, *, from_s: float, for_s: float, stage: str = "detectors") -> list[Change]:
    """One measurement in each tenth of a second."""
    times = (from_s + PULSE_S * number for number in range(round(for_s / PULSE_S)))
    changes = (governor.measure(stage, late_s, at_s) for at_s in times)
    return [change for change in changes if change is not None]


def test_a_machine_in_time_does_without_nothing() -> None:
    governor = Governor()
    assert [] == run(governor, 0.05, from_s=0.0, for_s=100.0)
    assert () == governor.shed


def test_one_late_block_alone_is_a_moment() -> None:
    governor = Governor()
    for at_s in range(100):
        assert governor.measure("detectors", LATE_S, at_s) is None
        assert governor.measure("detectors", 0.01, at_s + 0.5) is None


def test_strikes_of_different_stages_are_not_added_up() -> None:
    governor = Governor()
    assert [None] * len(STAGES) == [governor.measure(stage, LATE_S, 0.0) for stage in STAGES]


def test_a_machine_that_stays_late_sheds_one_after_the_other_and_says_why() -> None:
    changes = run(Governor(), 0.12, from_s=0.0, for_s=30.0)
    assert list(SHEDS) == [change.what for change in changes]
    assert {"what": "interim", "state": "shed", "why": "detectors", "late_s": 0.12, "budget_s": 0.05} == (
        changes[0].as_dict()
    )


def test_what_was_shed_is_given_time_to_help() -> None:
    governor = Governor(hysteresis=Hysteresis(settle_s=5.0))
    assert ["interim"] == [change.what for change in run(governor, LATE_S, from_s=0.0, for_s=5.0)]
    assert ["speculation"] == [change.what for change in run(governor, LATE_S, from_s=5.0, for_s=2.0)]


def test_it_comes_back_in_the_opposite_order_when_nothing_was_late_for_long_enough() -> None:
    governor = Governor()
    run(governor, LATE_S, from_s=0.0, for_s=10.0)
    assert [] == run(governor, 0.01, from_s=10.0, for_s=19.5)
    changes = run(governor, 0.01, from_s=29.5, for_s=20.0 * len(SHEDS))
    assert [(what, True) for what in reversed(SHEDS)] == [(change.what, change.restored) for change in changes]
    assert () == governor.shed


def test_what_is_just_within_its_budget_gives_nothing_back() -> None:
    governor = Governor()
    run(governor, LATE_S, from_s=0.0, for_s=1.0)
    assert [] == run(governor, 0.045, from_s=1.0, for_s=500.0)
    assert ("interim",) == governor.shed


def test_the_stage_for_which_it_went_must_have_been_in_time_since() -> None:
    governor = Governor()
    run(governor, LATE_S, from_s=0.0, for_s=0.2, stage="final")
    assert [] == run(governor, 0.01, from_s=1.0, for_s=100.0)
    assert governor.measure("final", 0.1, 101.0) is not None


def test_each_time_that_it_must_go_again_it_comes_back_later() -> None:
    governor, at_s, waits = Governor(SHEDS[:1]), 0.0, []
    for _ in range(7):
        run(governor, LATE_S, from_s=at_s, for_s=5.0)
        waited = 0.0
        while governor.shed:
            waited += 1.0
            governor.measure("detectors", 0.0, at_s + 4.9 + waited)
        waits.append(waited)
        at_s += 5.0 + waited
    assert pytest.approx([20, 40, 80, 160, 320, 320, 320], abs=1) == waits


def test_a_stage_without_a_budget_is_never_late() -> None:
    governor = Governor(budgets=Budgets(first_token=math.inf))
    assert [] == run(governor, 1e9, from_s=0.0, for_s=10.0, stage="first_token")


def test_nothing_to_shed_is_nothing_to_say() -> None:
    assert [] == run(Governor(()), LATE_S, from_s=0.0, for_s=10.0)


def test_a_stage_that_is_none_is_a_mistake() -> None:
    with pytest.raises(KeyError, match="detector"):
        Governor().measure("detector", 0.0, 0.0)


def test_a_session_knows_what_it_does_without() -> None:
    sheds = Sheds()
    gone = Change("interim", False, "loop", 0.2, 0.1)
    for change in (gone, Change("interim", True, "loop", 0.0, 0.1), gone):
        sheds.take(change)
    assert {"now": ["interim"], "times": 2} == sheds.as_dict()


MEASURED = st.lists(
    st.tuples(st.sampled_from(STAGES), st.sampled_from([0.0, 0.03, 0.06, 0.2, 1.0, 5.0]), st.floats(0.0, 30.0)),
    max_size=200,
)


@given(MEASURED, st.integers(0, len(SHEDS)))
def test_whatever_is_measured_things_go_and_come_one_by_one_in_order_and_not_too_often(
    measured: list[tuple[str, float, float]], count: int
) -> None:
    rule = Hysteresis()
    governor, sheds, at_s = Governor(SHEDS[:count]), Sheds(), 0.0
    changed_at_s = late_at_s = -math.inf
    for stage, late_s, later_s in measured:
        at_s += later_s
        budget_s = Budgets().of(stage)
        change = governor.measure(stage, late_s, at_s)
        if late_s > budget_s * rule.calm_share:
            late_at_s = at_s
        if change is not None:
            sheds.take(change)
            least_s = rule.calm_s if change.restored else rule.settle_s
            assert at_s >= changed_at_s + least_s
            assert change.restored or late_s > budget_s
            assert not change.restored or at_s >= late_at_s + rule.calm_s
            changed_at_s = at_s
        assert tuple(sheds.now) == governor.shed == SHEDS[: len(sheds.now)]


@given(MEASURED)
def test_whatever_was_measured_a_machine_that_is_calm_again_has_everything_back(
    measured: list[tuple[str, float, float]],
) -> None:
    governor, at_s = Governor(), 0.0
    for stage, late_s, later_s in measured:
        at_s += later_s
        governor.measure(stage, late_s, at_s)
    for _ in range(len(SHEDS) * 320):
        at_s += 1.0
        for stage in STAGES:
            governor.measure(stage, 0.0, at_s)
    assert () == governor.shed
