"""A turn that was taken to be over too early: who goes on with it is answered once, and it stands on record once."""

import math
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Any

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from discussion_helper.parts import Committed
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, SilentVoice
from discussion_helper.text.spoken import SpokenThread
from discussion_helper.text.threads.memory import MemoryThreads
from discussion_helper.types import Floor, Message, Policy, SpokenUtterance, Utterance

pytestmark = pytest.mark.anyio

END_S = 0.3
"""After so much silence the person's turn is taken to be over; half of it is a pause."""


class Person:
    """A listener that does what a test says: `begin`, then `end(text)` at the end of a turn, "" for a noise."""

    def __init__(self) -> None:
        self._reporter: Any = None
        self._turns: list[SpokenUtterance] = []
        self._news = anyio.Event()
        self._last: SpokenUtterance | None = None
        self._open: SpokenUtterance | None = None
        self._began_s = -math.inf
        self.speaking = False
        self.leaves = False

    def attach(self, reporter: Any) -> None:
        self._reporter = reporter

    def _tell(self) -> None:
        news, self._news = self._news, anyio.Event()
        news.set()

    # -- what the person does

    def begin(self) -> None:
        self._began_s, self.speaking = self._reporter.now(), True
        self._tell()

    def pause(self, text: str) -> None:
        whole = f"{self._open.text} {text}" if self._open is not None else text
        self._reporter.report("partial", speaker="user", text=whole, stable="", pause=whole)

    def end(self, text: str) -> None:
        self.read(self.over(text))

    def over(self, text: str) -> SpokenUtterance:
        """The end of a turn that has yet to be `read`."""
        before, self._open, self.speaking = self._open, None, False
        whole = f"{before.text} {text}" if before is not None and text else text
        began_s, ended_s = before.started_s if before else self._began_s, self._reporter.now() - END_S
        revises = before.text if before is not None and text else ""
        return SpokenUtterance("user", whole, began_s, ended_s, endpoint_s=END_S, decided=True, revises=revises)

    def read(self, turn: SpokenUtterance) -> None:
        self._turns.append(turn)
        self._tell()

    def leave(self) -> None:
        self.leaves = True
        self._tell()

    # -- the port

    async def utterances(self) -> AsyncIterator[Utterance]:
        while not (self.leaves and not self._turns):
            while self._turns:
                turn = self._turns.pop(0)
                self._last = turn if turn.text else self._last
                yield turn
            if not self.leaves:
                await self._news.wait()

    async def speech_started(self) -> None:
        while not self.speaking:
            await self._news.wait()

    async def resumed(self) -> None:
        while self._last is None or self._began_s <= self._last.ended_s:
            await self._news.wait()

    def reopen(self, *, within_s: float) -> bool:
        last = self._last
        if last is None or not self.speaking:
            return False
        if not last.ended_s < self._began_s <= last.ended_s + END_S + within_s:
            return False
        self._open = last
        return True

    async def aclose(self) -> None: ...


class Answers(EchoResponder):
    """Echoes; of those begun ahead of time `most` were open at once."""

    def __init__(self, sentences: int = 2, delay_s: float = 0.0) -> None:
        super().__init__(sentences, delay_s)
        self.open = self.most = 0

    async def speculate(self, messages: Sequence[Message], committed: Committed) -> AsyncIterator[str]:
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            async with aclosing(self.reply(messages)) as sentences:  # type: ignore[type-var]
                async for sentence in sentences:
                    yield sentence
        finally:
            self.open -= 1


async def begun(
    *, delay_s: float = 0.0, sentence_s: float = 1.0, sentences: int = 2, **policy: Any
) -> tuple[Session, Person, Answers, SpokenThread]:
    store = MemoryThreads()
    thread = SpokenThread(store, await store.create())
    person, answers = Person(), Answers(sentences, delay_s)
    voice = SilentVoice(sentence_s)
    session = Session(person, answers, voice, Policy(barge_in_grace_s=0.0, **policy), thread=thread).start()
    await anyio.sleep(0.1)
    return session, person, answers, thread


async def says(person: Person, text: str, *, for_s: float = 0.5) -> None:
    person.begin()
    await anyio.sleep(for_s)
    await anyio.sleep(END_S / 2)
    if text:
        person.pause(text)
    await anyio.sleep(END_S / 2)
    person.end(text)
    await anyio.lowlevel.checkpoint()


def told(session: Session) -> list[tuple[str, str, bool]]:
    return [(u.speaker, u.text, u.interrupted) for u in session.discussion.conversation.utterances]


