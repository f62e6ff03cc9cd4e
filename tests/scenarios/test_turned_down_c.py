"""From the gate to the loudspeaker: how soon the agent is 20 dB softer once it is to be turned down."""

from typing import Any

import pytest

from discussion_helper.testing.room import After, Echo, Loudspeaker, Scene
from discussion_helper.voice.notes import Ducked

pytestmark = pytest.mark.anyio

LIMIT_S = 0.03
"""Beside what the device holds."""
LONG = " ".join(f"word{number}" for number in range(16))
OVER = (
    ("speech/sphinx_goforward.wav", -20.0),
    ("speech/sphinx_cards_004.wav", -20.0),
    ("speech/praatio_bobby.wav", -26.0),
    ("speech/cmu_arctic_a0009.wav", -16.0),
    ("backchannel/ami_trn01_03.09.wav", -18.0),
    ("backchannel/ami_dev01_29.12.wav", -18.0),
    ("noise/sonicpi_misc_burp.flac", -18.0),
    ("backchannel/ami_trn01_22.30.wav", -20.0),
)
"""Who interrupts, who only says "mm-hm", and what is no voice: for the gate there is no difference."""


@pytest.mark.parametrize(
    ("echo_db", "latency_s"), [(None, 0.02), (-15.0, 0.02), (-15.0, 0.1)], ids=["headphones", "echo", "slow-device"]
)
async def test_at_the_gate_the_agent_is_turned_down_within_30_ms(
    talk: Any, echo_db: float | None, latency_s: float
) -> None:
    """From the decision that somebody is heard to -20 dB at the loudspeaker: 30 ms, and what the device has taken."""
    scene = Scene(echo=Echo(gain_db=echo_db, delay_s=0.06), loudspeaker=Loudspeaker(latency_s=latency_s))
    async with talk(scene=scene) as on:
        ducked: list[tuple[float, int]] = []
        noted = on.session.discussion.listener.noted

        def note(it: Any) -> None:
            if isinstance(it, Ducked):
                ducked.append((on.room.now_s, it.generation))
            noted(it)

        on.session.discussion.listener.noted = note
        for number, (name, dbfs) in enumerate(OVER, 1):
            await on.session.speak(LONG)
            # Each at another place within a block.
            on.say(name, after=After("reply", number, 1.2 + 0.0913 * number), dbfs=dbfs)
            await on.room.reached("line_end", number)
            await on.session.interrupt()
            await on.passed(1.5)
        tape = on.room.recording
        took = {generation: tape.ducked_s(at_s) - latency_s for at_s, generation in reversed(ducked)}

        assert len(OVER) == len(took)
        assert max(took.values()) <= LIMIT_S, took
        assert min(took.values()) > -latency_s  # it was not silent before


async def test_words_that_a_slow_recogniser_has_only_when_the_agent_goes_on_are_answered_all_the_same(
    talk: Any, ears: Any
) -> None:
    """A busy machine: the words come 3 s after the voice. Nothing that was said is lost."""
    async with talk([LONG], ["Fine."], ears=ears(delay_s=3.0)) as on:
        await on.session.speak(LONG)
        on.say("speech/sphinx_goforward.wav", "go forward ten meters", after=After("reply", 1, 1.2), dbfs=-20.0)
        await on.room.until(lambda: len(on.answers.seen) >= 1, within_s=12.0)
        why = [it["why"] for it in await on.told("decision")]

        assert "no words in time" in why
        assert "go forward ten meters" == on.answers.seen[-1][-1]["content"]
        assert on.replies[0].interrupted
