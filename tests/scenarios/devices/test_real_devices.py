"""Scenarios of one talk in real time, of what was heard and told in it: see the conftest beside this."""

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest

from discussion_helper.audio.frames import Samples
from discussion_helper.testing.room.synthesisers import WORDS_PER_S
from discussion_helper.testing.virtual_devices import RATE
from discussion_helper.turn.turns import TurnEnded, TurnStarted
from discussion_helper.voice.notes import Turn
from discussion_helper.voice.tail import with_tail

if TYPE_CHECKING:
    from tests.scenarios.devices.conftest import Held

pytestmark = [pytest.mark.devices, pytest.mark.slow, pytest.mark.timeout(180)]


def spans(samples: Samples, *, least_s: float) -> list[tuple[int, int]]:
    """Of what is audible, parted by silences of at least that length."""
    loud = np.flatnonzero(np.abs(samples) > 1e-3)
    cuts = np.flatnonzero(np.diff(loud) > least_s * RATE)
    return list(zip(loud[[0, *(cuts + 1)]], loud[[*cuts, -1]] + 1, strict=True))


def loud_until(samples: Samples) -> int:
    """Where the last of it is louder than a voice at its very end, a ramp of 5 ms, and than what is played behind."""
    return int(np.flatnonzero(np.abs(samples) > 5e-3)[-1]) + 1


def test_g1_a_device_that_knows_48_khz_alone(held: "Held") -> None:
    """A tone of 1 kHz is within 0.5 dB at 16 kHz, one of 12 kHz below -40 dB."""
    samples = held.heard
    windows = samples[: len(samples) // 8_000 * 8_000].reshape(-1, 8_000)
    spectra = np.abs(np.fft.rfft(windows * np.hanning(8_000), axis=1)) * 4.0 / 8_000

    assert -20.0 == pytest.approx(20.0 * np.log10(spectra[:, 497:504].max()), abs=0.5)
    assert 20.0 * np.log10(spectra[-3:, 1_990:2_010].max()) < -60.0


def test_a1_nobody_speaks_and_the_echo_interrupts_nothing(held: "Held") -> None:
    """A leak of -10 dB 100 ms later, a reply of 10 s: no interruption, no turn, the reply complete."""
    part = held.parts["alone"]

    assert [("agent", " ".join(held.script.long), False)] == [(it.speaker, it.text, it.interrupted) for it in part.said]
    assert [] == part.data("interruption")


def test_a3_no_sentence_of_the_agents_is_a_turn(held: "Held") -> None:
    """The recogniser would understand every sentence of the agent's: none came back as the user's."""
    turns = [it.text for part in held.parts.values() for it in part.said if it.speaker == "user"]

    assert {"alone", "coughed", "hummed"} <= {
        name for name, part in held.parts.items() if not part.data("floor", floor="thinking")
    }
    assert not [text for text in turns if any(sentence.rstrip(".") in text for sentence in held.script.long)]


def test_b1_and_b2_what_is_stored_is_what_was_heard_no_more_no_less(held: "Held") -> None:
    """The stored text of the reply that was cut are the words that were at the loudspeaker, give or take one."""
    part = held.parts["talked over"]
    reply = next(it for it in part.said if it.speaker == "agent")
    text = " ".join(held.script.many)
    first, *_, last = np.flatnonzero(np.abs(part.loudspeaker[: start_of_second(held)]) > 1e-3)
    played_s = (last + 1 - first) / RATE

    assert reply.interrupted
    assert text.startswith(reply.text)
    assert abs(len(reply.text.split()) - played_s * WORDS_PER_S) <= 1.0
    assert reply.text == held.answers.seen[1][-2]["content"]


def start_of_second(held: "Held") -> int:
    """Where the second reply begins in the part where somebody talks over the first."""
    heard, made = held.parts["talked over"].loudspeaker, held.voice.made[held.script.last].samples
    size = 1 << (len(heard) + len(made)).bit_length()
    product = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(made, size)), size)[: len(heard)]
    return int(np.argmax(product))


