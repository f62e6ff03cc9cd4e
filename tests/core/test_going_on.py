""" "Go on": the rest of a reply that was cut is read, and the model is not asked."""

from collections.abc import AsyncIterator, Sequence
from itertools import pairwise
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discussion_helper.going_on import LONGEST_TURN, asks_to_go_on, languages, rest_of
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.types import Message, Policy, Utterance

pytestmark = pytest.mark.anyio

TEXT = ["One two three four.", "Five six.", "Seven eight nine."]


class Tells(EchoResponder):
    """Tells TEXT, each sentence after `delay_s`; then echoes."""

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        if self.seen:
            async for sentence in super().reply(messages):
                yield sentence
            return
        self.seen.append(list(messages))
        for sentence in TEXT:
            await anyio.sleep(self._delay_s)
            yield sentence

    async def anticipate(self, messages: Sequence[Message]) -> None:
        self.anticipated = [*getattr(self, "anticipated", []), list(messages)]


class Interrupts(ScriptedListener):
    """Cuts in after so long in each of the first replies, and then says `turns`."""

    def __init__(self, turns: Sequence[str], *cuts_s: float) -> None:
        super().__init__(turns)
        self._cuts_s = list(cuts_s)

    async def speech_started(self) -> None:
        if not self._cuts_s:
            await anyio.sleep_forever()
        await anyio.sleep(self._cuts_s.pop(0))


def session_of(turns: Sequence[str], *cuts_s: float, delay_s: float = 0.0, **options: Any) -> Session:
    policy = Policy(barge_in_grace_s=0.0)
    return Session(Interrupts(turns, *cuts_s), Tells(delay_s=delay_s), SilentVoice(1.0), policy, **options)


async def replies_of(session: Session) -> list[Utterance]:
    conversation = await session.start().wait()
    return [each for each in conversation.utterances if each.speaker == "agent"]


@pytest.mark.parametrize("cut_s", [0.0, 0.3, 0.5, 1.0, 1.6, 2.9])
@pytest.mark.parametrize("delay_s", [0.0, 0.7])
async def test_after_go_on_the_rest_is_read_no_word_twice_and_the_model_is_not_asked(
    cut_s: float, delay_s: float
) -> None:
    session = session_of(["Tell me.", "Go on, please."], cut_s, delay_s=delay_s)
    cut, rest = await replies_of(session)

    assert (True, False) == (cut.interrupted, rest.interrupted)
    assert " ".join(TEXT) == f"{cut.text} {rest.text}".strip()
    assert rest.text.startswith(cut.unheard)
    assert 1 == len(session.discussion.responder.seen)  # type: ignore[attr-defined]
    assert "Go on, please." == session.discussion.conversation.last_user_text
    assert all(value >= 0 for timing in session.discussion.conversation.timings for value in (timing.think_s,))


async def test_a_rest_that_is_cut_again_goes_on_again() -> None:
    session = session_of(["Tell me.", "Go on.", "Weiter!", "continue", "And then?"], 0.3, 0.6, 1.2)
    replies = await replies_of(session)

    assert " ".join(TEXT) == " ".join(each.text for each in replies[:4])
    assert ["One", "two", "three four."] == [each.text for each in replies[:3]]
    assert all(before.unheard.endswith(after.unheard) for before, after in pairwise(replies[:4]))
    assert 2 == len(session.discussion.responder.seen)  # type: ignore[attr-defined]


async def test_what_the_button_cut_goes_on_too_also_when_it_is_typed() -> None:
    session = session_of(["Tell me."])
    session.discussion.listener._stays_open = True  # type: ignore[attr-defined]
    async with session.events("utterance", "decision") as events:
        session.start()
        await anyio.sleep(1.6)
        assert await session.interrupt()
        await session.say("continue")
        await anyio.sleep(3.0)
        await session.stop()
        told = [event.data.get("text") or event.data["why"] async for event in events if event.kind != "gap"]

    rest = "six. Seven eight nine."
    assert ["Tell me.", "One two three four. Five", "continue", "the user asked to go on", rest] == told