WHOLE = [("user", "I want a pizza", False), ("agent", "I want a pizza I want a pizza (2)", False)]


@pytest.mark.parametrize("delay_s", [0.0, 0.6, 5.0])
async def test_who_goes_on_is_answered_once(delay_s: float) -> None:
    session, person, answers, thread = await begun(delay_s=delay_s)
    events = session.events("utterance")
    await says(person, "I want")
    await anyio.sleep(0.4)
    await says(person, "a pizza")
    await anyio.sleep(12.0)
    conversation = await session.stop()

    fragment = [("agent", "I want", True)] if delay_s == 0.0 and told(session)[0][0] == "agent" else []
    assert [*fragment, *WHOLE] == told(session)
    assert [u.text for u in conversation.utterances if u.speaker == "user"] == ["I want a pizza"]
    assert conversation.as_messages() == thread.messages()
    assert 1 == sum(message["role"] == "user" for message in answers.seen[-1])
    assert answers.most <= 1
    revised = [event.data for event in [e async for e in events] if "revises" in event.data]
    assert 1 == len(revised)
    assert {"speaker", "text", "started_s", "ended_s", "interrupted", "revises"} == set(revised[0])


@pytest.mark.parametrize("ahead", [False, True])
async def test_who_went_on_while_the_turn_was_read_hears_nothing_of_an_answer_to_its_beginning(ahead: bool) -> None:
    session, person, _, _ = await begun(delay_s=0.0)
    person.begin()
    await anyio.sleep(0.5 + END_S)
    beginning = person.over("I want")
    if ahead:
        person.pause("I want")
    await anyio.sleep(0.2)
    person.begin()
    await anyio.sleep(0.5)
    person.read(beginning)
    await anyio.sleep(0.5)
    assert [("user", "I want", False)] == told(session)
    person.end("a pizza")
    await anyio.sleep(4.0)
    await session.stop()
    assert told(session) == WHOLE


async def test_what_was_heard_of_the_reply_stays_before_it() -> None:
    session, person, _, thread = await begun(sentence_s=1.0)
    await says(person, "I want", for_s=0.2)
    await anyio.sleep(1.1)
    await says(person, "a pizza", for_s=0.2)
    await anyio.sleep(4.0)
    await session.stop()
    assert [("agent", "I want", True), *WHOLE] == told(session)
    assert thread.messages() == session.discussion.conversation.as_messages()
    stored = thread.thread.state.since(0)
    assert ["I want", "I want", "I want a pizza"] == [turn.text for turn in stored][:3]


@pytest.mark.parametrize("policy", [{"reopen_s": 0.0}, {"reopen_s": 0.5}])
async def test_later_than_that_it_is_another_turn(policy: dict[str, Any]) -> None:
    session, person, _, _ = await begun(**policy)
    await says(person, "I want")
    await anyio.sleep(0.9)
    await says(person, "a pizza")
    await anyio.sleep(4.0)
    await session.stop()
    assert ["I want", "a pizza"] == [text for who, text, _ in told(session) if who == "user"]


async def test_a_noise_while_the_reply_is_thought_of_loses_nothing() -> None:
    session, person, answers, _ = await begun(delay_s=1.0)
    await says(person, "Tell me.")
    person.begin()
    await anyio.sleep(0.3)
    assert Floor.LISTENING is session.floor
    person.end("")
    await anyio.sleep(6.0)
    await session.stop()
    assert [("user", "Tell me.", False), ("agent", "Tell me. Tell me. (2)", False)] == told(session)
    assert 1 == len(answers.seen)


async def test_a_voice_of_which_nothing_comes_keeps_nobody_waiting() -> None:
    session, person, answers, _ = await begun(delay_s=1.0)
    await says(person, "Tell me.")
    person.begin()
    await anyio.sleep(0.1)
    person.speaking = False
    async with session.events("floor") as floors:
        with anyio.fail_after(2.0):
            while (await anext(floors)).data["floor"] != "speaking":
                pass
    await session.stop()
    assert 1 == len(answers.seen)


async def test_the_end_of_listening_leaves_nobody_unanswered() -> None:
    session, person, _, _ = await begun(delay_s=1.0)
    await says(person, "Tell me.")
    person.begin()
    await anyio.sleep(0.1)
    person.speaking = False
    person.leave()
    await session.wait()
    assert [("user", "Tell me.", False), ("agent", "Tell me. Tell me. (2)", False)] == told(session)


