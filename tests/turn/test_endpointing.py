"""When a turn is over."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.errors import SettingError
from discussion_helper.turn.endpointing import OpenTurn, SilenceEndpointer, Verdict

RATE = 16_000


def after(silence_s: float, *, voice_s: float = 1.0) -> OpenTurn:
    """A turn that began with `voice_s` of voice."""
    voiced = round(voice_s * RATE)
    return OpenTurn(started=0, voiced_until=voiced, now=voiced + round(silence_s * RATE), voiced_s=voice_s)


@pytest.mark.parametrize(
    ("silence_s", "verdict"),
    [
        (0.0, Verdict.GO_ON),
        (0.04, Verdict.GO_ON),
        (0.05, Verdict.EARLY),
        (0.49, Verdict.EARLY),
        (0.5, Verdict.END),
        (9.0, Verdict.END),
    ],
)
def test_silence_first_allows_work_and_then_ends(silence_s: float, verdict: Verdict) -> None:
    assert SilenceEndpointer().verdict(after(silence_s)) is verdict


def test_a_turn_that_is_too_long_ends_while_the_user_speaks() -> None:
    endpointer = SilenceEndpointer(max_turn_s=10.0)

    assert endpointer.verdict(after(0.0, voice_s=9.99)) is Verdict.GO_ON
    assert endpointer.verdict(after(0.0, voice_s=10.0)) is Verdict.LIMIT


def test_a_turn_that_is_over_is_not_called_cut() -> None:
    assert SilenceEndpointer(max_turn_s=10.0).verdict(after(0.5, voice_s=9.9)) is Verdict.END


@given(st.floats(0.0, 90.0), st.floats(0.0, 3.0), st.floats(0.0, 3.0))
def test_more_silence_never_reopens_a_turn(voice_s: float, one_s: float, other_s: float) -> None:
    order = [Verdict.GO_ON, Verdict.EARLY, Verdict.LIMIT, Verdict.END]
    shorter, longer = sorted((one_s, other_s))
    endpointer = SilenceEndpointer()

    first, second = (endpointer.verdict(after(silence_s, voice_s=voice_s)) for silence_s in (shorter, longer))

    assert order.index(first) <= order.index(second)


@pytest.mark.parametrize(
    "times",
    [
        {"silence_s": 0.04},
        {"early_s": 0.0},
        {"early_s": -1.0},
        {"max_turn_s": 0.4},
        {"silence_s": float("nan")},
        {"max_turn_s": float("nan")},
        {"max_turn_s": float("inf")},
    ],
)
def test_times_that_do_not_fit_are_refused(times: dict[str, float]) -> None:
    with pytest.raises(SettingError, match="0 < early_s <= silence_s < max_turn_s"):
        SilenceEndpointer(**times)
