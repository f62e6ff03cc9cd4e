"""A. The assistant hears itself: scenarios of public bug reports, in the simulated room."""

from typing import Any

import pytest

from discussion_helper.testing.room import After, Echo, Scene
from discussion_helper.types import Policy
from discussion_helper.voice.overheard import BARGE_IN_OFF

pytestmark = pytest.mark.anyio

LOOPED = ["You may pay at the counter by the door.", "They will give you a small ticket for it."]


async def test_a1_nobody_speaks_and_the_echo_interrupts_nothing(talk: Any, long_reply: list[str]) -> None:
    """A leak of -10 dB 120 ms later, a reply of 10 s, nobody speaks: no interruption, no turn, the reply complete."""
    async with talk(scene=Scene(echo=Echo(gain_db=-10.0, delay_s=0.12))) as on:
        await on.session.speak(" ".join(long_reply))
        await on.room.reached("reply")
        await on.room.quiet(2.5)
        tape = on.room.recording
        turns = [utterance for utterance in on.said if utterance.speaker == "user"]

        assert [] == turns
        assert [] == await on.told("interruption")
        assert [" ".join(long_reply)] == [reply.text for reply in on.replies]
        assert 10.0 < on.replies[0].duration_s < 13.0
        assert [] == tape.holes(1)


async def test_a2_without_a_canceller_half_duplex_never_loops(talk: Any, long_reply: list[str]) -> None:
    """No echo cancellation at all, and a recogniser that understands the agent: with barge-in off it never loops."""
    scene = Scene(echo=Echo(gain_db=-6.0, delay_s=0.05))
    async with talk(long_reply, scene=scene, aec=False, policy=Policy(allow_barge_in=False)) as on:
        for sentence in long_reply:
            on.overhear(sentence)
        on.say("speech/sphinx_cards_002.wav", "four queen of clubs", at_s=0.2)
        await on.room.reached("reply")
        await on.room.quiet(5.0)

        assert ["four queen of clubs"] == [turn.text for turn in on.said if turn.speaker == "user"]
        assert [" ".join(long_reply)] == [reply.text for reply in on.replies]
        assert 1 == len(on.answers.seen)


async def test_a2_without_barge_in_a_voice_over_the_agent_is_told_with_all_that_is_known_of_it(
    talk: Any, long_reply: list[str]
) -> None:
    """With barge-in off that is an echo to the talk, which tells all that the listener has told of it."""
    scene, policy = Scene(echo=Echo(gain_db=None)), Policy(allow_barge_in=False)
    async with talk(long_reply, scene=scene, aec=False, policy=policy) as on:
        await on.session.say("Tell me.")
        on.say("speech/sphinx_cards_002.wav", "four queen of clubs", after=After("reply", 1, 1.0))
        await on.room.reached("reply")
        await on.room.quiet(2.0)
        turn, echo = await on.told("decision")

        assert ("turn", "ignored", "echo") == (turn["what"], echo["what"], echo["why"])
        for name in ("started_s", "ended_s", "voiced_s", "level_dbfs", "over_echo_db", "text", "doubt", "score"):
            assert turn[name] == echo[name]
        assert ["Tell me."] == [it.text for it in on.said if it.speaker == "user"]


@pytest.mark.parametrize(
    ("gain_db", "name", "told"),
    [
        (None, "speech/sphinx_cards_002.wav", [("turn", "words"), ("ignored", "echo")]),
        (-6.0, "speech/praatio_bobby.wav", [("ignored", BARGE_IN_OFF)]),
        (None, "", []),
        (-6.0, "", []),
    ],
    ids=["no echo", "loud echo", "nobody, no echo", "nobody, loud echo"],
)
async def test_a2_without_barge_in_who_is_lost_behind_the_canceller_is_told_of(
    talk: Any, long_reply: list[str], gain_db: float | None, name: str, told: list[tuple[str, str]]
) -> None:
    """Over the first reply, before it is known what echo there is, somebody may leave nothing to be recognised.

    Where there is none that is known after half a second: then they are understood.
    """
    scene, policy = Scene(echo=Echo(gain_db=gain_db, delay_s=0.08)), Policy(allow_barge_in=False)
    async with talk(long_reply, scene=scene, policy=policy) as on:
        await on.session.say("Tell me.")
        if name:
            on.say(name, "whatever it is", after=After("reply", 1, 1.0), dbfs=-26.0)
        reply_s = (await on.room.reached("reply")).at_s
        await on.room.quiet(2.0)
        decisions = await on.told("decision")

        assert told == [(it["what"], it["why"]) for it in decisions]
        assert all(1.0 < it["started_s"] - reply_s < 1.6 for it in decisions)
        assert [" ".join(long_reply)] == [reply.text for reply in on.replies]
        assert ["Tell me."] == [it.text for it in on.said if it.speaker == "user"]