async def test_typed_words_are_a_turn_of_their_own() -> None:
    session, person, _, thread = await begun(delay_s=1.0)
    await says(person, "I want")
    await anyio.sleep(0.1)
    await session.say("Hello?")
    await anyio.sleep(8.0)
    await session.stop()
    assert ["I want", "Hello?"] == [text for who, text, _ in told(session) if who == "user"]
    assert thread.messages() == session.discussion.conversation.as_messages()


async def test_three_pieces_are_one() -> None:
    session, person, answers, thread = await begun(delay_s=0.5)
    for piece in ("I want", "a big", "pizza"):
        await says(person, piece)
        await anyio.sleep(0.2)
    await anyio.sleep(6.0)
    await session.stop()
    assert ["I want a big pizza"] == [text for who, text, _ in told(session) if who == "user"]
    assert 1 == sum(not cut for who, _, cut in told(session) if who == "agent")
    assert thread.messages() == session.discussion.conversation.as_messages()
    assert "I want a big pizza" == answers.seen[-1][-1]["content"]


# -- whatever happens

ACTIONS = ["says", "says", "noise", "goes on", "interrupt", "type", "wait"]
steps = st.lists(st.tuples(st.sampled_from(ACTIONS), st.sampled_from([0.0, 0.1, 0.4, 1.0, 2.5])), max_size=10)


async def treated(todo: list[tuple[str, float]], delay_s: float, sentence_s: float) -> dict[str, Any]:
    session, person, answers, thread = await begun(delay_s=delay_s, sentence_s=sentence_s)
    events = session.events("*")
    words: list[str] = []
    for number, (action, wait_s) in enumerate(todo):
        match action:
            case "says" | "goes on":
                words.append(f"w{number}")
                await says(person, words[-1], for_s=0.2)
            case "noise":
                await says(person, "", for_s=0.2)
            case "interrupt":
                await session.interrupt()
            case "type":
                words.append(f"t{number}")
                await session.say(words[-1])
        await anyio.sleep(wait_s)
    await anyio.sleep(60.0)
    floor = session.floor
    conversation = await session.stop()
    return {
        "words": words,
        "conversation": conversation,
        "answers": answers,
        "voice": session.discussion.voice,
        "stored": thread.messages(),
        "floor": floor,
        "tally": session.discussion.speculation,
        "events": [event async for event in events],
    }


@settings(max_examples=25)
@example(todo=[("says", 0.4), ("goes on", 0.0), ("says", 0.1)], delay_s=0.0, sentence_s=1.0)
@example(todo=[("says", 0.1), ("noise", 0.0), ("type", 0.1), ("says", 0.0)], delay_s=1.0, sentence_s=1.0)
@given(todo=steps, delay_s=st.sampled_from([0.0, 0.3, 1.5]), sentence_s=st.sampled_from([0.2, 1.0, 3.0]))
def test_every_word_is_on_record_once_and_nothing_that_was_only_guessed_is_seen(
    run_virtually: Callable[..., Any], todo: list[tuple[str, float]], delay_s: float, sentence_s: float
) -> None:
    out = run_virtually(treated, todo, delay_s, sentence_s)
    conversation, answers = out["conversation"], out["answers"]
    users = [u.text for u in conversation.utterances if u.speaker == "user"]

    assert sorted(out["words"]) == sorted(" ".join(users).split())
    assert Floor.LISTENING is out["floor"]
    assert conversation.as_messages() == out["stored"]
    assert not answers.open
    assert answers.most <= 1
    # whoever spoke last was answered, or has interrupted the answer
    assert not conversation.utterances or "agent" == conversation.utterances[-1].speaker
    # what was said aloud, or told, was an answer to what stood on record then
    answers_due = [answer for text in _records(out["events"]) for answer in (text, f"{text} (2)")]
    assert all(any(answer.endswith(said) for answer in answers_due) for said in out["voice"].spoken)
    tally = out["tally"]
    assert tally.begun == tally.committed + tally.thrown_away
    shown = _shown(out["events"])
    assert shown == [(u.speaker, u.text) for u in conversation.utterances]


def _records(events: list[Any]) -> list[str]:
    return [e.data["text"] for e in events if e.kind == "utterance" and e.data["speaker"] == "user"]


def _shown(events: list[Any]) -> list[tuple[str, str]]:
    """What a page shows that follows the events alone."""
    shown: list[tuple[str, str]] = []
    for event in events:
        if event.kind == "utterance":
            gone = set(event.data.get("revises", ()))
            shown = [entry for at, entry in enumerate(shown) if at not in gone]
            shown.append((event.data["speaker"], event.data["text"]))
    return shown
