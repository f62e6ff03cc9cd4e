"""Scenarios that failed once because of the product."""

from typing import Any

import numpy as np
import pytest

from discussion_helper.testing.room import After, Echo, Scene

pytestmark = pytest.mark.anyio

LOOPED = ["You may pay at the counter by the door.", "They will give you a small ticket for it."]


async def test_a5_an_agent_that_answers_itself_is_stopped_by_the_loop_breaker(talk: Any, ears: Any) -> None:
    """Three turns in a row with half of the agent's words: one clear message with a fix, and no more requests.

    The recogniser misses every third word of the echo, so that no single turn is sure to be one.
    """
    scene = Scene(echo=Echo(gain_db=-6.0, delay_s=3.5))
    async with talk(LOOPED[:1], scene=scene, aec=False, ears=ears(mishears=3)) as on:
        on.overhear(LOOPED[0])
        on.say("speech/sphinx_cards_002.wav", "four queen of clubs", at_s=0.2)
        await on.passed(45.0)

        told = await on.told("decision", what="half duplex")
        assert 1 == len(told)
        assert "headphones" in told[0]["fix"]
        assert len(on.answers.seen) <= 3
        assert on.room.now_s - on.said[-1].ended_s > 20.0


def echoes() -> list[Any]:
    """Levels and delays: each delay once in the normal run, and each level."""
    quick = {(0.0, 0.02), (-10.0, 0.4), (0.0, 1.4)}
    cases = [(gain_db, delay_s) for gain_db in (0.0, -10.0, -20.0) for delay_s in (0.02, 0.1, 0.4, 1.4)]
    return [pytest.param(*case, marks=() if case in quick else pytest.mark.slow) for case in cases]


@pytest.mark.parametrize(("gain_db", "delay_s"), echoes())
async def test_a5_pieces_of_its_own_words_let_no_agent_answer_itself_for_long(
    talk: Any, long_reply: list[str], gain_db: float, delay_s: float
) -> None:
    """Nothing cancels the echo, and each barge-in of the agent on itself leaves a turn of two or three words."""
    scene = Scene(echo=Echo(gain_db=gain_db, delay_s=delay_s))
    async with talk(long_reply, scene=scene, aec=False) as on:
        for sentence in long_reply:
            on.overhear(sentence)
        on.say("speech/sphinx_cards_002.wav", "four queen of clubs", at_s=0.2)
        await on.passed(60.0)

        assert 1 == len(await on.told("decision", what="half duplex"))
        assert len(on.answers.seen) <= 4  # one, and three in a row that end it
        assert on.room.now_s - max(turn.ended_s for turn in on.said if turn.speaker == "user") > 15.0


async def test_c10_the_end_of_a_talk_does_not_click(talk: Any, long_reply: list[str]) -> None:
    """The talk is ended within a reply: it fades out before the device is closed."""
    async with talk(long_reply, tone=True, fast=True) as on:
        await on.session.say("Hum.")
        await on.room.reached("reply")
        await on.passed(0.411)
        await on.session.stop()
        await on.passed(0.1)

        assert np.abs(np.diff(on.room.recording.loudspeaker)).max() < 0.05


async def test_c13_without_an_echo_who_talks_over_the_first_reply_is_heard_as_soon(
    talk: Any, long_reply: list[str]
) -> None:
    """With headphones: 1.6 s after the first reply began the agent is turned down within 150 ms."""
    async with talk(long_reply, ["Fine."]) as on:
        await on.session.say("Tell me.")
        on.say("speech/sphinx_goforward.wav", "go forward ten meters", after=After("reply", 1, 1.0))
        await on.room.reached("line_end")
        await on.passed(2.0)
        tape = on.room.recording

        assert "go forward ten meters" in [each.text for each in on.said]
        assert tape.ducked_s(tape.mark("voice").at_s) < 0.15