async def test_a3_the_agents_own_sentences_are_no_turn_and_it_is_told_why(talk: Any, ears: Any) -> None:
    """A transcript with 0.8 of its words from what was just played is dropped, and an event says so.

    The echo comes so late that the agent is silent by then, and no canceller knows of it.
    """
    scene = Scene(echo=Echo(gain_db=-6.0, delay_s=3.5))
    async with talk([LOOPED[0]], scene=scene, aec=False, ears=ears()) as on:
        on.overhear(LOOPED[0])
        on.say("speech/sphinx_cards_002.wav", "four queen of clubs", at_s=0.2)
        await on.room.reached("reply")
        await on.room.quiet(6.0)

        assert ["user", "agent"] == [turn.speaker for turn in on.said]
        assert 1 == len(on.answers.seen)
        ignored = await on.told("decision", what="ignored", why="the agent's own words")
        assert 1 == len(ignored)
        assert set(ignored[0]["text"].split()) <= set(LOOPED[0].split())


@pytest.mark.parametrize(("after_s", "answers"), [(1.0, 1), (6.0, 2)])
async def test_a3_who_quotes_the_agent_later_is_answered(talk: Any, after_s: float, answers: int) -> None:
    """What is said word for word as by the agent in the last 3 s is its echo; seconds later somebody quotes it."""
    async with talk(["Here you are."], LOOPED[:1], ["Quite so."]) as on:
        on.say("speech/sphinx_cards_002.wav", "four queen of clubs", at_s=0.2)
        await on.room.reached("reply")
        await on.room.quiet(2.0)
        await on.session.speak(LOOPED[0])
        await on.room.reached("reply", 2)
        await on.room.quiet(after_s)
        on.say("speech/sphinx_goforward.wav", LOOPED[0])
        await on.passed(6.0)

        assert answers == len(on.answers.seen)


@pytest.mark.parametrize("half_duplex", [True, False])
async def test_a7_in_half_duplex_a_soft_voice_is_ignored_which_is_told(
    talk: Any, long_reply: list[str], half_duplex: bool
) -> None:
    """It would interrupt in full duplex, and is less than 12 dB above the echo."""
    scene = Scene(echo=Echo(gain_db=-10.0, delay_s=0.1))
    async with talk(["Fine."], scene=scene) as on:
        if half_duplex:
            on.room.engine.go_half_duplex()
        await on.session.speak(" ".join(long_reply))
        on.say("speech/sphinx_goforward.wav", "go forward ten meters", after=After("reply", 1, 2.0), dbfs=-26.0)
        await on.room.reached("reply")
        await on.passed(5.0)
        await on.room.quiet(2.5)

        (told,) = [it for it in await on.told("decision") if it["voiced_s"] >= 0.1]
        assert (0 if half_duplex else 1) == len(on.answers.seen)
        assert half_duplex != on.replies[0].interrupted
        assert ("ignored", "half duplex") == (told["what"], told["why"]) or not half_duplex
        assert told["over_echo_db"] < 12.0 or not half_duplex


async def test_a7_in_half_duplex_there_is_a_way_out(talk: Any, ears: Any, long_reply: list[str]) -> None:
    """A voice 12 dB above the echo, which is answered also if it goes on for seconds; and the key."""
    scene = Scene(echo=Echo(gain_db=-10.0, delay_s=0.1))
    async with talk(["Fine."], scene=scene, ears=ears(says="tell me of the king")) as on:
        on.room.engine.go_half_duplex()
        await on.session.speak(" ".join(long_reply))
        on.say("speech/librivox_0870_sense.wav", after=After("reply", 1, 2.0), dbfs=-14.0)
        await on.room.reached("reply", 2)
        turns = [turn for turn in on.said if turn.speaker == "user"]
        decided = await on.told("decision")

        assert [("interruption", "words")] == [(it["what"], it["why"]) for it in decided]
        assert ["tell me of the king"] == [turn.text for turn in turns]
        assert turns[0].ended_s > on.room.recording.mark("halt").at_s + 2.0
        assert 1 == len(on.answers.seen)
        await on.passed(0.3)
        assert await on.session.interrupt()
        assert [True, True] == [reply.interrupted for reply in on.replies]


async def test_a8_in_the_first_second_of_the_first_reply_it_can_be_interrupted(
    talk: Any, long_reply: list[str]
) -> None:
    """A canceller that still learns keeps nobody from interrupting: by voice, which is told why, and by the key."""
    async with talk(long_reply, ["Fine."], scene=Scene(echo=Echo(gain_db=-10.0, delay_s=0.12))) as on:
        await on.session.speak(" ".join(long_reply))
        on.say("speech/sphinx_goforward.wav", "go forward ten meters", after=After("reply", 1, 0.5), dbfs=-20.0)
        await on.room.reached("halt")
        assert await on.told("decision", what="interruption")
        assert on.replies[0].interrupted

        await on.room.reached("reply", 2)
        await on.passed(0.5)
        assert await on.session.interrupt()
