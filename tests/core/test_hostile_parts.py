"""Parts that break their contract: the session says so, ends or goes on, and nothing hangs."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from typing import Any

import anyio
import pytest

from discussion_helper.background import CancelledWithin
from discussion_helper.events import Event
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.types import Floor, Message, Policy, SpokenSentence, Utterance

pytestmark = pytest.mark.anyio

Behaviour = Callable[[], Awaitable[Any]]
Does = Mapping[str, Behaviour]


class Parts:
    """All three parts in one object with the bare ports. `behave` replaces what a method does."""

    def __init__(self, *turns: str, seconds: float = 1.0, sentences: int = 2, behave: Does | None = None) -> None:
        self.turns = turns
        self.seconds = seconds
        self.sentences = sentences
        self.behave = behave or {}
        self.silent = anyio.Event()
        self.spoken: list[str] = []
        self.stops = 0
        self.closes = 0

    async def _does(self, method: str) -> bool:
        if method not in self.behave:
            return False
        await self.behave[method]()
        return True

    async def utterances(self) -> AsyncIterator[Utterance]:
        for turn in self.turns:
            yield Utterance("user", turn)
        await self._does("utterances")

    async def speech_started(self) -> None:
        if not await self._does("speech_started"):
            await anyio.sleep_forever()

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        for number in range(self.sentences):
            yield f"{messages[-1]['content']} {number}"
        await self._does("reply")

    async def speak(self, sentence: str) -> SpokenSentence:
        self.spoken.append(sentence)
        self.silent = anyio.Event()
        with anyio.move_on_after(self.seconds):
            await self.silent.wait()
            await self._does("speak_when_stopped")
            return SpokenSentence(sentence, cut=True, heard="")
        await self._does("speak")
        return SpokenSentence(sentence, played_s=self.seconds)

    async def stop(self) -> None:
        self.stops += 1
        self.silent.set()
        await self._does("stop")

    async def aclose(self) -> None:
        self.closes += 1
        await self._does("aclose")


def session_of(parts: Any, **policy: Any) -> Session:
    return Session(parts, parts, parts, Policy(**policy))


async def until_floor(session: Session, floor: Floor) -> None:
    async with session.events("floor") as events:
        while session.floor is not floor:
            await anext(events)


async def ended(session: Session) -> Event:
    return await anext(session.events("ended"))


def agent_turns(session: Session) -> list[tuple[str, bool]]:
    return [(u.text, u.interrupted) for u in session.discussion.conversation.utterances if u.speaker == "agent"]


def raising(error: BaseException) -> Behaviour:
    async def behave() -> None:
        raise error

    return behave


def taking(seconds: float) -> Behaviour:
    return lambda: anyio.sleep(seconds)


async def stubborn() -> None:
    """Never ends, whoever cancels it, for five seconds."""
    until = anyio.current_time() + 5.0
    while anyio.current_time() < until:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.5)


# -- cancellations that are nobody's


@pytest.mark.parametrize("method", ["utterances", "speech_started", "reply", "speak"])
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_cancellation_that_a_part_lets_out_is_its_failure_and_not_the_callers_end(method: str) -> None:
    session = session_of(Parts("hi", seconds=0.01, behave={method: raising(asyncio.CancelledError())})).start()
    with pytest.raises(CancelledWithin):
        await session.wait()

    assert "failed" == (await ended(session)).data["reason"]
    assert "cancelled from within" in (await ended(session)).data["error"]


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_voice_that_ends_by_a_cancellation_when_stopped_was_cut() -> None:
    """As one does that plays in a task and cancels that."""
    parts = Parts("one", "two", behave={"speak_when_stopped": raising(asyncio.CancelledError())})
    session = session_of(parts).start()
    await until_floor(session, Floor.SPEAKING)
    await anyio.sleep(0.1)

    assert await session.interrupt() is True
    await session.wait()
    assert [True, False] == [cut for _, cut in agent_turns(session)]
    assert "finished" == session.discussion.reason


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_listener_that_answers_a_cancellation_with_another_one_is_only_cancelled() -> None:
    async def behave() -> None:
        try:
            await anyio.sleep_forever()
        except asyncio.CancelledError:
            raise asyncio.CancelledError from None

    session = session_of(Parts("one", "two", seconds=0.01, behave={"speech_started": behave})).start()
    await session.wait()

    assert 2 == len(agent_turns(session))


@pytest.mark.parametrize("method", ["aclose", "stop"])
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_cancellation_out_of_closing_is_reported(method: str) -> None:
    session = session_of(Parts("one", seconds=0.01, behave={method: raising(asyncio.CancelledError())})).start()
    await session.wait()
    event = await ended(session)

    assert "finished" == event.data["reason"]
    assert "was cancelled from within" in event.data["error"]


# -- failures


@pytest.mark.parametrize("method", ["utterances", "speech_started", "reply", "speak"])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit, OSError, StopAsyncIteration])
async def test_whatever_a_part_raises_ends_the_session_with_it(method: str, kind: type[BaseException]) -> None:
    parts = Parts("hi", seconds=0.01, behave={method: raising(kind("the reason"))})
    session = session_of(parts).start()
    with pytest.raises(RuntimeError if kind is StopAsyncIteration and method in ("utterances", "reply") else kind):
        await session.wait()

    assert ("failed", 1) == ((await ended(session)).data["reason"], parts.closes)
    assert Floor.IDLE is session.floor
    if kind is OSError:
        assert "the reason" == (await ended(session)).data["error"]


async def test_the_first_of_two_failures_is_raised_and_both_are_told() -> None:
    class Two(Parts):
        async def speech_started(self) -> None:
            try:
                await anyio.sleep_forever()
            finally:
                raise ValueError("the microphone broke")

    session = session_of(Two("hi", seconds=0.01, behave={"speak": raising(OSError("the loudspeaker is gone"))})).start()
    with pytest.raises(OSError, match="the loudspeaker is gone"):
        await session.wait()

    assert "the loudspeaker is gone; the microphone broke" == (await ended(session)).data["error"]


async def test_a_failure_that_cannot_say_what_it_is_is_told_by_its_name() -> None:
    class Unspeakable(Exception):
        def __str__(self) -> str:
            raise ZeroDivisionError

    session = session_of(Parts("hi", seconds=0.01, behave={"speak": raising(Unspeakable())})).start()
    with pytest.raises(Unspeakable):
        await session.wait()

    assert "Unspeakable" == (await ended(session)).data["error"]


@pytest.mark.parametrize("method", ["attach", "utterances", "reply"])
async def test_a_part_that_fails_at_the_call_ends_the_session(method: str) -> None:
    def fail(*args: object) -> None:
        raise OSError("not here")

    parts = Parts("hi")
    setattr(parts, method, fail)
    session = session_of(parts).start()
    with pytest.raises(OSError, match="not here"):
        await session.wait()

    assert {"reason": "failed", "error": "not here"} == (await ended(session)).data


@pytest.mark.parametrize("broken", ["stop", "speak_when_stopped"])
@pytest.mark.parametrize("how", ["interrupt", "stop"])
async def test_a_voice_that_fails_when_stopped_ends_the_session_or_is_told(broken: str, how: str) -> None:
    session = session_of(Parts("one", "two", behave={broken: raising(OSError("it cannot"))})).start()
    await until_floor(session, Floor.SPEAKING)
    await anyio.sleep(0.1)
    if how == "interrupt":
        assert await session.interrupt() is True
        with pytest.raises(OSError, match="it cannot"):
            await session.wait()
    else:
        await session.stop()
        await session.wait()
    event = await ended(session)

    assert "failed" if how == "interrupt" else "stopped" == event.data["reason"]
    assert "it cannot" in event.data["error"]
    assert [("", True)] == agent_turns(session)


async def test_what_a_failing_voice_had_said_before_is_kept_and_nobody_interrupted_it() -> None:
    class Fragile(Parts):
        async def speak(self, sentence: str) -> SpokenSentence:
            if len(self.spoken) == 1:
                raise OSError("device lost")
            return await super().speak(sentence)

    session = session_of(Fragile("hi", sentences=3, seconds=0.1)).start()
    with pytest.raises(OSError, match="device lost"):
        await session.wait()
    turn = session.discussion.conversation.utterances[-1]

    assert ("hi 0", False, "hi 0 hi 1 hi 2") == (turn.text, turn.interrupted, turn.said)


async def test_wrong_values_are_refused_by_name() -> None:
    class Words(Parts):
        async def utterances(self) -> AsyncIterator[Any]:
            yield "a text"

    class Nobody(Parts):
        async def utterances(self) -> AsyncIterator[Any]:
            yield Utterance("agent", "it speaks by itself")

    class Numbers(Parts):
        async def reply(self, messages: Sequence[Message]) -> AsyncIterator[Any]:
            yield 1

    class Mute(Parts):
        async def speak(self, sentence: str) -> Any:
            return None

    for parts, says in (
        (Words(), "listener"),
        (Nobody(), "listener"),
        (Numbers("hi"), "responder"),
        (Mute("hi"), "voice"),
    ):
        with pytest.raises(TypeError, match=says):
            await session_of(parts).start().wait()


# -- parts that are slow, or never let go


async def test_an_interrupt_waits_for_a_slow_stop_and_the_next_reply_is_not_hit_by_it() -> None:
    parts = Parts("one", "two", behave={"stop": taking(0.2)})
    session = session_of(parts).start()
    await until_floor(session, Floor.SPEAKING)
    await anyio.sleep(0.1)
    before = anyio.current_time()
    await session.interrupt()

    assert 0.2 == pytest.approx(anyio.current_time() - before, abs=0.01)
    await session.wait()
    assert [("", True), ("two 0 two 1", False)] == agent_turns(session)


@pytest.mark.parametrize("method", ["stop", "speak_when_stopped"])
@pytest.mark.parametrize("how", [anyio.sleep_forever, stubborn])
async def test_an_interrupt_is_over_in_time_whatever_the_voice_does(method: str, how: Behaviour) -> None:
    session = session_of(Parts("one", "two", behave={method: how})).start()
    await until_floor(session, Floor.SPEAKING)
    await anyio.sleep(0.1)
    before = anyio.current_time()

    assert await session.interrupt() is True
    assert anyio.current_time() - before < 0.4
    assert ("", True) == agent_turns(session)[0]
    if method == "speak_when_stopped" and how is stubborn:  # it may still be making a sound
        with pytest.raises(RuntimeError, match="holds on to a sentence"):
            await session.wait()
    else:
        await session.wait()
        assert ("two 0 two 1", False) == agent_turns(session)[1]


async def test_a_voice_that_returns_late_from_a_cut_sentence_is_waited_for_before_the_next_one() -> None:
    returned_at = 0.0

    async def late() -> None:
        nonlocal returned_at
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.5)
        returned_at = anyio.current_time()

    session = session_of(Parts("one", "two", behave={"speak_when_stopped": late})).start()
    await until_floor(session, Floor.SPEAKING)
    await anyio.sleep(0.1)
    before = anyio.current_time()
    await session.interrupt()

    assert anyio.current_time() - before < 0.15
    assert 0.0 == returned_at
    await until_floor(session, Floor.SPEAKING)
    assert 0.5 == pytest.approx(returned_at - before, abs=0.01)
    await session.wait()
    assert ("two 0 two 1", False) == agent_turns(session)[1]


async def test_a_voice_that_is_still_speaking_at_the_end_is_reported() -> None:
    session = session_of(Parts("one", behave={"speak_when_stopped": stubborn})).start()
    await until_floor(session, Floor.SPEAKING)
    await session.stop()

    assert "the voice holds on to a sentence that was cut" == (await ended(session)).data["error"]


@pytest.mark.parametrize("method", ["utterances", "speech_started", "reply", "speak_when_stopped", "stop", "aclose"])
@pytest.mark.parametrize("how", [anyio.sleep_forever, stubborn])
async def test_stop_takes_less_than_a_second_whatever_one_method_does(method: str, how: Behaviour) -> None:
    parts = Parts("one", "two", behave={method: how})
    session = session_of(parts).start()
    await until_floor(session, Floor.SPEAKING)
    await anyio.sleep(0.5)
    before = anyio.current_time()
    await session.stop()

    assert anyio.current_time() - before < 1.0
    assert ("stopped", 1) == ((await ended(session)).data["reason"], parts.closes)
    assert [True] == [cut for _, cut in agent_turns(session)]


@pytest.mark.parametrize("method", ["utterances", "speech_started", "reply"])
async def test_a_natural_end_comes_whatever_does_not_let_go(method: str) -> None:
    session = session_of(Parts("one", "two", seconds=0.1, behave={method: stubborn}), silence_timeout_s=1.0).start()
    with anyio.fail_after(20.0):
        await session.wait()

    assert [("one 0 one 1", False), ("two 0 two 1", False)] == agent_turns(session)


async def test_a_responder_that_is_slow_to_close_does_not_keep_the_floor() -> None:
    class Slow(Parts):
        async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
            try:
                yield "first"
                await anyio.sleep_forever()
            finally:
                with anyio.CancelScope(shield=True):
                    await anyio.sleep(0.2)

    session = session_of(Slow("one")).start()
    await until_floor(session, Floor.SPEAKING)
    await anyio.sleep(0.1)
    before = anyio.current_time()
    await session.interrupt()

    assert anyio.current_time() - before < 0.01
    assert Floor.LISTENING is session.floor
    await session.stop()


async def test_a_preparation_that_does_not_let_go_does_not_keep_the_floor() -> None:
    class Ahead(Parts):
        async def prepare(self, sentence: str) -> None:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(3.0)

    session = session_of(Ahead("one", "two")).start()
    await until_floor(session, Floor.SPEAKING)
    await anyio.sleep(0.1)
    before = anyio.current_time()
    await session.interrupt()

    assert anyio.current_time() - before < 0.1
    await session.wait()
    assert ("two 0 two 1", False) == agent_turns(session)[-1]


async def test_a_listener_that_always_hears_speech_cuts_every_reply_after_the_grace() -> None:
    parts = Parts("one", "two", behave={"speech_started": taking(0.0)}, seconds=2.0)
    session = session_of(parts).start()
    events = session.events("interruption")
    await session.wait()

    assert [True, True] == [cut for _, cut in agent_turns(session)]
    assert [0.35, 0.7] == [pytest.approx(event.at_s, abs=0.01) async for event in events]


# -- responders of many kinds


class PlainIterator:
    """No generator, and nothing to close."""

    def __init__(self, *sentences: str) -> None:
        self.left = list(sentences)

    def __aiter__(self) -> "PlainIterator":
        return self

    async def __anext__(self) -> str:
        await anyio.sleep(0.1)
        if not self.left:
            raise StopAsyncIteration
        return self.left.pop(0)


@pytest.mark.parametrize("close", [None, anyio.sleep_forever, stubborn, raising(OSError("late"))])
@pytest.mark.parametrize("cap", [0, 1])
async def test_a_reply_may_be_a_plain_iterator_whose_close_is_missing_hangs_or_fails(
    close: Behaviour | None, cap: int
) -> None:
    class Plain(Parts):
        def reply(self, messages: Sequence[Message]) -> Any:
            items = PlainIterator("a", "b")
            if close is not None:
                items.aclose = close  # type: ignore[attr-defined]
            return items

    session = session_of(Plain("one", "two"), max_reply_sentences=cap).start()
    with anyio.fail_after(30.0), contextlib.suppress(OSError):
        await session.wait()

    assert ("a" if cap else "a b") == agent_turns(session)[0][0]


# -- the inbox


async def test_a_turn_said_right_after_the_start_is_answered() -> None:
    session = Session(ScriptedListener([], stays_open=True), EchoResponder(), SilentVoice()).start()
    await session.say("hello")
    await until_floor(session, Floor.SPEAKING)
    await until_floor(session, Floor.LISTENING)
    await session.stop()

    assert ["hello", "hello"] == [u.text for u in session.discussion.conversation.utterances]


async def test_whoever_waits_for_room_in_the_inbox_is_told_when_the_session_ends() -> None:
    session = Session(ScriptedListener([], stays_open=True), EchoResponder(), SilentVoice(60.0)).start()
    await session.say("hello")
    await until_floor(session, Floor.SPEAKING)
    refused = []

    async def say() -> None:
        try:
            await session.say("more")
        except RuntimeError as error:
            refused.append(str(error))

    async with anyio.create_task_group() as tasks:
        for _ in range(70):
            tasks.start_soon(say)
        await anyio.sleep(1.0)
        await session.stop()

    assert ["the session is not running"] * 6 == refused


async def test_a_turn_that_comes_with_the_silence_limit_is_answered() -> None:
    for late_s in (4.99, 5.0, 5.05, 5.0999):
        listener = ScriptedListener(["just in time"], pace_s=late_s)
        session = Session(listener, EchoResponder(), SilentVoice(), Policy(silence_timeout_s=5.0)).start()
        await session.wait()

        assert 2 == len(session.discussion.conversation.utterances), late_s


async def test_a_typed_turn_while_the_agent_speaks_is_no_echo() -> None:
    session = Session(ScriptedListener([], stays_open=True), EchoResponder(), SilentVoice(1.0)).start()
    await session.say("one")
    await until_floor(session, Floor.SPEAKING)
    await anyio.sleep(0.5)
    await session.say("two")
    await anyio.sleep(5.0)
    await session.stop()

    assert ["one", "one", "two", "two"] == [u.text for u in session.discussion.conversation.utterances]


async def test_a_typed_turn_that_is_blank_is_skipped_and_one_that_is_no_text_is_refused() -> None:
    session = Session(ScriptedListener([], stays_open=True), EchoResponder(), SilentVoice()).start()
    await session.say("  ")
    await session.speak("")
    for door in (session.say, session.speak):
        with pytest.raises(ValueError, match="text"):
            await door(None)  # type: ignore[arg-type]
    await anyio.sleep(1.0)
    await session.stop()

    assert [] == session.discussion.conversation.utterances


async def test_an_announcement_does_not_make_a_cut_reply_forgotten() -> None:
    class Cough(ScriptedListener):
        coughs = 1

        async def speech_started(self) -> None:
            if not self.coughs:
                await anyio.sleep_forever()
            await anyio.sleep(1.0)
            self.coughs -= 1

    voice = SilentVoice(3.0)
    session = Session(Cough(["question"], stays_open=True), EchoResponder(), voice).start()
    await until_floor(session, Floor.SPEAKING)
    await until_floor(session, Floor.LISTENING)
    await session.speak("a word from our owner")
    await anyio.sleep(10.0)
    await session.stop()

    assert ["question", "a word from our owner", "question"] == voice.spoken


# -- the voice's own cut


async def test_a_voice_that_cuts_itself_takes_the_one_path() -> None:
    class Decides(Parts):
        async def speak(self, sentence: str) -> SpokenSentence:
            self.spoken.append(sentence)
            await anyio.sleep(0.5)
            return SpokenSentence(sentence, played_s=0.5, cut=True, heard="half")

    parts = Decides("one", "two")
    session = session_of(parts).start()
    events = session.events("interruption")
    await session.wait()

    assert [("half", True)] * 2 == agent_turns(session)
    assert [{"by": "voice"}] * 2 == [event.data async for event in events]
    assert 3 == parts.stops


async def test_one_object_in_three_places_is_closed_once() -> None:
    parts = Parts("one", seconds=0.1)
    await session_of(parts).start().wait()

    assert 1 == parts.closes


class PerReplyAudible(Parts):
    """Knows when it is heard, and forgets it only when it speaks again, as real ones do."""

    def __init__(self, *turns: str, behave: Does) -> None:
        super().__init__(*turns, sentences=1, behave=behave)
        self.heard = anyio.Event()

    async def speak(self, sentence: str) -> SpokenSentence:
        self.heard, self.silent = anyio.Event(), anyio.Event()
        with anyio.move_on_after(3.0):
            await self.silent.wait()
        self.heard.set()
        with anyio.move_on_after(1.0):
            await self.silent.wait()
        return SpokenSentence(sentence, 3.0, cut=self.silent.is_set(), heard="")

    async def audible(self) -> None:
        await self.heard.wait()


async def test_the_grace_counts_from_the_first_audio_of_every_reply() -> None:
    session = session_of(PerReplyAudible("one", "two", behave={"speech_started": taking(0.0)})).start()
    events = session.events("interruption")
    await session.wait()

    assert [3.35, 6.7] == [pytest.approx(event.at_s, abs=0.01) async for event in events]
    assert [3.0, 3.0] == [pytest.approx(t.speak_s, abs=0.01) for t in session.discussion.conversation.timings]


@pytest.mark.parametrize("after_s", [0.0, 0.01, 0.5, 0.99, 1.0, 1.001, 1.5, 1.999, 2.001, 2.4, 2.9])
@pytest.mark.parametrize("ahead", [False, True])
async def test_button_and_onset_leave_the_same_at_any_moment(after_s: float, ahead: bool) -> None:
    """In a sentence, at its last sample, between two, at the reply's end."""

    async def outcome(button: bool) -> tuple[object, ...]:
        async def hear() -> None:
            await (anyio.sleep_forever() if button else anyio.sleep(after_s))

        class Pausing(Parts):
            async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
                yield "first"
                await anyio.sleep(2.0)
                yield "second"

        async def prepare(sentence: str) -> None: ...

        parts = Pausing("one", "two", behave={"speech_started": hear})
        if ahead:
            parts.prepare = prepare  # type: ignore[attr-defined]
        session = session_of(parts, barge_in_grace_s=0.0)
        events, floors = session.events(), session.events("floor")
        session.start()
        async for event in floors:
            if button and event.data["floor"] == "speaking":
                await anyio.sleep(after_s)
                await session.interrupt()
        await session.wait()
        told = [(event.kind, event.data) async for event in events if event.kind != "timing"]
        return told, parts.stops, parts.spoken, session.state["interruption_rate"]

    assert await outcome(button=True) == await outcome(button=False)


