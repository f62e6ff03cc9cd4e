"""The handle: start, events, interrupt, stop, wait, state."""

import re
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from typing import Any, cast

import anyio
import pytest

from discussion_helper.events import Event, Subscription
from discussion_helper.session import EVENTS_HELD, Session, Sessions, utterance_of
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.types import Floor, Message, Policy, SpokenSentence, Utterance

pytestmark = pytest.mark.anyio

Make = Callable[..., Session]


def voice_of(session: Session) -> SilentVoice:
    return cast(SilentVoice, session.discussion.voice)


def parts_of(session: Session) -> list[Any]:
    discussion = session.discussion
    return [discussion.listener, discussion.responder, discussion.voice]


async def kinds_of(events: Subscription[Event]) -> list[str]:
    return [event.kind for event in [event async for event in events]]


async def until_floor(session: Session, floor: Floor) -> None:
    """Wait for the event that says so."""
    async with session.events("floor") as events:
        while session.floor is not floor:
            await anext(events)


async def test_two_turns_make_exactly_these_events(session_of: Make) -> None:
    session = session_of("one", "two", sentences=2)
    events = session.events()

    session.start()
    await session.wait()
    telling = ("floor", "speaker", "reason")
    seen = [(e.kind, next((e.data[key] for key in telling if key in e.data), None)) async for e in events]

    exchange = [
        ("utterance", "user"),
        ("floor", "thinking"),
        ("floor", "speaking"),
        ("utterance", "agent"),
        ("timing", None),
        ("floor", "listening"),
    ]
    assert [("floor", "listening"), *exchange, *exchange, ("floor", "idle"), ("ended", "finished")] == seen


async def test_two_watchers_get_equal_lists(session_of: Make) -> None:
    session = session_of("one", "two", sentences=3)
    first, second = session.events("*"), session.events("*")

    session.start()
    await session.wait()

    assert [e async for e in first] == [e async for e in second] != []


async def test_a_late_watcher_sees_only_what_follows(session_of: Make) -> None:
    session = session_of("one", "two", sentence_s=1.0).start()
    await until_floor(session, Floor.SPEAKING)

    late = session.events()
    await session.wait()

    assert ["utterance", "timing", "floor"] == (await kinds_of(late))[:3]


async def test_a_watcher_after_the_end_gets_ended_alone(session_of: Make) -> None:
    session = session_of("one").start()
    await session.wait()

    assert ["ended"] == await kinds_of(session.events())


async def test_events_subscribes_at_the_call(session_of: Make) -> None:
    session = session_of("one").start()
    events = session.events()
    await session.wait()

    assert "utterance" in await kinds_of(events)


async def test_an_unknown_kind_is_refused(session_of: Make) -> None:
    with pytest.raises(ValueError, match=r"kinds: .*'audio'"):
        session_of().events("audio")


async def test_fine_events_reach_only_those_who_ask(session_of: Make) -> None:
    session = session_of("one", sentence_s=5.0, onset_s=1.0)
    coarse, fine = session.events(), session.events("interruption")

    session.start()
    await session.wait()

    assert "interruption" not in await kinds_of(coarse)
    assert ["interruption"] == await kinds_of(fine)


async def test_an_unread_watcher_is_bounded_and_told_of_the_gap(session_of: Make) -> None:
    session = session_of(*["x"] * 400, sentence_s=0.001)
    slow = session.events()

    session.start()
    await session.wait()
    held = len(slow)
    first = await anext(slow)

    assert held <= EVENTS_HELD
    rest = [e async for e in slow]

    assert ("gap", 400 * 6 + 3) == (first.kind, first.data["missed"] + len(rest))
    assert EVENTS_HELD == len([first, *rest])


async def test_a_gap_reaches_a_watcher_who_asked_for_one_kind(session_of: Make) -> None:
    session = session_of(*["x"] * (EVENTS_HELD + 1), sentence_s=0.001)
    slow = session.events("timing")

    session.start()
    await session.wait()

    assert "gap" == (await anext(slow)).kind


