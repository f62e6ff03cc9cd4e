"""D. First syllable and last syllable: scenarios of public bug reports, in the simulated room."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from discussion_helper.audio.analysis import voiced
from discussion_helper.testing.room import After, Echo, Scene
from discussion_helper.turn.turns import TurnEnded, TurnStarted
from discussion_helper.voice.assembly import QUIET_PREROLL_S
from discussion_helper.voice.notes import Turn

pytestmark = pytest.mark.anyio

PEOPLE = (
    ("speech/sphinx_goforward.wav", "go forward ten meters"),
    ("speech/sphinx_cards_002.wav", "four queen of clubs"),
    ("speech/sphinx_cards_004.wav", "five five"),
    ("speech/praatio_bobby.wav", "bobby ripped the ledger"),
    ("speech/cmu_arctic_a0009.wav", "he turned sharply and faced gregson across the table"),
)
"""Plosives, fricatives and a soft "h" begin them."""
LONG = [" ".join(f"word{number}" for number in range(16))]


def lead_s(given: Any, known: Any) -> tuple[float, float]:
    """How sure it is that a sound is in what the recogniser was given, and how much of that lies before its voice."""
    size = 1 << (len(given) + len(known)).bit_length()
    product = np.fft.irfft(np.fft.rfft(given, size) * np.conj(np.fft.rfft(known, size)), size)
    best = int(np.argmax(product))
    lag = best if best < len(given) else best - size
    return float(product[best]) / float(np.linalg.norm(given)), (lag + voiced(known, 16_000).start) / 16_000


@pytest.fixture
def turns_of() -> Callable[[Any], list[Turn]]:
    """What is told of the turns of a talk, from now on."""

    def follow(on: Any) -> list[Turn]:
        listener, turns = on.session.discussion.listener, []
        noted = listener.noted

        def note(it: Any) -> None:
            turns.extend([it] if isinstance(it, Turn) else [])
            noted(it)

        listener.noted = note
        return turns

    return follow


async def test_d1_the_recogniser_gets_what_was_before_the_trigger(talk: Any, turns_of: Any) -> None:
    """A voice is known some time after its onset: the recogniser is given 200 ms before that, and all of the voice."""
    async with talk(["Fine."]) as on:
        turns = turns_of(on)
        for number, (name, text) in enumerate(PEOPLE, 1):
            on.say(name, text, at_s=on.room.now_s + 0.3)
            await on.room.reached("reply", number)
            await on.room.quiet(1.0)
        triggers = [turn.decided_at_s - on.zero_s for turn in turns if isinstance(turn.event, TurnStarted)]
        starts = [turn.event.start / 16_000 for turn in turns if isinstance(turn.event, TurnEnded)]
        leads = [max(lead_s(given, known.samples) for given in on.ears.given)[1] for known in on.ears.known]

        assert 5 == len(triggers)
        assert all(trigger_s - start_s >= 0.2 for trigger_s, start_s in zip(triggers, starts, strict=True))
        assert min(leads) >= 0.1, leads


async def test_d2_the_first_word_is_there_in_20_onsets(talk: Any) -> None:
    """20 onsets of five people at four levels: the first word is in the transcript each time, and the last one."""
    async with talk() as on:
        for number in range(20):
            name, text = PEOPLE[number % 5]
            on.say(
                name, text, at_s=on.room.now_s + 0.3 + 0.013 * number, dbfs=(-20.0, -26.0, -32.0, -36.0)[number // 5]
            )
            await on.room.reached("line_end", number + 1)
            await on.passed(1.2)
        told = [turn.text for turn in on.said]

        assert [PEOPLE[number % 5][1] for number in range(20)] == told


@pytest.mark.parametrize("half", [0, pytest.param(1, marks=pytest.mark.slow)], ids=["soft", "loud"])
async def test_d3_also_over_a_reply_with_its_echo(talk: Any, half: int) -> None:
    """The same over the agent, which is heard at the microphone: the first word of 10 onsets is in the transcript."""
    async with talk(scene=Scene(echo=Echo(gain_db=-10.0, delay_s=0.08))) as on:
        for number in range(10):
            await on.session.speak(LONG[0])
            name, text = PEOPLE[number % 5]
            on.say(name, text, after=After("reply", number + 1, 1.2 + 0.17 * number), dbfs=-26.0 + 6.0 * half)
            await on.room.reached("line_end", number + 1)
            await on.passed(1.2)
        told = [turn.text for turn in on.said if turn.speaker == "user"]

        assert [PEOPLE[number % 5][1].split()[0] for number in range(10)] == [text.split()[0] for text in told]
        assert {True} == {reply.interrupted for reply in on.replies}


@pytest.mark.parametrize(("after_s", "preroll_s"), [(0.3, 0.3), (1.5, QUIET_PREROLL_S)])
async def test_d6_the_pre_roll_holds_nothing_of_the_agent(
    talk: Any, turns_of: Any, after_s: float, preroll_s: float
) -> None:
    """Soon after a reply it is the 300 ms that it is over the agent, for more would hold the end of its echo."""
    async with talk(scene=Scene(echo=Echo(gain_db=-10.0, delay_s=0.08))) as on:
        turns = turns_of(on)
        await on.session.speak("That is all there is to say about it.")
        await on.room.quiet(after_s)
        on.say("speech/sphinx_cards_004.wav", "five five")
        await on.room.reached("line_end")
        await on.passed(1.5)
        (turn,) = [turn for turn in turns if isinstance(turn.event, TurnEnded) and not turn.own]

        assert turn.started_at_s - on.zero_s - turn.event.start / 16_000 == pytest.approx(preroll_s, abs=0.01)


async def test_d6_the_pre_roll_is_half_a_second_and_never_repeats_the_turn_before(talk: Any, turns_of: Any) -> None:
    """The pre-roll in silence is 500 ms; of turns that follow each other closely no sample is in two."""
    async with talk() as on:
        turns = turns_of(on)
        at_s = 1.0
        for gap_s in (0.1, 0.25, 0.4, 0.8, 1.6):
            on.say("speech/sphinx_cards_004.wav", "five five", at_s=at_s)
            at_s += 1.55 + gap_s
        await on.passed(at_s + 1.5)
        ended = [turn for turn in turns if isinstance(turn.event, TurnEnded)]

        assert 2 <= len(ended) <= 5
        assert all(before.event.end <= after.event.start for before, after in pairwise(ended))
        started_s = ended[0].started_at_s - on.zero_s
        assert started_s - ended[0].event.start / 16_000 == pytest.approx(QUIET_PREROLL_S, abs=0.01)
        assert on.said[0].text.startswith("five five")