async def test_an_announcement_goes_on_and_not_the_reply_that_was_cut_before_it() -> None:
    session = session_of(["Tell me."], 0.3)
    session.discussion.listener._stays_open = True  # type: ignore[attr-defined]
    session.start()
    await anyio.sleep(0.5)
    await session.speak("Ten eleven twelve thirteen.")
    await anyio.sleep(0.5)
    assert await session.interrupt()
    await session.say("Go on")
    await anyio.sleep(2.0)
    conversation = await session.stop()

    assert ["Ten eleven", "twelve thirteen."] == [
        each.text for each in conversation.utterances if each.speaker == "agent"
    ][1:]


async def test_a_reply_that_nobody_cut_does_not_go_on() -> None:
    session = session_of(["Tell me.", "Go on."])
    _, answer = await replies_of(session)

    assert "Go on." == answer.text


async def test_a_cut_and_another_question_ask_the_model_which_is_told() -> None:
    session = session_of(["Tell me.", "Go on about Rome."], 1.6)
    await replies_of(session)
    seen: list[list[Message]] = session.discussion.responder.seen  # type: ignore[attr-defined]

    cut = {"role": "assistant", "content": "One two three four. Five", "interrupted": True}
    assert {**cut, "unheard": "six. Seven eight nine."} == seen[1][1]


class Announces(Interrupts):
    """Tells of what it hears before the turn."""

    def attach(self, reporter: Any) -> None:
        super().attach(reporter)
        self._says = reporter

    async def utterances(self) -> AsyncIterator[Utterance]:
        async for turn in super().utterances():
            self._says.report("partial", speaker="user", text=turn.text)
            await anyio.sleep(0.1)
            yield turn


@pytest.mark.parametrize("cuts_s", [(), (0.3,), (1.6,)])
async def test_what_is_anticipated_is_what_is_asked_after_a_cut_too(cuts_s: tuple[float, ...]) -> None:
    responder = Tells()
    listener = Announces(["Tell me.", "What else?"], *cuts_s)
    await Session(listener, responder, SilentVoice(1.0), Policy(barge_in_grace_s=0.0)).start().wait()

    assert responder.seen == responder.anticipated
    assert bool(cuts_s) == bool(responder.seen[1][1].get("unheard"))


async def test_a_model_does_not_get_ready_for_go_on() -> None:
    responder = Tells()
    listener = Announces(["Tell me.", "Go on."], 0.3)
    await Session(listener, responder, SilentVoice(1.0), Policy(barge_in_grace_s=0.0)).start().wait()

    assert 1 == len(responder.seen) == len(responder.anticipated)


# -- the phrases


@pytest.mark.parametrize("language", sorted(languages()))
def test_each_language_has_phrases_and_courtesies_alone_are_none(language: str) -> None:
    lists = languages()[language]

    assert 3 <= len(set(lists["go_on"]))
    assert all(map(asks_to_go_on, lists["go_on"]))
    assert [] == [phrase for phrase in lists["beside"] if asks_to_go_on(phrase)]
    assert asks_to_go_on(f"{lists['beside'][0]}, {lists['go_on'][0]}!")


@pytest.mark.parametrize(
    "text",
    [
        "Go on.",
        "GO ON",
        "Yes, please go on.",
        "Okay... continue?",
        "Ja, mach bitte weiter!",
        "继续说吧。",
        "続けてください。",
        "أكمل من فضلك",
        "Can you continue, please?",
    ],
)
def test_a_turn_of_nothing_else_asks_to_go_on(text: str) -> None:
    assert asks_to_go_on(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "...",
        "Please.",
        "Go on about Rome.",
        "How does it go on?",
        "Don't go on.",
        "Stop.",
        "Weiter nach Rom?",
        "go",
        "go on " * LONGEST_TURN,
    ],
)
def test_every_other_turn_is_a_question(text: str) -> None:
    assert not asks_to_go_on(text)


@given(st.text())
def test_any_text_is_one_or_the_other(text: str) -> None:
    assert asks_to_go_on(text) in (True, False)


def test_only_the_agents_newest_turn_has_a_rest() -> None:
    cut: Message = {"role": "assistant", "content": "It", "interrupted": True, "unheard": "is."}
    assert "is." == rest_of([{"role": "user", "content": "Well?"}, cut])
    assert "is." == rest_of([cut, {"role": "user", "content": "Stop."}])
    assert "" == rest_of([cut, {"role": "user", "content": "Well?"}, {"role": "assistant", "content": "It is."}])
    assert "" == rest_of([{"role": "assistant", "content": "It", "interrupted": True}])
    assert "" == rest_of([])