async def test_times_count_from_the_start(session_of: Make) -> None:
    session = session_of("one", pace_s=2.0)
    events = session.events()
    await anyio.sleep(5.0)

    session.start()
    await session.wait()
    at = {e.kind: e.at_s for e in [x async for x in events]}

    assert pytest.approx(2.05) == at["utterance"]


# -- interrupt


async def test_interrupt_before_the_start_touches_nothing(session_of: Make) -> None:
    session = session_of("one")

    assert await session.interrupt() is False
    assert 0 == voice_of(session).stops


async def test_interrupt_while_listening_or_thinking_touches_nothing(session_of: Make) -> None:
    session = session_of("one", pace_s=1.0, delay_s=1.0).start()
    await until_floor(session, Floor.LISTENING)
    listening = await session.interrupt()
    await until_floor(session, Floor.THINKING)
    thinking = await session.interrupt()

    assert (False, False, 0) == (listening, thinking, voice_of(session).stops)
    await session.stop()


async def test_interrupt_after_the_end_touches_nothing(session_of: Make) -> None:
    session = session_of("one").start()
    await session.stop()
    stops = voice_of(session).stops

    assert await session.interrupt() is False
    assert stops == voice_of(session).stops


async def test_interrupt_in_a_sentence_frees_the_floor_and_the_next_turn_is_answered(session_of: Make) -> None:
    session = session_of("one two three four five", "next", sentence_s=5.0, pace_s=0.2).start()
    await until_floor(session, Floor.SPEAKING)
    await anyio.sleep(1.0)
    before = anyio.current_time()

    assert await session.interrupt() is True
    assert anyio.current_time() - before < 0.15
    await anyio.sleep(0.05)
    assert Floor.LISTENING is session.floor
    assert 1.0 == session.state["interruption_rate"]
    await session.wait()
    cut, answer = [u for u in session.discussion.conversation.utterances if u.speaker == "agent"]
    assert ("one", True, "one two three four five") == (cut.text, cut.interrupted, cut.said)
    assert ("next", False) == (answer.text, answer.interrupted)


async def test_interrupt_between_sentences_ends_the_reply(session_of: Make) -> None:
    session = session_of("one", sentences=3, delay_s=1.0, sentence_s=0.1, stays_open=True).start()
    await until_floor(session, Floor.SPEAKING)
    await anyio.sleep(0.5)

    assert await session.interrupt() is True
    await until_floor(session, Floor.LISTENING)
    assert ["one"] == voice_of(session).spoken
    await anyio.sleep(10.0)
    assert ["one"] == voice_of(session).spoken
    await session.stop()


async def test_button_and_onset_leave_the_same_transcript_and_counters(session_of: Make) -> None:
    outcomes = []
    for onset_s in (1.0, None):
        session = session_of("one two three four", "next", sentence_s=2.0, onset_s=onset_s, pace_s=0.5).start()
        for _ in range(2 if onset_s is None else 0):
            await until_floor(session, Floor.SPEAKING)
            await anyio.sleep(1.0)
            await session.interrupt()
            await until_floor(session, Floor.LISTENING)
        await session.wait()
        outcomes.append((session.state["utterances"], session.state["interruption_rate"], voice_of(session).stops))

    assert outcomes[0] == outcomes[1]


async def test_two_interrupts_at_once_cut_one_reply_once(session_of: Make) -> None:
    session = session_of("one", sentence_s=5.0, stays_open=True).start()
    events = session.events("interruption")
    await until_floor(session, Floor.SPEAKING)
    answers: list[bool] = []

    async def press() -> None:
        answers.append(await session.interrupt())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(press)
        tasks.start_soon(press)
    await session.stop()

    assert [True, True] == answers
    assert 1 == len(await kinds_of(events))


# -- start


async def test_starting_twice_or_after_the_end_raises(session_of: Make) -> None:
    session = session_of("one").start()
    with pytest.raises(RuntimeError, match="started before"):
        session.start()
    await session.stop()
    with pytest.raises(RuntimeError, match="started before"):
        session.start()


async def test_stop_before_the_start_releases_watchers_and_closes_the_parts(session_of: Make) -> None:
    session = session_of("one")
    watcher = session.events()

    conversation = await session.stop()

    assert ["ended"] == await kinds_of(watcher)
    assert conversation is session.discussion.conversation
    assert all(part.closed for part in parts_of(session))
    with pytest.raises(RuntimeError, match="stopped"):
        session.start()


