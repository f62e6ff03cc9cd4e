"""C1 by voice: what becomes of the responder's request when somebody talks over the reply, in the simulated room."""

from typing import Any

import pytest

from discussion_helper.testing.room import After, Echo, Scene

pytestmark = pytest.mark.anyio

SENTENCES = [f"This is sentence number {number}." for number in range(25)]
MORE = ["That was the last of them."]
OVER: dict[str, Any] = {"name": "speech/sphinx_goforward.wav", "after": After("reply", 1, 2.0), "dbfs": -20.0}
"""Somebody who says enough for a recogniser to be sure, 2 s after the reply began."""


@pytest.mark.parametrize("echo_db", [None, -15.0])
async def test_c1_by_voice_the_request_ends_with_the_decision(talk: Any, echo_db: float | None) -> None:
    """With 20 sentences to go: cancelled within 50 ms of the decision, nothing more is taken, not a sample comes."""
    async with talk(SENTENCES, ["Fine."], scene=Scene(echo=Echo(gain_db=echo_db, delay_s=0.08)), delay_s=0.5) as on:
        decided: list[tuple[float, int]] = []
        noted = on.session.discussion.listener.noted

        def note(it: Any) -> None:
            if getattr(it, "what", "") == "interruption":
                decided.append((on.room.now_s, len(on.answers.given)))
            noted(it)

        on.session.discussion.listener.noted = note
        await on.session.say("Tell me.")
        on.say(OVER["name"], "go forward ten meters", after=OVER["after"], dbfs=OVER["dbfs"])
        await on.room.reached("reply", 2)
        await on.passed(5.0)
        (at_s, given), zero_s = decided[0], on.room._world.around.zero_s

        assert given < 10
        assert on.answers.cancelled_s[0] - zero_s - at_s <= 0.05
        assert [*SENTENCES[:given], "Fine."] == on.answers.given
        assert 0 == on.room.recording.dead_samples
        assert "go forward ten meters" == on.answers.seen[1][-1]["content"]


async def test_c1_after_go_on_the_rest_is_read_and_more_is_asked_for(talk: Any) -> None:
    """Interrupted by voice with "go on": what was generated is read on, no word twice, and more is asked for."""
    async with talk(SENTENCES[:12], MORE, delay_s=0.5) as on:
        await on.session.say("Tell me.")
        on.say(OVER["name"], "go on please", after=OVER["after"], dbfs=OVER["dbfs"])
        await on.room.reached("reply", 2)
        await on.room.quiet(1.5)
        generated = [text for text in on.answers.given if text not in MORE]
        asked = on.answers.seen[1]
        until_s = (await on.told("decision", what="interruption"))[0]["ended_s"] + 0.4

        # No more than one each half second, to the end of the voice and the recogniser's 0.2 s: that is 10 of 12.
        assert 0 < len(generated) <= until_s / 0.5 < 12
        assert [*generated, *MORE] == on.answers.given
        assert " ".join(on.answers.given) == " ".join(reply.text for reply in on.replies)
        assert [" ".join(generated), "go on please"] == [message["content"] for message in asked[-2:]]
        assert [True, False] == [reply.interrupted for reply in on.replies]


async def test_c1_what_a_sound_cut_goes_on_being_generated(talk: Any) -> None:
    """A cough of which nothing becomes a turn: the same request gives all of the reply."""
    async with talk(SENTENCES[:6], delay_s=0.5) as on:
        await on.session.say("Tell me.")
        on.say("noise/sonicpi_misc_burp.flac", after=After("reply", 1, 2.0), dbfs=-20.0)
        await on.room.reached("reply")
        await on.room.quiet(2.5)

        assert 1 == len(on.answers.seen)
        assert [] == on.answers.cancelled_s
        assert [" ".join(SENTENCES[:6])] == [reply.text for reply in on.replies]
