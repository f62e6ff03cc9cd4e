"""Answering ahead of time: begun in the pause, kept if that was the end, thrown away without a trace if not."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any

import anyio
import pytest

from discussion_helper.clock import now
from discussion_helper.generation import Generation
from discussion_helper.parts import Committed
from discussion_helper.session import Session
from discussion_helper.speculation import Speculation, Tally
from discussion_helper.testing import EchoResponder, SilentVoice
from discussion_helper.types import Message, Policy, SpokenUtterance, Utterance

pytestmark = pytest.mark.anyio


class Hears:
    """A listener that reads pauses: `(pauses, turn)`. `pause_s` is waited before each."""

    def __init__(self, *turns: tuple[Sequence[str], str], pause_s: float = 0.3) -> None:
        self._turns = turns
        self._pause_s = pause_s
        self.reporter: Any = None

    def attach(self, reporter: Any) -> None:
        self.reporter = reporter

    async def utterances(self) -> AsyncIterator[Utterance]:
        for pauses, text in self._turns:
            for pause in pauses:
                await anyio.sleep(self._pause_s)
                self.reporter.report("partial", speaker="user", text=pause, stable="", pause=pause)
            await anyio.sleep(self._pause_s)
            yield SpokenUtterance("user", text, ended_s=self.reporter.now(), endpoint_s=self._pause_s)

    async def speech_started(self) -> None:
        await anyio.sleep_forever()

    async def aclose(self) -> None: ...


class Guesses(EchoResponder):
    """Takes `delay_s` for each sentence. `asked`: the last message of each request; `most`: requests open at once.

    With `tool` it calls one at the end; `calls` are those.
    """

    def __init__(self, sentences: int = 1, delay_s: float = 0.1, *, closes_s: float = 0.0, tool: bool = False) -> None:
        super().__init__(sentences, delay_s)
        self._closes_s, self._tool = closes_s, tool
        self.asked: list[str] = []
        self.calls: list[str] = []
        self.open = self.most = self.closed_early = 0

    async def speculate(self, messages: Sequence[Message], committed: Committed) -> AsyncIterator[str]:
        self.asked.append(messages[-1]["content"])
        self.open += 1
        self.most = max(self.most, self.open)
        ended = False
        try:
            async with aclosing(self.reply(messages)) as sentences:  # type: ignore[type-var]
                async for sentence in sentences:
                    yield sentence
            if self._tool:
                await committed.wait()
                self.calls.append(messages[-1]["content"])
            ended = True
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(self._closes_s)
            self.open -= 1
            self.closed_early += not ended


class Prepares(SilentVoice):
    """Needs `synthesis_s` for a sentence that was not prepared."""

    def __init__(self, synthesis_s: float = 0.2) -> None:
        super().__init__()
        self._synthesis_s = synthesis_s
        self.prepared: list[str] = []

    async def prepare(self, sentence: str) -> None:
        await anyio.sleep(self._synthesis_s)
        self.prepared.append(sentence)

    async def speak(self, sentence: str) -> Any:
        if sentence not in self.prepared:
            await anyio.sleep(self._synthesis_s)
        return await super().speak(sentence)


class Mute(SilentVoice):
    """Says everything without a sound."""

    async def audible(self) -> None:
        await anyio.sleep_forever()


class MutePrepares(Mute):
    """The same, made ready before."""

    async def prepare(self, sentence: str) -> None: ...


async def held(session: Session) -> list[str]:
    return [utterance.text for utterance in (await session.start().wait()).utterances]


async def test_the_reply_is_begun_in_the_pause_and_speaks_at_once_when_that_was_the_end() -> None:
    responder, voice = Guesses(), Prepares()
    session = Session(Hears((["Good day."], "Good day."), pause_s=0.4), responder, voice)

    assert ["Good day.", "Good day."] == await held(session)
    assert (["Good day."], ["Good day."]) == (responder.asked, voice.prepared)
    timing = session.discussion.conversation.timings[0]
    assert (0.0, 0.0, True) == (timing.think_s, timing.speak_s, timing.ahead)
    assert timing.as_dict()["ahead"] is True
    told = session.state["speculation"]
    assert {"on": True, "begun": 1, "committed": 1, "thrown_away": 0} == {name: told[name] for name in list(told)[:4]}
    assert (0.1, 0.2, 0.0, 1.0) == tuple(told[name] for name in ("generated_s", "synthesised_s", "wasted_s", "share"))


class Counts(EchoResponder):
    """Gives these at once; `given` says when each was asked for."""

    def __init__(self, *sentences: str) -> None:
        super().__init__()
        self._given = sentences
        self.given: list[float] = []

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        for sentence in self._given:
            self.given.append(now())
            yield sentence

    def speculate(self, messages: Sequence[Message], committed: Committed) -> AsyncIterator[str]:
        return self.reply(messages)


LONG_ONE = "This is a sentence of some length."


@pytest.mark.parametrize(
    ("first", "after_s"), [(LONG_ONE, 0.5), ("Just twenty letters.", 0.5), ("Only nineteen here.", 0.0), ("Yes.", 0.0)]
)
async def test_while_a_long_first_sentence_is_made_ready_the_model_rests(first: str, after_s: float) -> None:
    responder, voice = Counts(first, LONG_ONE, LONG_ONE), Prepares(0.5)
    session = Session(Hears((["Go on."], "Go on."), pause_s=2.0), responder, voice)

    await held(session)

    one, two, three = responder.given
    assert two - one == pytest.approx(after_s, abs=0.01)
    assert three - one >= 2.0  # not ahead of time


@pytest.mark.parametrize(("pauses", "after_s"), [([], 0.5), (["Go on."], 0.6)])
async def test_the_model_rests_until_the_first_sentence_is_heard(pauses: list[str], after_s: float) -> None:
    """Also where it was not begun in time, and where the turn ends before the sentence is ready."""
    responder, voice = Counts(LONG_ONE, LONG_ONE), Prepares(0.5)
    session = Session(Hears((pauses, "Go on."), pause_s=0.1), responder, voice)

    await held(session)

    spoken = session.discussion.conversation.timings[0]
    assert responder.given[1] - responder.given[0] == pytest.approx(after_s, abs=0.01)
    assert spoken.speak_s == pytest.approx(0.5, abs=0.01)


async def test_beside_a_voice_that_makes_nothing_ready_the_model_does_not_rest() -> None:
    responder = Counts(LONG_ONE, LONG_ONE)
    session = Session(Hears(([], "Go on.")), responder, Mute())

    await held(session)

    assert responder.given[1] == responder.given[0]


async def test_a_first_sentence_of_which_nothing_is_heard_keeps_none_of_the_others() -> None:
    responder, voice = Counts(LONG_ONE, LONG_ONE), MutePrepares()
    with anyio.fail_after(60.0):
        said = await held(Session(Hears(([], "Go on.")), responder, voice))

    assert said == ["Go on.", f"{LONG_ONE} {LONG_ONE}"]


async def test_of_what_proves_wrong_nothing_is_left() -> None:
    responder, voice = Guesses(2), Prepares()
    session = Session(Hears((["I want", "I want a"], "I want a pizza.")), responder, voice)
    events = session.events("*")

    assert ["I want a pizza.", "I want a pizza. I want a pizza. (2)"] == await held(session)
    assert ["I want", "I want a"] == responder.asked
    assert (1, 2, 0) == (responder.most, responder.closed_early, responder.open)
    assert [] == responder.calls
    assert all("I want a pizza." in text for text in voice.spoken)
    told = [event.data async for event in events if event.kind == "partial" and event.data["speaker"] == "agent"]
    assert ["I want a pizza.", "I want a pizza. (2)"] == [data["text"] for data in told]
    tally = session.discussion.speculation
    assert (2, 0, 2) == (tally.begun, tally.committed, tally.thrown_away)
    assert tally.wasted_s == pytest.approx(tally.generated_s + tally.synthesised_s)
    assert tally.wasted_s > 0.4


@pytest.mark.parametrize(("said", "calls"), [("What time is it?", ["What time is it?"]), ("What?", [])])
async def test_a_tool_waits_for_the_commit(said: str, calls: list[str]) -> None:
    responder = Guesses(tool=True)
    session = Session(Hears((["What time is it?"], said), pause_s=1.0), responder, SilentVoice()).start()
    await anyio.sleep(1.9)
    assert (["What time is it?"], []) == (responder.asked, responder.calls)
    await session.wait()
    assert calls == responder.calls


async def test_two_clauses_wait_at_most_until_it_is_certain() -> None:
    responder = Guesses(9, 0.01)
    session = Session(Hears((["Tell me.", "Tell me."], "Tell me."), pause_s=1.0), responder, SilentVoice())
    session.start()
    await anyio.sleep(1.9)
    waiting = session.discussion._replies._speculation._guess
    assert waiting is not None
    assert waiting.generation is not None
    assert 2 == len(waiting.generation.ahead)
    await session.wait()
    assert 9 == len(session.discussion.voice.spoken)  # type: ignore[attr-defined]
    assert 1 == session.discussion.speculation.begun


async def test_the_next_waits_until_the_request_of_the_last_is_closed() -> None:
    responder = Guesses(closes_s=0.2)
    session = Session(
        Hears((["One", "One two", "One two three"], "One two three."), pause_s=0.15), responder, Prepares()
    )

    assert ["One two three.", "One two three."] == await held(session)
    assert 1 == responder.most


@pytest.mark.parametrize("how", ["policy", "at run time", "responder"])
async def test_it_can_be_turned_off(how: str) -> None:
    responder = EchoResponder() if how == "responder" else Guesses()
    policy = Policy(speculate=how != "policy")
    session = Session(Hears((["Good day."], "Good day.")), responder, SilentVoice(), policy)
    if how == "at run time":
        session.discussion.speculation.on = False

    assert ["Good day.", "Good day."] == await held(session)
    assert 0 == session.discussion.speculation.begun
    assert [] == getattr(responder, "asked", [])
    assert "ahead" not in session.state["timings"][0]


async def test_a_guess_that_fails_is_asked_again() -> None:
    class Fails(Guesses):
        async def speculate(self, messages: Sequence[Message], committed: Committed) -> AsyncIterator[str]:
            self.asked.append(messages[-1]["content"])
            raise ValueError("the server is busy")
            yield ""

    responder = Fails()
    session = Session(Hears((["Good day."], "Good day.")), responder, SilentVoice())
    assert ["Good day.", "Good day."] == await held(session)
    assert (["Good day."], 1) == (responder.asked, len(responder.seen))
    assert (1, 0, 1) == (
        session.discussion.speculation.begun,
        session.discussion.speculation.committed,
        session.discussion.speculation.thrown_away,
    )


@pytest.mark.parametrize("gives", [ValueError("no"), SystemExit(3), None])
async def test_one_who_refuses_at_once_is_asked_in_earnest(gives: BaseException | None) -> None:
    class Refuses(EchoResponder):
        def speculate(self, messages: Sequence[Message], committed: Committed) -> Any:
            if gives is not None:
                raise gives

    session = Session(Hears((["Good day."], "Good day.")), Refuses(), SilentVoice())
    assert ["Good day.", "Good day."] == await held(session)
    assert 0 == session.discussion.speculation.committed


async def test_a_voice_that_never_gets_ready_leaves_nothing_behind() -> None:
    class Hangs(SilentVoice):
        preparing = most = 0

        async def prepare(self, sentence: str) -> None:
            if sentence in self.spoken:
                return
            self.preparing += 1
            self.most = max(self.most, self.preparing)
            try:
                await anyio.sleep_forever()
            finally:
                self.preparing -= 1

    voice, turns = Hangs(), [([text], text) for text in ("One.", "Two.", "Three.")]
    session = Session(Hears(*turns), Guesses(), voice)
    assert ["One.", "One.", "Two.", "Two.", "Three.", "Three."] == await held(session)
    assert (0, 1, 3) == (voice.preparing, voice.most, session.discussion.speculation.committed)


async def test_an_announcement_or_typed_words_throw_it_away_without_a_sound() -> None:
    responder, voice = Guesses(), Prepares()
    listener = Hears((["Good day."], "Good day."), pause_s=1.0)
    session = Session(listener, responder, voice).start()
    await anyio.sleep(1.5)
    await session.speak("Listen.")
    await session.say("Hello?")
    await session.wait()
    assert ["Listen.", "Hello?", "Good day."] == voice.spoken
    assert (1, 0, 1) == (
        session.discussion.speculation.begun,
        session.discussion.speculation.committed,
        session.discussion.speculation.thrown_away,
    )


@pytest.mark.parametrize("at_s", [0.31, 0.35, 0.45, 0.58])
async def test_the_end_closes_it(at_s: float) -> None:
    responder = Guesses(9)
    session = Session(Hears((["Good day"], "Good day.")), responder, Prepares()).start()
    await anyio.sleep(at_s)
    with anyio.fail_after(1):
        await session.stop()
    assert (["Good day"], 0, 1) == (responder.asked, responder.open, responder.closed_early)


async def test_words_of_a_turn_that_goes_on_begin_nothing() -> None:
    class Reads(Hears):
        async def utterances(self) -> AsyncIterator[Utterance]:
            self.reporter.report("partial", speaker="user", text="Good", stable="")
            await anyio.sleep(0.5)
            yield Utterance("user", "Good day.")

    responder = Guesses()
    await held(Session(Reads(), responder, SilentVoice()))
    assert [] == responder.asked


@pytest.mark.parametrize("again", range(5))
async def test_what_is_thrown_away_as_the_last_one_closes_is_not_left_open(again: int) -> None:
    """Whoever waits for the last one to close, and is cancelled as it does, has not noticed yet; not always on trio."""
    responder = Guesses(9, 1.0)
    async with anyio.create_task_group() as tasks:
        begun: list[Generation] = []

        def generate(generation: Generation) -> None:
            begun.append(generation)
            tasks.start_soon(generation.run)

        speculation = Speculation(responder, SilentVoice(), Tally(), generate=generate)
        speculation.begin([{"role": "user", "content": "One"}])
        await anyio.sleep(0.1)

        async def stop() -> None:
            await begun[0].closed.wait()
            await speculation.stop()

        tasks.start_soon(stop)
        await anyio.sleep(0.1)
        speculation.begin([{"role": "user", "content": "Two"}])
        await anyio.sleep(0.4)
        assert 0 == responder.open
        tasks.cancel_scope.cancel()
