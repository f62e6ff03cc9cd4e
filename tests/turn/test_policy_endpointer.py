"""When a turn is over, by all that is known of it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.errors import SettingError
from discussion_helper.turn.endpointing import OpenTurn, SilenceEndpointer, Verdict
from discussion_helper.turn.evidence import Evidence
from discussion_helper.turn.pauses import PauseModel
from discussion_helper.turn.policy_endpointer import Patience, PolicyEndpointer

RATE = 16_000
VOICED = 2 * RATE


def silent(
    silence_s: float, *, prosody: float | None = None, complete: float | None = None, until: int = VOICED
) -> OpenTurn:
    """A turn with 2 s of voice, and what is known of it up to sample `until`."""
    evidence = Evidence(prosody, until, complete, until)
    return OpenTurn(0, VOICED, VOICED + round(silence_s * RATE), VOICED / RATE, evidence=evidence)


def ends_after(prosody: float | None, complete: float | None, endpointer: PolicyEndpointer | None = None) -> float:
    asked = endpointer or PolicyEndpointer()
    steps = (step / 100 for step in range(1000))
    return next(s for s in steps if asked.verdict(silent(s, prosody=prosody, complete=complete)) is Verdict.END)


@pytest.mark.parametrize(
    ("prosody", "complete", "ends_s"),
    [
        (None, None, 0.5),
        (0.99, 0.97, 0.3),
        (0.99, 0.7, 0.5),
        (0.99, None, 0.7),
        (0.5, None, 0.8),
        (0.5, 0.97, 0.5),
        (0.01, None, 1.0),
        (0.01, 0.97, 1.0),
        (0.99, 0.1, 1.0),
        (None, 0.1, 1.0),
        (0.01, 0.1, 1.5),
        (0.005, None, 1.5),
        (0.005, 0.7, 1.5),
        (0.005, 0.97, 1.0),
    ],
)
def test_the_more_finished_a_turn_seems_the_sooner_it_ends(
    prosody: float | None, complete: float | None, ends_s: float
) -> None:
    assert ends_after(prosody, complete) == pytest.approx(ends_s, abs=0.011)


def test_what_is_older_than_the_last_voice_does_not_count() -> None:
    endpointer = PolicyEndpointer()

    assert endpointer.verdict(silent(0.4, prosody=0.99, complete=0.97)) is Verdict.END
    assert endpointer.verdict(silent(0.4, prosody=0.99, complete=0.97, until=VOICED - 1)) is Verdict.EARLY
    assert endpointer.reason(silent(0.4, prosody=0.99, until=VOICED - 1)).prosody == -1.0


def test_a_short_turn_that_only_sounds_complete_is_waited_for_longer() -> None:
    word = replace(silent(0.6, prosody=0.99), voiced_s=0.4)

    assert PolicyEndpointer().verdict(word) is Verdict.EARLY
    assert PolicyEndpointer().verdict(replace(word, evidence=Evidence(0.99, VOICED, 0.97, VOICED))) is Verdict.END


def test_the_wait_follows_the_speaker_and_the_patience_and_has_an_end() -> None:
    slow = PolicyEndpointer(pauses=PauseModel([1.0] * 20))

    assert 1.0 < ends_after(None, None, slow) < 1.4
    assert ends_after(0.99, 0.97, slow) == pytest.approx(0.3, abs=0.011)
    assert ends_after(0.01, 0.1, slow) == pytest.approx(2.5, abs=0.011)
    assert ends_after(None, None, PolicyEndpointer(patient=2.0)) == pytest.approx(1.0, abs=0.011)
    assert ends_after(0.01, 0.1, PolicyEndpointer(patient=2.0)) == pytest.approx(3.0, abs=0.011)


def test_an_end_says_why() -> None:
    reason = PolicyEndpointer().reason(silent(0.4, prosody=0.99, complete=0.97))

    assert (reason.rule, reason.wait_s) == ("sounds and reads complete", 0.3)
    assert (reason.prosody, reason.complete) == (0.99, 0.97)


def test_without_evidence_it_is_the_silence_alone() -> None:
    plain, ours = SilenceEndpointer(max_turn_s=10.0), PolicyEndpointer(max_turn_s=10.0)
    views = [silent(s / 100) for s in range(200)] + [OpenTurn(0, n * RATE, n * RATE, float(n)) for n in range(20)]

    assert [ours.verdict(view) for view in views] == [plain.verdict(view) for view in views]


scores = st.none() | st.floats(0.0, 1.0)


@given(scores, scores, st.floats(0.0, 5.0), st.floats(0.0, 5.0))
def test_more_silence_never_reopens_a_turn_and_none_is_waited_for_for_ever(
    prosody: float | None, complete: float | None, one_s: float, other_s: float
) -> None:
    order = [Verdict.GO_ON, Verdict.EARLY, Verdict.END]
    endpointer = PolicyEndpointer(pauses=PauseModel([1.8] * 10))
    views = [silent(s, prosody=prosody, complete=complete) for s in sorted((one_s, other_s))]

    first, second = (order.index(endpointer.verdict(view)) for view in views)

    assert first <= second
    assert endpointer.verdict(silent(2.5, prosody=prosody, complete=complete)) is Verdict.END


known = st.floats(0.0, 1.0)
EDGES = st.sampled_from((0.0, 0.009, 0.01, 0.19, 0.2, 0.35, 0.36, 0.69, 0.7, 0.84, 0.85, 1.0)) | known


def waits(prosody: float | None, complete: float | None, voiced_s: float = 2.0) -> float:
    endpointer = PolicyEndpointer(pauses=PauseModel([0.6, 0.7]))
    return endpointer.reason(replace(silent(0.3, prosody=prosody, complete=complete), voiced_s=voiced_s)).wait_s


@given(EDGES, EDGES, st.none() | EDGES, st.floats(0.1, 5.0))
def test_what_sounds_more_complete_is_never_waited_for_longer(
    one: float, other: float, complete: float | None, voiced_s: float
) -> None:
    less, more = sorted((one, other))

    assert waits(more, complete, voiced_s) <= waits(less, complete, voiced_s)


@given(EDGES, EDGES, st.none() | EDGES, st.floats(0.1, 5.0))
def test_what_reads_more_complete_is_never_waited_for_longer(
    one: float, other: float, prosody: float | None, voiced_s: float
) -> None:
    less, more = sorted((one, other))

    assert waits(prosody, more, voiced_s) <= waits(prosody, less, voiced_s)


@given(st.none() | EDGES, st.floats(0.36, 1.0), st.floats(0.1, 5.0))
def test_a_text_that_comes_lengthens_no_wait_unless_it_reads_unfinished(
    prosody: float | None, complete: float, voiced_s: float
) -> None:
    assert waits(prosody, complete, voiced_s) <= waits(prosody, None, voiced_s)


@given(EDGES, st.none() | EDGES, st.floats(0.1, 5.0), st.floats(0.1, 5.0))
def test_more_voice_never_lengthens_the_wait(prosody: float, complete: float | None, one: float, other: float) -> None:
    short_s, long_s = sorted((one, other))

    assert waits(prosody, complete, long_s) <= waits(prosody, complete, short_s)


def test_times_that_do_not_fit_are_refused() -> None:
    with pytest.raises(SettingError, match="do not fit"):
        PolicyEndpointer(silence_s=0.04)
    with pytest.raises(SettingError, match="do not rise"):
        Patience(complete=2.0, open=1.0)
    for unread in (0.9, 1.7):
        with pytest.raises(SettingError, match="do not rise"):
            Patience(unread=unread)
