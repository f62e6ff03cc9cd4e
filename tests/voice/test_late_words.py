"""A recogniser that is late, and somebody who speaks over the agent: what they say is a turn all the same."""

from typing import Any

import anyio
import pytest

from discussion_helper.policy import Policy
from discussion_helper.testing import EchoResponder
from discussion_helper.testing.room import After, CutSynthesiser, Echo, Room, Scene, run_in_room, speech_like

RATE = 48_000
HELLO, WORDS = speech_like(2.0, RATE, seed=7), speech_like(1.3, RATE, seed=8)
SAID = "that is enough today"


def talked(late_s: float, *, interrupts: bool, barge_in: bool = True) -> dict[str, Any]:
    """The state of a session in which the user speaks over the first reply, read `late_s` after they have spoken."""

    async def talk(room: Room) -> dict[str, Any]:
        session = room.session(
            responder=EchoResponder(sentences=5),
            recogniser=room.recogniser(delay_s=late_s),
            synthesiser=CutSynthesiser(),
            policy=Policy(allow_barge_in=barge_in),
        )
        session.start()
        room.say(HELLO, at_s=0.5, text="Hello.")
        room.say(WORDS, after=After("reply", plus_s=1.5), text=SAID)
        await room.reached("reply", 1)
        if interrupts:
            await anyio.sleep(1.9)
            await session.interrupt()
        await room.reached("line_end", 2)
        await anyio.sleep(3 * late_s + 5.0)
        return session.state

    return run_in_room(talk, Scene(echo=Echo(gain_db=-30.0), seed=1))


@pytest.mark.parametrize(
    ("late_s", "interrupts"),
    [(3.5, True), pytest.param(0.2, True, marks=pytest.mark.slow), pytest.param(5.0, False, marks=pytest.mark.slow)],
)
def test_who_speaks_over_the_agent_is_heard_whenever_the_words_come(late_s: float, interrupts: bool) -> None:
    state = talked(late_s, interrupts=interrupts)

    assert ["Hello.", SAID] == [it["text"] for it in state["utterances"] if it["speaker"] == "user"]
    assert state["live"]["user"] is None


def test_words_over_a_reply_that_cannot_be_interrupted_do_not_stay_as_if_somebody_spoke() -> None:
    state = talked(0.2, interrupts=False, barge_in=False)

    assert ["Hello."] == [it["text"] for it in state["utterances"] if it["speaker"] == "user"]
    assert state["live"]["user"] is None


def test_words_that_were_told_of_what_is_no_turn_are_taken_back() -> None:
    """It is taken for the agent's own voice, which here sounds alike."""
    state = talked(3.5, interrupts=False)

    assert ["Hello."] == [it["text"] for it in state["utterances"] if it["speaker"] == "user"]
    assert state["live"]["user"] is None
