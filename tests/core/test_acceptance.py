"""What the specification promises of a session, in real time, with parts that have the bare ports and nothing else."""

import asyncio
import functools
import re
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import pytest

from discussion_helper import (
    Conversation,
    Discussion,
    Event,
    Floor,
    Policy,
    Session,
    Sessions,
    SpokenSentence,
    TurnTiming,
    Utterance,
    utterance_of,
)
from discussion_helper.parts import Listener, Responder, Voice
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.types import Message

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    """The real clock: what is promised in milliseconds is measured in milliseconds."""
    return "asyncio"


def in_time(test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """Milliseconds are promised on a machine that has some to spare: the best of three attempts counts."""

    @functools.wraps(test)
    async def attempts(**arguments: Any) -> None:
        for left in (2, 1, 0):
            try:
                await test(**arguments)
                return
            except AssertionError:
                if not left:
                    raise

    timed: Callable[..., Awaitable[None]] = pytest.mark.timed(attempts)
    return timed


class Ear:
    """A bare listener: says each of `turns` when `said` lets it, and begins to speak when `onset` is set."""

    def __init__(self, *turns: str, waits: bool = False) -> None:
        self.turns = turns
        self.said = asyncio.Semaphore(0 if waits else len(turns))
        self.onset = asyncio.Event()
        self.closes = 0

    async def utterances(self) -> AsyncIterator[Utterance]:
        for turn in self.turns:
            await self.said.acquire()
            yield Utterance("user", turn)

    async def speech_started(self) -> None:
        await self.onset.wait()

    async def aclose(self) -> None:
        self.closes += 1


class Mind:
    """A bare responder: `sentences`, each after `delay_s`."""

    def __init__(self, *sentences: str, delay_s: float = 0.0) -> None:
        self.sentences = sentences
        self.delay_s = delay_s
        self.closes = 0

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        for sentence in self.sentences:
            await asyncio.sleep(self.delay_s)
            yield sentence

    async def aclose(self) -> None:
        self.closes += 1


class Mouth:
    """A bare voice that speaks for `seconds` and counts what is asked of it."""

    def __init__(self, seconds: float = 0.02) -> None:
        self.seconds = seconds
        self.speaking = 0
        self.stops = 0
        self.closes = 0
        self.heard: list[str] = []
        self.silence = asyncio.Event()

    async def speak(self, sentence: str) -> SpokenSentence:
        self.silence.clear()
        self.speaking += 1
        try:
            await asyncio.wait_for(self.silence.wait(), self.seconds)
        except TimeoutError:
            self.heard.append(sentence)
            return SpokenSentence(sentence, 0.0, self.seconds)
        finally:
            self.speaking -= 1
        return SpokenSentence(sentence, cut=True, heard=sentence.split()[0])

    async def stop(self) -> None:
        self.stops += 1
        self.silence.set()

    async def aclose(self) -> None:
        self.closes += 1


async def until(session: Session, floor: Floor) -> None:
    async with session.events("floor") as events:
        while session.floor is not floor:
            await anext(events)


async def told(session: Session, *kinds: str) -> list[Event]:
    return [event async for event in session.events(*kinds)]


def shape(event: Event) -> str:
    telling = ("floor", "speaker", "reason")
    return " ".join([event.kind, *(str(event.data[key]) for key in telling if key in event.data)])


def agents(session: Session) -> list[Utterance]:
    return [u for u in session.discussion.conversation.utterances if u.speaker == "agent"]


def test_the_bare_parts_and_the_fakes_have_the_ports() -> None:
    for listener in (Ear(), ScriptedListener([])):
        assert isinstance(listener, Listener)
    for responder in (Mind(), EchoResponder()):
        assert isinstance(responder, Responder)
    for voice in (Mouth(), SilentVoice()):
        assert isinstance(voice, Voice)


async def test_two_watchers_get_equal_lists() -> None:
    session = Session(Ear("a", "b"), Mind("one", "two"), Mouth())
    both = [asyncio.create_task(told(session)) for _ in range(2)]
    await asyncio.sleep(0)
    session.start()
    first, second = await asyncio.gather(*both)

    assert first == second
    assert 2 == sum(event.kind == "timing" for event in first)


async def test_a_late_watcher_sees_only_what_follows_and_one_after_the_end_gets_ended() -> None:
    session = Session(Ear("a"), Mind("one"), Mouth(0.2)).start()
    await until(session, Floor.SPEAKING)
    late = await told(session)

    assert ["utterance agent", "timing", "floor listening", "floor idle", "ended finished"] == [*map(shape, late)]
    assert ["ended finished"] == [shape(event) for event in await told(session)]


async def test_interrupt_is_refused_before_start_listening_thinking_and_after_stop() -> None:
    voice, listener = Mouth(), Ear("a", waits=True)
    session = Session(listener, Mind("one", delay_s=30.0), voice)
    answers = [await session.interrupt()]
    session.start()
    await until(session, Floor.LISTENING)
    answers.append(await session.interrupt())
    listener.said.release()
    await until(session, Floor.THINKING)
    answers.append(await session.interrupt())

    assert ([False] * 3, 0) == (answers, voice.stops)
    await session.stop()
    stops = voice.stops
    assert await session.interrupt() is False
    assert stops == voice.stops


@pytest.mark.parametrize("voice", [Mouth, SilentVoice])
@in_time
async def test_interrupt_in_a_five_second_sentence(voice: Callable[[float], Voice]) -> None:
    listener = Ear("a", "b", waits=True)
    listener.said.release()
    session = Session(listener, Mind("a very long sentence"), voice(5.0)).start()
    await until(session, Floor.SPEAKING)
    await asyncio.sleep(0.1)

    before = time.perf_counter()
    answer = await session.interrupt()
    took = time.perf_counter() - before
    await asyncio.sleep(0.05)

    assert (True, Floor.LISTENING, 1.0) == (answer, session.floor, session.state["interruption_rate"])
    assert took < 0.15
    listener.said.release()
    await until(session, Floor.SPEAKING)
    await session.interrupt()
    await session.wait()
    assert ["a", "b"] == [u.text for u in session.discussion.conversation.utterances if u.speaker == "user"]


@pytest.mark.parametrize("ignores", ["stop", "stop and cancellation once"])
@in_time
async def test_interrupt_in_a_sentence_of_a_voice_that_does_not_return_when_stopped(ignores: str) -> None:
    class Deaf(Mouth):
        async def speak(self, sentence: str) -> SpokenSentence:
            try:
                await asyncio.sleep(5.0)
            except asyncio.CancelledError:
                if ignores == "stop":
                    raise
            return SpokenSentence(sentence)

    session = Session(Ear("a", "b"), Mind("one two three"), Deaf()).start()
    await until(session, Floor.SPEAKING)
    await asyncio.sleep(0.05)
    before = time.perf_counter()
    assert await session.interrupt() is True
    assert time.perf_counter() - before < 0.15
    await until(session, Floor.LISTENING)

    assert time.perf_counter() - before < 0.2
    assert [True] == [u.interrupted for u in agents(session)]
    await session.stop()


async def test_interrupt_between_sentences_ends_the_reply() -> None:
    class Slow(Mind):
        async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
            yield "one"
            await asyncio.sleep(30.0)
            yield "two"

    voice = Mouth(0.02)
    session = Session(Ear("a"), Slow(), voice).start()
    await until(session, Floor.SPEAKING)
    await asyncio.sleep(0.1)

    assert await session.interrupt() is True
    await session.wait()
    assert [("one", True)] == [(u.text, u.interrupted) for u in agents(session)]
    assert voice.stops >= 1


async def test_button_equals_onset() -> None:
    outcomes = []
    for button in (True, False):
        voice, listener = Mouth(5.0), Ear("a", waits=True)
        session = Session(listener, Mind("one two three"), voice, Policy(barge_in_grace_s=0.0)).start()
        events = session.events()
        listener.said.release()
        await until(session, Floor.SPEAKING)
        await asyncio.sleep(0.05)
        if button:
            await session.interrupt()
        else:
            listener.onset.set()
        await session.wait()
        utterances = [(u.speaker, u.text, u.interrupted, u.said) for u in session.discussion.conversation.utterances]
        kinds = [shape(event) async for event in events]
        outcomes.append((session.floor, utterances, voice.stops, session.state["interruption_rate"], kinds))

    assert outcomes[0] == outcomes[1]


async def test_start_twice_and_after_the_end_raise() -> None:
    session = Session(Ear("a"), Mind("one"), Mouth()).start()
    with pytest.raises(RuntimeError):
        session.start()
    await session.wait()
    with pytest.raises(RuntimeError):
        session.start()
    assert session.started


def test_start_without_a_running_loop_raises_and_starts_nothing() -> None:
    session = Session(Ear("a"), Mind("one"), Mouth())
    errors: list[BaseException] = []

    def start(loop: asyncio.AbstractEventLoop | None) -> None:
        asyncio.set_event_loop(loop)
        try:
            session.start()
        except RuntimeError as error:
            errors.append(error)

    idle = asyncio.new_event_loop()
    for loop in (None, idle):
        thread = threading.Thread(target=start, args=(loop,))
        thread.start()
        thread.join()

    assert 2 == len(errors)
    assert not asyncio.all_tasks(idle)
    idle.close()
    assert (False, False) == (session.started, session.state["running"])

    async def after_all() -> Conversation:
        return await session.start().wait()

    assert 2 == len(asyncio.run(after_all()).utterances)


async def test_wait_before_start_raises_and_twice_returns_one_object() -> None:
    session = Session(Ear("a"), Mind("one"), Mouth())
    with pytest.raises(RuntimeError):
        await session.wait()
    session.start()

    assert await session.wait() is await session.wait() is session.discussion.conversation


async def test_a_cancelled_wait_leaves_the_session_running() -> None:
    session = Session(Ear("a"), Mind("one"), Mouth(0.3)).start()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(session.wait(), 0.05)
    waiting = asyncio.create_task(session.wait())
    await asyncio.sleep(0.05)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert session.state["running"] is True
    assert ["a", "one"] == [u.text for u in (await session.wait()).utterances]


async def test_stop_twice_at_once_and_again() -> None:
    listener, responder, voice = Ear("a"), Mind("one two"), Mouth(5.0)
    before = asyncio.all_tasks()
    session = Session(listener, responder, voice).start()
    await until(session, Floor.SPEAKING)
    results = [*await asyncio.gather(session.stop(), session.stop()), await session.stop(), await session.wait()]

    assert all(result is results[0] for result in results)
    assert [1, 1, 1] == [part.closes for part in (listener, responder, voice)]
    assert 0 == voice.speaking
    assert voice.stops >= 1
    assert before == asyncio.all_tasks()


@in_time
async def test_stop_in_sentence_three_of_nine_keeps_the_two_heard() -> None:
    session = Session(Ear("a"), Mind(*"123456789"), Mouth(0.1)).start()
    await until(session, Floor.SPEAKING)
    await asyncio.sleep(0.25)
    turn = (await session.stop()).utterances[-1]

    assert turn.text.startswith("1 2")
    assert (True, "1 2 3 4 5 6 7 8 9") == (turn.interrupted, turn.said)


async def test_stop_before_start_releases_watchers() -> None:
    session = Session(Ear("a"), Mind("one"), Mouth())
    events = session.events()
    watching = asyncio.create_task(told(session))
    await asyncio.sleep(0)
    await session.stop()

    assert ["ended stopped"] == [shape(event) async for event in events]
    assert ["ended stopped"] == [*map(shape, await watching)]


async def test_the_registry() -> None:
    sessions: Sessions[Session] = Sessions()
    first, second = (sessions.add(Session(Ear("a", waits=True), Mind(), Mouth())) for _ in range(2))

    assert sessions.get(first.id) is first
    assert [first.id, second.id] == sessions.ids()
    assert 2 == len(sessions)
    assert await sessions.remove(first.id) is first.discussion.conversation
    assert sessions.get(first.id) is None
    assert await sessions.remove(first.id) is None
    assert sessions.get("unknown") is None
    second.start()
    await sessions.aclose()
    await sessions.aclose()
    assert (0, []) == (len(sessions), sessions.ids())
    assert second.ended


@pytest.mark.parametrize("hangs", ["aclose", "stop", "speak", "utterances", "reply"])
@in_time
async def test_aclose_with_one_hanging_part_closes_the_rest_within_a_second(hangs: str) -> None:
    release = asyncio.Event()

    async def hang(*args: Any) -> Any:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    async def hang_iterating(*args: Any) -> Any:
        await hang()
        yield

    sessions: Sessions[Session] = Sessions()
    parts = Ear("a"), Mind("one"), Mouth(5.0)
    owner = next(part for part in reversed(parts) if hasattr(part, hangs))
    setattr(owner, hangs, hang_iterating if hangs in ("utterances", "reply") else hang)
    sessions.add(Session(*parts)).start()
    others = [(Ear("a"), Mind("one"), Mouth(5.0)) for _ in range(3)]
    for other in others:
        sessions.add(Session(*other)).start()
    await asyncio.sleep(0.05)
    before = time.perf_counter()
    await sessions.aclose()
    took = time.perf_counter() - before
    release.set()
    await asyncio.sleep(0.05)

    assert took < 1.0
    assert all(part.closes == 1 for other in others for part in other)
    assert all(part.closes == 1 for part in parts if part is not owner or hangs != "aclose")


@pytest.mark.parametrize("speaker", ["bot", "User", "", None])
def test_utterance_of_refuses(speaker: Any) -> None:
    with pytest.raises(ValueError, match="speaker"):
        utterance_of(speaker, "text")
    with pytest.raises(ValueError, match="speaker"):
        Utterance(speaker, "text")
    assert Utterance("user", "text", 2.0, 2.0) == utterance_of("user", "text", at_s=2.0)


def test_the_shape_of_an_event() -> None:
    event = Event("floor", 1.23456, {"floor": "idle", "kind": "forged", "at_s": -1.0})

    assert {"kind": "floor", "at_s": 1.235, "floor": "idle"} == event.as_dict()
    assert {"kind": "ended", "at_s": 0.0} == Event("ended", 0.0).as_dict()


async def test_the_exact_order_of_events_for_two_turns() -> None:
    session = Session(Ear("a", "b"), Mind("one", "two"), Mouth())
    events = session.events()
    await session.start().wait()
    turn = ["utterance user", "floor thinking", "floor speaking", "utterance agent", "timing", "floor listening"]

    assert ["floor listening", *turn, *turn, "floor idle", "ended finished"] == [shape(e) async for e in events]


@in_time
async def test_times_count_from_start() -> None:
    listener = Ear("a", waits=True)
    session = Session(listener, Mind("one"), Mouth())
    events = session.events()
    await asyncio.sleep(0.2)
    session.start()
    time.sleep(0.1)  # noqa: ASYNC251 - a caller that is slow to give the loop back
    elapsed = session.state["elapsed_s"]
    listener.said.release()
    await session.wait()
    seen = [event async for event in events]

    assert 0.1 == pytest.approx(elapsed, abs=0.05)
    assert 0.1 == pytest.approx(seen[0].at_s, abs=0.05)
    assert [e.at_s for e in seen] == sorted(e.at_s for e in seen)


async def test_events_subscribes_at_the_call() -> None:
    session = Session(Ear("a"), Mind("one"), Mouth())
    events = session.events()
    await session.start().wait()

    assert "floor listening" == shape(await anext(events))


async def test_a_responder_that_fails_after_one_sentence() -> None:
    class Failing(Mind):
        async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
            yield "the first sentence"
            raise ConnectionError("the model went away")

    session = Session(Ear("a"), Failing(), Mouth(0.05))
    events = session.events()
    with pytest.raises(ConnectionError, match="the model went away"):
        await session.start().wait()
    seen = [event async for event in events]

    assert {"reason": "failed", "error": "the model went away"} == seen[-1].data
    assert ["the first sentence"] == [u.text for u in agents(session)]
    assert "floor idle" == shape(seen[-2])


async def test_a_broken_onset_is_no_barge_in() -> None:
    class Broken(Ear):
        async def speech_started(self) -> None:
            raise ValueError("no samples")

    voice = Mouth(0.3)
    session = Session(Broken("a"), Mind("one two"), voice).start()
    interruptions = session.events("interruption")
    with pytest.raises(ValueError, match="no samples"):
        await session.wait()

    assert [] == [event async for event in interruptions]


@in_time
async def test_a_voice_that_swallows_cancellation_cannot_hang_stop() -> None:
    class Stubborn(Mouth):
        async def speak(self, sentence: str) -> SpokenSentence:
            while not released.is_set():
                try:
                    await released.wait()
                except asyncio.CancelledError:
                    continue
            return SpokenSentence(sentence)

    released = asyncio.Event()
    listener, responder, voice = Ear("a"), Mind("one two"), Stubborn()
    session = Session(listener, responder, voice).start()
    await until(session, Floor.SPEAKING)
    before = time.perf_counter()
    conversation = await session.stop()
    took = time.perf_counter() - before
    utterances = list(conversation.utterances)
    released.set()
    await asyncio.sleep(0.05)

    assert took < 1.0
    assert [1, 1, 1] == [part.closes for part in (listener, responder, voice)]
    assert ("agent", True) == (conversation.utterances[-1].speaker, conversation.utterances[-1].interrupted)
    assert utterances == conversation.utterances


@in_time
async def test_a_cap_of_two_does_not_wait_for_the_third() -> None:
    class Endless(Mind):
        async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
            yield "one"
            yield "two"
            await asyncio.sleep(30.0)
            yield "three"

    session = Session(Ear("a"), Endless(), Mouth(0.2), Policy(max_reply_sentences=2))
    before = time.perf_counter()
    await session.start().wait()

    assert time.perf_counter() - before < 0.55
    assert [("one two", False)] == [(u.text, u.interrupted) for u in agents(session)]


async def test_an_unread_watcher_is_bounded_and_told_of_the_gap() -> None:
    session = Session(Ear(*["a"] * 400), Mind("one"), SilentVoice(0.0))
    unread = session.events()
    await session.start().wait()
    held = len(unread)
    seen = [event async for event in unread]

    assert held <= 1024
    assert len(seen) <= 1024
    assert "gap" == seen[0].kind
    assert 400 * 6 + 3 == seen[0].data["missed"] + len(seen) - 1
    assert ["gap"] == [event.kind for event in seen if event.kind == "gap"]


async def test_no_task_is_left_after_a_natural_end() -> None:
    before = asyncio.all_tasks()
    listener, responder, voice = Ear("a", "b"), Mind("one", "two"), Mouth()
    await Session(listener, responder, voice).start().wait()

    assert before == asyncio.all_tasks()
    assert [1, 1, 1] == [part.closes for part in (listener, responder, voice)]


@in_time
async def test_an_onset_inside_the_grace_still_interrupts() -> None:
    listener = Ear("a")
    session = Session(listener, Mind("one two three"), Mouth(5.0), Policy(barge_in_grace_s=0.2)).start()
    events = session.events("interruption")
    await until(session, Floor.SPEAKING)
    await asyncio.sleep(0.05)
    listener.onset.set()
    before = time.perf_counter()
    await session.wait()

    assert 0.15 == pytest.approx(time.perf_counter() - before, abs=0.08)
    assert ["interruption"] == [event.kind async for event in events]
    assert [True] == [u.interrupted for u in agents(session)]


async def test_the_state() -> None:
    session = Session(Ear("a"), Mind("one"), Mouth())
    await session.start().wait()
    state = session.state

    keys = {"id", "title", "kind", "floor", "running", "elapsed_s", "utterances", "timings", "interruption_rate"}
    keys |= {"speculation", "shed", "turn_policy", "attention", "live", "decisions", "reason"}
    assert keys == set(state)
    assert re.fullmatch("[A-Za-z0-9_-]{8,64}", state["id"])
    assert ("idle", False, 0.0) == (state["floor"], state["running"], state["interruption_rate"])
    assert ["user", "agent"] == [utterance["speaker"] for utterance in state["utterances"]]
    assert set(TurnTiming().as_dict()) == set(state["timings"][0])


async def test_a_discussion_alone() -> None:
    listener, responder, voice = Ear("a"), Mind("one"), Mouth()
    async with Discussion(listener, responder, voice) as discussion:
        conversation = await discussion.run()

    assert ["a", "one"] == [u.text for u in conversation.utterances]
    assert [1, 1, 1] == [part.closes for part in (listener, responder, voice)]


@in_time
async def test_a_hundred_idle_sessions_cost_no_cpu() -> None:
    async def quiet(act: Callable[[], Awaitable[object]]) -> float:
        before = time.process_time()
        await act()
        return time.process_time() - before

    sessions: Sessions[Session] = Sessions()
    policy = Policy(silence_timeout_s=600.0)
    for _ in range(100):
        session = sessions.add(Session(Ear("a", waits=True), Mind("one"), Mouth(), policy)).start()
        session.events()
    await asyncio.sleep(0.2)

    assert await quiet(lambda: asyncio.sleep(2.0)) < 0.02
    await sessions.aclose()