async def test_a_part_that_is_replaced_before_the_start_is_used_nowhere() -> None:
    async def unwanted() -> None:
        raise AssertionError

    old = Parts(behave=dict.fromkeys(("utterances", "speech_started", "reply", "speak", "stop", "aclose"), unwanted))
    session, new = session_of(old), Parts("one", "two", behave={"speech_started": taking(0.0)})
    session.discussion.listener = session.discussion.responder = session.discussion.voice = new
    await session.start().wait()

    assert [True, True] == [cut for _, cut in agent_turns(session)]
    assert (0, 1) == (old.closes, new.closes)


# -- the thread


@pytest.mark.parametrize("slow", ["user", "agent"])
async def test_a_turn_that_is_slow_to_store_is_stored(slow: str) -> None:
    stored: list[str] = []

    class Slow:
        async def append(self, utterance: Utterance) -> None:
            await anyio.sleep(3.0 if utterance.speaker == slow else 0.0)
            stored.append(utterance.text)

    listener, voice = ScriptedListener(["one", "two"]), SilentVoice()
    await Session(listener, EchoResponder(), voice, thread=Slow()).start().wait()

    assert ["one", "one", "two", "two"] == stored


async def test_a_turn_that_cannot_be_stored_ends_the_session() -> None:
    class Full:
        async def append(self, utterance: Utterance) -> None:
            if utterance.speaker == "agent":
                await anyio.sleep_forever()

    session = Session(ScriptedListener(["one"]), EchoResponder(), SilentVoice(), thread=Full()).start()
    with pytest.raises(TimeoutError, match="did not store"):
        await session.wait()


