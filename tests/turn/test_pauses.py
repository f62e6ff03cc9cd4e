"""What is learned of a speaker's pauses."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.errors import SettingError
from discussion_helper.turn.endpointing import OpenTurn, Verdict
from discussion_helper.turn.pauses import MOST, PauseBounds, PauseModel
from discussion_helper.turn.policy_endpointer import PolicyEndpointer

RATE = 16_000


def test_before_anything_is_learned_the_wait_is_the_usual_one() -> None:
    assert PauseModel().wait_s == 0.5
    assert PauseModel(bounds=PauseBounds(usual_s=0.8)).wait_s == pytest.approx(0.8)


def test_one_long_pause_changes_hardly_anything_and_a_habit_does() -> None:
    model = PauseModel()
    model.learn(1.5)

    assert model.wait_s == pytest.approx(0.5, abs=0.01)

    for _ in range(5):
        model.learn(0.9)
    assert 1.0 < model.wait_s < 1.8


@given(st.lists(st.floats(-10.0, 1e6), max_size=200))
def test_the_wait_stays_between_its_bounds_and_the_memory_small(pauses_s: list[float]) -> None:
    bounds = PauseBounds(usual_s=0.5, floor_s=0.4, ceiling_s=2.5)
    model = PauseModel(pauses_s, bounds=bounds)

    assert bounds.floor_s <= model.wait_s <= bounds.ceiling_s
    assert len(model.pauses_s) <= MOST
    assert PauseModel(model.pauses_s).wait_s == model.wait_s


def test_a_speaker_who_changes_is_learned_anew() -> None:
    model = PauseModel([1.8] * MOST)
    for _ in range(MOST):
        model.learn(0.3)

    assert model.wait_s < 0.6


@pytest.mark.parametrize("bounds", [(0.0, 0.4, 2.5), (0.3, 0.4, 2.5), (0.5, 0.4, 0.45)])
def test_bounds_out_of_order_are_refused(bounds: tuple[float, float, float]) -> None:
    with pytest.raises(SettingError, match="out of order"):
        PauseBounds(*bounds)


def is_cut(endpointer: PolicyEndpointer, pause_s: float) -> bool:
    """Whether a pause ends the turn before the voice behind it is certain, 0.1 s after it began."""
    silent = RATE + round((pause_s + 0.1) * RATE)
    view = OpenTurn(started=0, voiced_until=RATE, now=silent, voiced_s=1.0)
    return endpointer.verdict(view) is Verdict.END


@pytest.mark.parametrize("usual_s", [0.3, 0.9, 1.8])
def test_after_ten_turns_a_speaker_is_cut_off_in_less_than_a_twentieth_of_the_turns(usual_s: float) -> None:
    """With no evidence but the silence; two pauses a turn, which vary by a tenth. A pause that cut is learned too."""
    dice = random.Random(usual_s)
    model = PauseModel()
    endpointer = PolicyEndpointer(pauses=model)
    cuts = []
    for _ in range(210):
        pauses = [dice.gauss(usual_s, 0.1 * usual_s) for _ in range(2)]
        cuts.append(any(is_cut(endpointer, pause_s) for pause_s in pauses))
        for pause_s in pauses:
            model.learn(pause_s)

    assert sum(cuts[10:]) < 0.05 * 200
    assert endpointer.usual_s < usual_s * 1.45 + 0.2