def test_c1_the_request_is_cancelled_and_nothing_comes_after_the_stop(held: "Held") -> None:
    """Interrupted by voice with many sentences to go: the request is cancelled within 50 ms of the decision."""
    part = held.parts["talked over"]

    assert 1 <= len(held.answers.cancelled_s)
    assert held.answers.cancelled_s[0] - held.decided_s[0] <= 0.05
    assert 0 == held.answers.given.count(held.script.many[-1])
    assert [True, False] == [it.interrupted for it in part.said if it.speaker == "agent"]
    silent = part.loudspeaker[start_of_second(held) - RATE // 2 : start_of_second(held)]
    assert np.abs(silent).max() < 1e-3


def test_c2_what_comes_late_of_a_dead_reply_is_never_played(held: "Held") -> None:
    """Five chunks of the dead reply while the next one is played: none is taken, and not a sample of them is heard."""
    part, start = held.parts["talked over"], start_of_second(held)
    made = held.voice.made[held.script.last].samples
    heard = part.loudspeaker[start : start + len(made)]

    assert {(held.dead + 1, None)} == {(playing, written) for playing, written, _ in held.late}
    assert [False] * 5 == [over for *_, over in held.late]
    assert np.abs(part.loudspeaker).max() < 0.89
    # Nothing but the second reply, wherever a busy machine has left gaps in it.
    assert np.abs(heard).max() <= np.abs(made).max() + 1e-3


def test_c4_after_a_cough_the_same_reply_goes_on_from_the_same_sample(held: "Held") -> None:
    """A cough over a reply: the same reply within 2.0 s from the same sample, give or take a block."""
    part = held.parts["coughed"]
    made = held.voice.made[held.script.words].samples
    pieces = spans(part.loudspeaker, least_s=0.3)
    gaps_s = [(after[0] - before[1]) / RATE for before, after in pairwise(pieces)]

    assert [(held.script.words, False)] == [(it.text, it.interrupted) for it in part.said]
    assert 2 == len(pieces)
    assert gaps_s[0] < 2.0
    lengths = sum(end - start for start, end in pieces)
    assert lengths == pytest.approx(len(made), abs=0.06 * RATE * (1 + held.underflows["coughed"])), held.underflows
    tail = part.loudspeaker[: loud_until(part.loudspeaker)][-RATE:]
    assert np.allclose(tail, made[: loud_until(made)][-RATE:], atol=2e-3)


def test_c10_neither_a_duck_nor_a_resume_nor_a_stop_clicks(held: "Held") -> None:
    """The agent hums, is turned down, goes on and is stopped: no step above 0.05 of full scale.

    A machine that is too busy to play without gaps makes two at each of them.
    """
    part = held.parts["hummed"]

    assert np.abs(part.loudspeaker).max() > 0.14
    assert [True] == [it.interrupted for it in part.said]
    assert np.sum(np.abs(np.diff(part.loudspeaker)) > 0.05) <= 2 * held.underflows["hummed"]


def test_c12_every_sample_of_a_reply_reaches_the_device(held: "Held") -> None:
    """The end of a reply is not clipped: the last half second is at the loudspeaker, sample by sample."""
    part = held.parts["talked over"]
    made = held.voice.made[held.script.last].samples
    last, end = loud_until(part.loudspeaker), loud_until(made)

    assert np.allclose(part.loudspeaker[last - RATE // 2 : last], made[end - RATE // 2 : end], atol=2e-3)


def test_d1_and_d3_the_first_words_are_there_also_over_a_reply(held: "Held") -> None:
    """The first word of a turn in silence, and of one over a reply with its echo."""
    turns = [it.text for it in held.parts["talked over"].said if it.speaker == "user"]

    assert turns[0].endswith("go forward ten meters")
    assert "four" in turns[1].split()


def test_d1_the_200_ms_before_the_trigger_are_in_what_the_recogniser_is_given(held: "Held") -> None:
    """Of every turn in silence: it begins 200 ms and more before the moment at which it was known to be one."""
    leads_s: list[float] = []
    started: Turn | None = None
    first = 0
    for turn in held.turns:
        if isinstance(turn.event, TurnStarted):
            started, first = turn, turn.event.at
        elif isinstance(turn.event, TurnEnded) and started is not None and not (turn.decided or turn.own):
            heard = with_tail(turn.event.samples)
            assert any(np.array_equal(heard, given) for given in held.ears.given)
            zero_s = started.started_at_s - first / 16_000
            leads_s.append(started.decided_at_s - zero_s - turn.event.start / 16_000)
    texts = [it.text for it in held.parts["asked"].said if it.speaker == "user"]

    assert [text for _, text in held.script.asked] == texts
    assert len(leads_s) >= 4
    assert min(leads_s) >= 0.2, leads_s
