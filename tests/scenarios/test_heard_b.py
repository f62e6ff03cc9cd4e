"""B. What the model believes it said: scenarios of public bug reports, in the simulated room."""

import re
from typing import Any

import pytest

from discussion_helper.session import Session
from discussion_helper.testing import ScriptedListener, SilentVoice
from discussion_helper.testing.room import After, Echo, Scene
from discussion_helper.testing.room.synthesisers import WORDS_PER_S
from discussion_helper.types import SpokenSentence

pytestmark = pytest.mark.anyio

WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
BLOCK_S = 0.01


def beginning(text: str, words: int) -> str:
    """Of a text."""
    return " ".join(text.split()[:words])


async def cut_after(on: Any, seconds: float, reply: int = 1) -> None:
    """Interrupt the reply so long after its first audible sample."""
    mark = await on.room.reached("reply", reply)
    await on.passed(mark.at_s + seconds - on.room.now_s)
    assert await on.session.interrupt()


def played_s(on: Any, generation: int) -> float:
    """Seconds of a reply that were handed to the loudspeaker."""
    return float(sum(it.count for it in on.room.recording.rendered if it.generation == generation)) / 48_000


async def test_b1_a_reply_interrupted_at_40_percent_is_stored_as_it_was_heard(talk: Any) -> None:
    """Interrupted at 40 % of its playback: the history has the heard text, and not what was generated."""
    async with talk([WORDS], ["Fine."]) as on:
        on.say("speech/sphinx_cards_002.wav", "four queen of clubs", at_s=0.2)
        await cut_after(on, 0.4 * 16 / WORDS_PER_S)
        await on.session.say("And then?")
        await on.room.reached("reply", 2)
        sent = on.answers.seen[1]

        assert on.replies[0].text == sent[1]["content"]
        assert on.replies[0].text in (beginning(WORDS, 6), beginning(WORDS, 7))
        assert on.replies[0].interrupted


async def test_b2_what_was_heard_is_neither_longer_nor_shorter_than_what_was_played(talk: Any) -> None:
    """The heard words are those whose audio was played, give or take one, wherever the reply is cut."""
    cuts_s = [0.1 + 0.47 * number for number in range(12)]
    async with talk([WORDS], fast=True) as on:
        for number, cut_s in enumerate(cuts_s, 1):
            await on.session.say("Count.")
            await cut_after(on, cut_s, number)
        generations = [mark.generation for mark in on.room.recording.marks if mark.kind == "reply"]
        for reply, generation in zip(on.replies, generations, strict=True):
            assert abs(len(reply.text.split()) - played_s(on, generation) * WORDS_PER_S) <= 1.0
            assert WORDS.startswith(reply.text)


class Streamed(SilentVoice):
    """A voice that makes its own sound and can only say for how long it was played."""

    async def speak(self, sentence: str) -> SpokenSentence:
        result = await super().speak(sentence)
        return SpokenSentence(sentence, result.first_audio_s, result.played_s, cut=result.cut)


async def test_b3_a_voice_that_streams_by_itself_is_not_believed_to_have_said_all(talk: Any) -> None:
    """The same for a part that makes its own sound and does not know the words: the full text is never stored."""
    async with talk(start=False) as on:  # for its clock
        parts = ScriptedListener(["Count."], stays_open=True), on.answers, Streamed(seconds_per_sentence=6.0)
        on.answers.texts = [[WORDS]]
        session = Session(*parts).start()
        await on.passed(2.0)
        assert await session.interrupt()
        await session.stop()
        reply = session.discussion.conversation.utterances[1]

        assert 0 < len(reply.text.split()) < 9
        assert (WORDS, True) == (reply.said, reply.interrupted)


async def test_b4_cut_at_two_seconds_of_a_device_the_position_is_that_and_the_message_is_not_empty(talk: Any) -> None:
    """Cut at 2.0 s: the position is 2.0 s, give or take a block, and the message is not empty."""
    async with talk([WORDS], fast=True) as on:
        await on.session.say("Count.")
        await cut_after(on, 2.0)
        tape = on.room.recording
        rendered_s = sum(it.count for it in tape.rendered) / 48_000
        lead_s = on.room.scene.loudspeaker.latency_s  # what the device had taken and had not played yet
        cut_s = tape.mark("halt").at_s - tape.mark("reply").at_s

        assert 2.0 <= cut_s < 2.0 + BLOCK_S
        assert cut_s + lead_s == pytest.approx(rendered_s, abs=BLOCK_S + 0.005)
        assert beginning(WORDS, 5) == on.replies[0].text