def test_starting_off_a_running_loop_raises_and_starts_nothing(session_of: Make) -> None:
    caught: list[BaseException] = []
    session = session_of("one")

    def start() -> None:
        try:
            session.start()
        except RuntimeError as error:
            caught.append(error)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()

    assert "running event loop" in str(caught[0])
    assert not session.started
    assert "running" in session.state
    assert session.state["running"] is False


# -- wait


def loading(warmup: Callable[[], Any]) -> Session:
    """One that stays open, and whose voice has something to load."""
    voice: Any = SilentVoice()
    voice.warmup = warmup
    return Session(ScriptedListener([], stays_open=True), EchoResponder(), voice)


async def test_it_is_ready_when_its_parts_are_warm_and_not_before() -> None:
    warm, ready = anyio.Event(), anyio.Event()
    session = loading(warm.wait)

    async def wait() -> None:
        await session.ready()
        ready.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        session.start()
        await anyio.wait_all_tasks_blocked()
        assert not ready.is_set()
        warm.set()
        await ready.wait()
    await session.stop()
    await session.ready()


@pytest.mark.parametrize("started", [False, True])
async def test_nobody_waits_for_the_warm_up_of_a_session_that_is_over(started: bool) -> None:
    session = loading(anyio.sleep_forever)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(session.ready)
        if started:
            session.start()
        await anyio.wait_all_tasks_blocked()
        await session.stop()


async def test_wait_before_the_start_raises(session_of: Make) -> None:
    with pytest.raises(RuntimeError, match="before start"):
        await session_of("one").wait()


async def test_wait_twice_returns_the_same_object(session_of: Make) -> None:
    session = session_of("one").start()

    assert await session.wait() is await session.wait() is session.discussion.conversation


async def test_a_cancelled_wait_leaves_the_session_running(session_of: Make) -> None:
    session = session_of("one", sentence_s=5.0).start()
    with anyio.move_on_after(1.0):
        await session.wait()

    assert session.state["running"] is True
    await session.wait()
    assert ["one"] == voice_of(session).completed


async def test_wait_after_stop_returns(session_of: Make) -> None:
    session = session_of("one", sentence_s=5.0).start()
    await until_floor(session, Floor.SPEAKING)

    assert await session.stop() is await session.wait()


# -- stop


class CountingVoice(SilentVoice):
    def __init__(self, *args: float) -> None:
        super().__init__(*args)
        self.closes = 0

    async def aclose(self) -> None:
        self.closes += 1
        await super().aclose()


async def test_stop_twice_at_once_and_again_is_one_stop() -> None:
    voice = CountingVoice(5.0)
    session = Session(ScriptedListener(["one"]), EchoResponder(), voice).start()
    await until_floor(session, Floor.SPEAKING)
    results = []

    async def stop() -> None:
        results.append(await session.stop())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(stop)
        tasks.start_soon(stop)
    results.append(await session.stop())

    assert all(result is results[0] for result in results)
    assert (1, False) == (voice.closes, voice.speaking)
    assert voice.stops >= 1
    assert all(part.closed for part in parts_of(session))


async def test_stop_in_the_third_sentence_keeps_the_two_that_were_heard(session_of: Make) -> None:
    session = session_of("word", sentences=9, sentence_s=1.0).start()
    await until_floor(session, Floor.SPEAKING)
    await anyio.sleep(2.5)

    agent = (await session.stop()).utterances[-1]

    assert ("agent", "word word (2) word", True) == (agent.speaker, agent.text, agent.interrupted)
    assert agent.said.startswith("word word (2) word (3) word (4)")


