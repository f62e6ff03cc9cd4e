"""E3: one sentence with a pause in it is one turn, with one answer, however early the pause was taken for its end."""

import itertools
from typing import Any

import pytest

from discussion_helper.text.spoken import SpokenThread
from discussion_helper.text.threads.memory import MemoryThreads
from discussion_helper.types import Policy

pytestmark = pytest.mark.anyio

FIRST, FIRST_S = "speech/sphinx_cards_004.wav", 1.22
"""A recording, and where its last voice is in it."""
SECOND, SECOND_S = "speech/praatio_bobby.wav", 0.02
"""Another, and where its first voice is."""
AT_S = 0.5
ANSWER = ["That will be one pizza then, with cheese and tomatoes.", "It takes twenty minutes."]


WANT, PIZZA = "I want", "a pizza"
HUNGRY, PLEASE = "I am hungry.", "Give me a pizza."
"""The first of them sounds as if it were all."""


def _cases() -> list[Any]:
    """Texts, pause, delay of the responder, whether it may be asked ahead of time; three of them stand for all."""
    quick = [(HUNGRY, PLEASE, 0.7, 0.0, True), (HUNGRY, PLEASE, 1.5, 2.0, True), (WANT, PIZZA, 1.5, 0.0, False)]
    shapes = itertools.product(((WANT, PIZZA), (HUNGRY, PLEASE)), (0.7, 1.5), (0.0, 2.0), (False, True))
    cases = [(*texts, pause_s, delay_s, ahead) for texts, pause_s, delay_s, ahead in shapes]
    return [pytest.param(*case, marks=() if case in quick else pytest.mark.slow) for case in cases]


@pytest.mark.parametrize(("first", "second", "pause_s", "delay_s", "ahead"), _cases())
async def test_e3_a_sentence_with_a_pause_is_answered_once(
    talk: Any, first: str, second: str, pause_s: float, delay_s: float, ahead: bool
) -> None:
    store, whole = MemoryThreads(), f"{first} {second}"
    thread = SpokenThread(store, await store.create())
    async with talk(["What do you want to have?"], ANSWER, ahead=ahead, delay_s=delay_s, thread=thread) as on:
        on.say(FIRST, first, at_s=AT_S)
        on.say(SECOND, second, at_s=AT_S + FIRST_S + pause_s - SECOND_S)
        await on.room.until(lambda: any(not reply.interrupted for reply in on.replies))
        await on.room.quiet(1.0)
        told = await on.told("utterance", speaker="user")

        assert [whole] == [turn.text for turn in on.said if turn.speaker == "user"]
        assert [False] == [reply.interrupted for reply in on.replies if reply.text][-1:]
        assert all(reply.text for reply in on.replies)
        assert 1 == sum(not reply.interrupted for reply in on.replies)
        assert [whole] == [message["content"] for message in on.answers.seen[-1] if message["role"] == "user"]
        assert on.session.discussion.conversation.as_messages() == thread.messages()
        assert 0 == on.room.recording.dead_samples
        assert whole == told[-1]["text"]
        assert first == WANT or [first, whole] == [data["text"] for data in told]
        assert len(told) == 1 or 0 in told[1]["revises"]


async def one_turn_each(on: Any, *texts: str) -> None:
    await on.room.quiet(2.0)
    assert list(texts) == [turn.text for turn in on.said if turn.speaker == "user"]
    assert 0 == on.room.recording.dead_samples


@pytest.mark.parametrize(
    ("second", "text", "reopen_s"),
    [
        pytest.param(SECOND, "stop", 1.2, id="stop"),
        pytest.param("backchannel/mfa_uhum.flac", "mm-hm", 1.2, id="a response"),
        pytest.param("noise/sonicpi_misc_burp.flac", "", 1.2, id="a noise"),
        pytest.param(SECOND, "a pizza", 0.0, id="never"),
    ],
)
async def test_what_does_not_go_on_with_the_turn_leaves_it_as_it_was(
    talk: Any, second: str, text: str, reopen_s: float
) -> None:
    """Over the reply that begins at once: "stop" stops it and is a turn, the rest is none, or a new one."""
    async with talk(ANSWER, ["Fine."], policy=Policy(reopen_s=reopen_s)) as on:
        on.say(FIRST, HUNGRY, at_s=AT_S)
        on.say(second, text, at_s=AT_S + FIRST_S + 1.2)
        await on.room.reached("reply")
        await one_turn_each(on, HUNGRY, *([text] if second == SECOND else []))
        assert [] == [data for data in await on.told("utterance") if "revises" in data]
        if text in ("", "mm-hm"):
            assert [" ".join(ANSWER)] == [reply.text for reply in on.replies]


async def test_a_cough_while_the_reply_is_thought_of_keeps_the_reply(talk: Any) -> None:
    async with talk(ANSWER, ["Something else."], delay_s=1.5, ahead=True) as on:
        on.say(FIRST, HUNGRY, at_s=AT_S)
        on.say("noise/sonicpi_misc_burp.flac", at_s=AT_S + FIRST_S + 0.9)
        await on.room.reached("reply")
        await one_turn_each(on, HUNGRY)
        assert [" ".join(ANSWER)] == [reply.text for reply in on.replies]
        assert 1 == len(on.answers.seen)


async def test_after_a_cough_while_the_reply_is_thought_of_the_next_turn_is_one_of_its_own(talk: Any) -> None:
    async with talk(["Well then."], ["Something else."], delay_s=2.5) as on:
        on.say(FIRST, HUNGRY, at_s=AT_S)
        on.say("noise/sonicpi_misc_burp.flac", at_s=AT_S + FIRST_S + 0.9)
        assert (await on.room.reached("reply")).at_s < AT_S + FIRST_S + 4.2
        on.say(SECOND, PLEASE, at_s=await on.room.quiet(2.0) + 2.5)
        await on.room.reached("reply", 2)
        await one_turn_each(on, HUNGRY, PLEASE)