async def test_b6_a_sound_before_the_first_frame_loses_nothing(talk: Any) -> None:
    """200 ms of a voice between the request and the first frame, and no words: the reply is played, whole."""
    async with talk([WORDS], synthesis_s=0.8) as on:
        await on.passed(0.5)
        on.say("backchannel/ami_dev01_29.12.wav", "")
        await on.passed(0.3)
        await on.session.say("Count.")
        await on.room.reached("reply", within_s=3.0)
        await on.room.quiet(2.5)

        assert [(WORDS, False)] == [(reply.text, reply.interrupted) for reply in on.replies]
        assert 16 / WORDS_PER_S == pytest.approx(played_s(on, on.room.recording.mark("reply").generation), abs=BLOCK_S)


async def test_b7_who_speaks_after_a_reply_changes_nothing_of_it(talk: Any) -> None:
    """The user speaks 1 s after the reply ended: what is stored of it stays."""
    async with talk([beginning(WORDS, 4)], ["Fine."]) as on:
        await on.session.say("Count.")
        await on.room.reached("reply")
        ended_s = await on.room.quiet(0.2)
        on.say("speech/sphinx_cards_002.wav", "four queen of clubs", at_s=ended_s + 1.0)
        await on.room.reached("reply", 2)
        await on.room.quiet(1.0)

        assert [beginning(WORDS, 4), "Fine."] == [reply.text for reply in on.replies]
        assert [False, False] == [reply.interrupted for reply in on.replies]
        assert beginning(WORDS, 4) == on.answers.seen[1][1]["content"]


async def test_b9_both_what_was_said_and_what_was_heard_are_kept(talk: Any) -> None:
    """Both texts are in the transcript and in the event; the model is given what was heard."""
    async with talk([WORDS], ["Fine."], fast=True) as on:
        await on.session.say("Count.")
        await cut_after(on, 2.0)
        await on.session.say("And then?")
        await on.room.reached("reply", 2)
        reply, sent = on.replies[0], on.answers.seen[1][1]
        told = await on.told("utterance", speaker="agent", interrupted=True)

        assert (beginning(WORDS, 5), WORDS) == (reply.text, reply.said)
        assert {"said": WORDS, "text": reply.text}.items() <= told[0].items()
        assert reply.text == sent["content"]


async def test_b10_that_a_turn_was_cut_is_no_text(talk: Any) -> None:
    """Ten cut turns: no "..." in anything that the model is given."""
    async with talk([WORDS], fast=True) as on:
        for number in range(1, 11):
            await on.session.say("Count.")
            await cut_after(on, 0.3 * number, number)
        await on.session.say("Count.")
        await on.room.reached("reply", 11)
        contents = [message["content"] for message in on.answers.seen[-1]]

        assert 21 == len(contents) + contents.count("")
        assert not [text for text in contents if re.search(r"\.\.|…|—|\[", text)]
        assert {WORDS.startswith(text) for text in contents if text != "Count."} == {True}


async def test_b11_sentences_generated_ahead_are_not_heard(talk: Any, long_reply: list[str]) -> None:
    """The whole reply was generated at once, and a part of the first sentence was heard: that is what is stored."""
    async with talk(long_reply, ["Fine."], fast=True) as on:
        await on.session.say("Tell me.")
        await cut_after(on, 1.6)
        assert long_reply == on.answers.given
        await on.session.say("And then?")
        await on.room.reached("reply", 2)

        assert beginning(long_reply[0], 4) == on.replies[0].text == on.answers.seen[1][1]["content"]
        assert " ".join(long_reply) == on.replies[0].said


async def test_b1_by_voice_is_as_by_the_key(talk: Any, long_reply: list[str]) -> None:
    """Somebody talks over the reply: what is stored are the words that were played."""
    async with talk(long_reply, ["Fine."], scene=Scene(echo=Echo(gain_db=-20.0, delay_s=0.1))) as on:
        await on.session.say("Tell me.")
        on.say("speech/sphinx_goforward.wav", "go forward ten meters", after=After("reply", 1, 2.0))
        await on.room.reached("reply", 2)
        generation = on.room.recording.mark("reply").generation

        assert abs(len(on.replies[0].text.split()) - played_s(on, generation) * WORDS_PER_S) <= 1.0
        assert " ".join(long_reply).startswith(on.replies[0].text)