class StubbornVoice(SilentVoice):
    """Swallows its cancellation, and does not listen to stop."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go = anyio.Event()

    async def speak(self, sentence: str) -> SpokenSentence:
        while not self.let_go.is_set():
            try:
                await self.let_go.wait()
            except anyio.get_cancelled_exc_class():
                continue
        return SpokenSentence(sentence, cut=True)


class HangingVoice(SilentVoice):
    async def aclose(self) -> None:
        await anyio.sleep_forever()


async def test_a_voice_that_hangs_in_speak_cannot_hang_stop() -> None:
    class DeafVoice(SilentVoice):
        async def speak(self, sentence: str) -> SpokenSentence:
            await anyio.sleep_forever()
            raise AssertionError

    session = Session(ScriptedListener(["one"]), EchoResponder(), DeafVoice()).start()
    await until_floor(session, Floor.SPEAKING)
    before = anyio.current_time()
    await session.stop()

    assert anyio.current_time() - before < 1.0


async def test_a_hanging_part_is_reported_and_the_others_are_closed() -> None:
    session = Session(ScriptedListener(["one"]), EchoResponder(), HangingVoice()).start()
    before = anyio.current_time()
    await session.stop()
    ended = await anext(session.events())

    assert anyio.current_time() - before < 1.0
    assert "voice did not close within" in ended.data["error"]
    assert [True, True, False] == [part.closed for part in parts_of(session)]


async def test_a_part_that_fails_to_close_is_reported_and_the_others_are_closed() -> None:
    class FailingResponder(EchoResponder):
        async def aclose(self) -> None:
            raise OSError("cable pulled")

    session = Session(ScriptedListener(["one"]), FailingResponder(), SilentVoice()).start()
    await session.stop()

    assert "cable pulled" in (await anext(session.events())).data["error"]
    assert [True, False, True] == [part.closed for part in parts_of(session)]


# -- failure


class FailingResponder(EchoResponder):
    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        yield "first sentence"
        raise ConnectionError("the model went away")


async def test_a_responder_that_fails_after_one_sentence() -> None:
    session = Session(ScriptedListener(["hello"]), FailingResponder(), SilentVoice(1.0)).start()
    with pytest.raises(ConnectionError, match="the model went away"):
        await session.wait()
    ended = await anext(session.events())

    assert {"reason": "failed", "error": "the model went away"} == ended.data
    assert "first sentence" == session.discussion.conversation.utterances[-1].text
    assert Floor.IDLE is session.floor
    assert all(part.closed for part in parts_of(session))


async def test_a_failing_listener_ends_the_session_with_its_error() -> None:
    class FailingListener(ScriptedListener):
        async def utterances(self) -> AsyncIterator[Utterance]:
            yield Utterance("user", "hello")
            raise OSError("no microphone")

    session = Session(FailingListener([]), EchoResponder(), SilentVoice()).start()
    with pytest.raises(OSError, match="no microphone"):
        await session.wait()


async def test_a_failing_voice_keeps_what_was_heard_before() -> None:
    class FragileVoice(SilentVoice):
        async def speak(self, sentence: str) -> SpokenSentence:
            if sentence.endswith("(2)"):
                raise OSError("device lost")
            return await super().speak(sentence)

    session = Session(ScriptedListener(["hello"]), EchoResponder(3), FragileVoice()).start()
    with pytest.raises(OSError, match="device lost"):
        await session.wait()

    assert "hello" == session.discussion.conversation.utterances[-1].text


async def test_a_broken_onset_detector_is_an_error_and_no_barge_in() -> None:
    class BrokenOnset(ScriptedListener):
        async def speech_started(self) -> None:
            raise ValueError("no samples")

    session = Session(BrokenOnset(["hello"]), EchoResponder(), SilentVoice(5.0)).start()
    events = session.events("interruption")
    with pytest.raises(ValueError, match="no samples"):
        await session.wait()

    assert [] == await kinds_of(events)


async def test_no_task_is_left_after_a_natural_end(session_of: Make) -> None:
    session = session_of("one", sentences=3).start()
    await session.wait()

    assert not session._talk.running
    assert not session._supervisor.running
    assert all(part.closed for part in parts_of(session))


# -- doors from outside


async def test_a_typed_turn_is_answered_and_an_announcement_spoken(session_of: Make) -> None:
    session = session_of(stays_open=True, sentence_s=0.1).start()
    await until_floor(session, Floor.LISTENING)
    await session.say("typed")
    await session.speak("announced")
    await until_floor(session, Floor.SPEAKING)
    await anyio.sleep(1.0)
    await session.stop()

    texts = [(u.speaker, u.text) for u in session.discussion.conversation.utterances]
    assert [("user", "typed"), ("agent", "typed"), ("agent", "announced")] == texts


async def test_saying_something_to_a_session_that_does_not_run_raises(session_of: Make) -> None:
    with pytest.raises(RuntimeError, match="not running"):
        await session_of().say("hello")


async def test_muting_a_listener_without_a_microphone_raises(session_of: Make) -> None:
    with pytest.raises(RuntimeError, match="no microphone"):
        await session_of().mute(True)


@pytest.mark.parametrize("speaker", ["bot", "User", "", None])
def test_utterance_of_refuses_any_other_speaker(speaker: Any) -> None:
    with pytest.raises(ValueError, match="speaker"):
        utterance_of(speaker, "hi")


def test_utterance_of_takes_user_and_agent() -> None:
    assert Utterance("agent", "hi", 1.0, 1.0) == utterance_of("agent", "hi", 1.0)


@pytest.mark.parametrize("bad", ["short", "has space in it", "x" * 65, "../../etc/passwd", 5, b"12345678"])
def test_an_id_from_outside_is_checked(bad: Any) -> None:
    with pytest.raises(ValueError, match="id"):
        Session(ScriptedListener([]), EchoResponder(), SilentVoice(), id=bad)


def test_ids_are_url_safe_and_differ(session_of: Make) -> None:
    ids = {session_of().id for _ in range(100)}

    assert 100 == len(ids)
    assert all(re.fullmatch("[A-Za-z0-9_-]{16,64}", each) for each in ids)


async def test_state_holds_what_a_watcher_needs(session_of: Make) -> None:
    session = session_of("one", sentence_s=2.0).start()
    await until_floor(session, Floor.SPEAKING)
    await anyio.sleep(1.0)
    state = session.state

    keys = {"id", "title", "kind", "floor", "running", "elapsed_s", "utterances", "timings", "interruption_rate"}
    keys |= {"speculation", "shed", "turn_policy", "attention", "live", "decisions"}
    assert keys == set(state)
    assert ("voice", "speaking", True, 1.0) == (state["kind"], state["floor"], state["running"], state["elapsed_s"])
    await session.stop()


@pytest.mark.parametrize("fails", [False, True], ids=["finished", "failed"])
async def test_the_state_of_one_that_has_ended_says_why(session_of: Make, fails: bool) -> None:
    session = Session(ScriptedListener(["hello"]), FailingResponder(), SilentVoice()) if fails else session_of("one")
    with suppress(ConnectionError):
        await session.start().wait()
    ended = await anext(session.events())

    told = {"reason": "failed", "error": "the model went away"} if fails else {"reason": "finished"}
    assert told == {key: value for key, value in session.state.items() if key in ("reason", "error")} == ended.data
    assert session.state["running"] is False


async def test_the_state_says_whether_anything_is_heard() -> None:
    class Awake(ScriptedListener):
        async def utterances(self) -> AsyncIterator[Utterance]:
            assert self._reporter is not None
            for state in ("asleep", "awake"):
                self._reporter.report("attention", state=state, why="a test")
                yield Utterance("user", state)

    session = Session(Awake([]), EchoResponder(), SilentVoice(1.0), Policy(turn_policy="wake_word"))
    states = [session.state]
    session.start()
    for _ in range(2):
        await until_floor(session, Floor.SPEAKING)
        states.append(session.state)
        await until_floor(session, Floor.LISTENING)
    await session.wait()
    states.append(session.state)

    assert ["", "asleep", "awake", ""] == [state["attention"] for state in states]
    assert {"wake_word"} == {state["turn_policy"] for state in states}


async def test_turns_are_stored_before_they_are_answered() -> None:
    stored: list[tuple[str, str, Floor]] = []

    class Thread:
        async def append(self, utterance: Utterance) -> None:
            stored.append((utterance.speaker, utterance.text, session.floor))

    session = Session(ScriptedListener(["hi"]), EchoResponder(), SilentVoice(), Policy(), thread=Thread()).start()
    await session.wait()

    assert [("user", "hi", Floor.THINKING), ("agent", "hi", Floor.SPEAKING)] == stored


# -- the registry


async def test_the_registry_holds_sessions(session_of: Make) -> None:
    sessions: Sessions[Session] = Sessions()
    first, second = sessions.add(session_of(stays_open=True)), sessions.add(session_of(stays_open=True))
    first.start()
    second.start()

    assert first is sessions.get(first.id)
    assert ([first.id, second.id], 2) == (sessions.ids(), len(sessions))
    assert await sessions.remove(first.id) is first.discussion.conversation
    assert ([second.id], None) == (sessions.ids(), sessions.get(first.id))
    assert await sessions.remove("unknown") is None
    await sessions.aclose()
    await sessions.aclose()
    assert 0 == len(sessions)


async def test_an_ended_session_stays_readable_and_then_goes(session_of: Make) -> None:
    sessions: Sessions[Session] = Sessions(kept_s=600.0)
    session = sessions.add(session_of("one").start())
    await session.wait()

    assert ([], session) == (sessions.ids(), sessions.get(session.id))
    await anyio.sleep(599.0)
    assert session is sessions.get(session.id)
    await anyio.sleep(2.0)
    assert sessions.get(session.id) is None


async def test_two_sessions_with_one_id_are_refused() -> None:
    sessions: Sessions[Session] = Sessions()
    twins = [Session(ScriptedListener([]), EchoResponder(), SilentVoice(), id="same-id-1") for _ in range(2)]
    sessions.add(twins[0])

    with pytest.raises(ValueError, match="same-id-1"):
        sessions.add(twins[1])


async def test_closing_the_registry_closes_the_rest_when_one_hangs(session_of: Make) -> None:
    sessions: Sessions[Session] = Sessions()
    hanging = sessions.add(Session(ScriptedListener([], stays_open=True), EchoResponder(), HangingVoice()))
    others = [sessions.add(session_of(stays_open=True)) for _ in range(3)]
    for session in [hanging, *others]:
        session.start()
    before = anyio.current_time()
    await sessions.aclose()

    assert anyio.current_time() - before < 1.0
    assert all(part.closed for session in others for part in parts_of(session))


async def test_adding_a_session_looks_at_the_others_no_more_than_once_a_second(session_of: Make) -> None:
    sessions: Sessions[Session] = Sessions(kept_s=10.0)
    looked = 0

    class Counted(Session):
        @property
        def ended(self) -> bool:
            nonlocal looked
            looked += 1
            return self.over

        @ended.setter
        def ended(self, value: bool) -> None:
            self.over = value

    for _ in range(100):
        sessions.add(Counted(ScriptedListener([]), EchoResponder(), SilentVoice()))

    assert looked < 300


async def test_typed_turns_that_were_not_answered_before_the_end_are_on_record_and_stored() -> None:
    stored: list[str] = []

    class Thread:
        async def append(self, utterance: Utterance) -> None:
            stored.append(utterance.text)

    listener = ScriptedListener([], stays_open=True)
    session = Session(listener, EchoResponder(), SilentVoice(5.0), thread=Thread()).start()
    events = session.events("utterance", "floor")
    for text in ("one", "two", "three"):
        await session.say(text)
    await until_floor(session, Floor.SPEAKING)
    conversation = await session.stop()

    assert ["one", "", "two", "three"] == [utterance.text for utterance in conversation.utterances]
    assert ["one", "", "two", "three"] == stored
    told = [event.data.get("text", event.data.get("floor")) async for event in events if event.kind != "ended"]
    assert ["two", "three", "idle"] == told[-3:]


async def test_a_key_is_pressed_only_while_the_session_runs() -> None:
    class Key(ScriptedListener):
        pressed = 0

        async def press(self) -> None:
            self.pressed += 1

        async def release(self) -> None:
            self.pressed -= 1

    listener = Key(["hello"])
    session = Session(listener, EchoResponder(), SilentVoice())
    for _ in ("before the start", "after the end"):
        for call in (session.press, session.release):
            with pytest.raises(RuntimeError, match="not running"):
                await call()
        if not session.started:
            await session.start().wait()
    assert listener.pressed == 0