async def test_an_interrupt_while_the_turn_is_being_stored_is_true_and_changes_nothing() -> None:
    class Slow:
        async def append(self, utterance: Utterance) -> None:
            await anyio.sleep(1.0 if utterance.speaker == "agent" else 0.0)

    session = Session(ScriptedListener(["one"]), EchoResponder(), SilentVoice(), thread=Slow()).start()
    await until_floor(session, Floor.SPEAKING)
    await anyio.sleep(0.5)

    assert (session.floor is Floor.SPEAKING) == await session.interrupt()
    await session.wait()
    assert [("one", False)] == agent_turns(session)


@pytest.mark.parametrize("method", ["utterances", "speech_started", "reply", "speak_when_stopped", "stop", "aclose"])
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_no_task_is_left_after_stop_by_a_part_that_hangs_but_can_be_cancelled(method: str) -> None:
    before = asyncio.all_tasks()
    parts = Parts("one", behave={method: anyio.sleep_forever})
    session = session_of(parts).start()
    await until_floor(session, Floor.SPEAKING)
    await anyio.sleep(0.05)
    await session.stop()

    assert before == asyncio.all_tasks()


class _Returns(EchoResponder):
    """Written the natural wrong way."""

    async def reply(self, messages: Any) -> Any:  # type: ignore[override]
        return "a text"


class _Lists(EchoResponder):
    def reply(self, messages: Any) -> Any:
        return ["a text"]


@pytest.mark.parametrize(("responder", "told"), [(_Returns(), "async generator, with `yield"), (_Lists(), "'a text'")])
async def test_a_reply_that_is_no_async_generator_is_told_in_a_line(responder: Any, told: str) -> None:
    session = Session(ScriptedListener(["hello"]), responder, SilentVoice()).start()
    with pytest.raises(TypeError, match=told):
        await session.wait()


class _Nothing(EchoResponder):
    async def reply(self, messages: Any) -> Any:
        while True:
            yield ""


async def test_a_responder_that_gives_nothing_for_ever_holds_nobody_up() -> None:
    session = Session(ScriptedListener(["hello"]), _Nothing(), SilentVoice()).start()
    for _ in range(200):  # rounds of the event loop; time stands still while something always runs
        await anyio.lowlevel.checkpoint()
    assert Floor.THINKING is session.floor
    await session.stop()
