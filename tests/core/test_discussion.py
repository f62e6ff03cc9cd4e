"""The loop."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, cast

import anyio
import pytest

from discussion_helper.discussion import Discussion
from discussion_helper.errors import SettingError
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.types import Floor, Message, Policy, SpokenSentence, SpokenUtterance, Utterance

pytestmark = pytest.mark.anyio

Make = Callable[..., Session]


def agent_turns(session: Session) -> list[tuple[str, bool]]:
    return [(u.text, u.interrupted) for u in session.discussion.conversation.utterances if u.speaker == "agent"]


def spoken(session: Session) -> list[str]:
    return cast(SilentVoice, session.discussion.voice).spoken


async def test_a_discussion_is_a_coroutine_that_closes_its_parts() -> None:
    parts = ScriptedListener(["hello"]), EchoResponder(), SilentVoice()
    async with Discussion(*parts) as discussion:
        conversation = await discussion.run()

    assert ["hello", "hello"] == [u.text for u in conversation.utterances]
    assert ("finished", Floor.IDLE) == (discussion.reason, conversation.floor)
    assert all(part.closed for part in parts)


async def test_a_cancelled_discussion_keeps_what_was_heard_and_is_the_callers_own_cancellation() -> None:
    voice = SilentVoice(4.0)
    discussion = Discussion(ScriptedListener(["one two three four"]), EchoResponder(), voice)
    with anyio.move_on_after(2.0) as scope:
        await discussion.run()

    assert scope.cancelled_caught
    last = discussion.conversation.utterances[-1]
    assert ("one two", True) == (last.text, last.interrupted)
    assert (False, 1) == (voice.speaking, voice.stops)


async def test_an_interrupted_turn_is_not_a_cancellation(session_of: Make) -> None:
    session = session_of("hello", "again", sentence_s=5.0, onset_s=1.0).start()

    assert await session.wait() is session.discussion.conversation
    assert "finished" == session.discussion.reason


async def test_blank_turns_are_skipped(session_of: Make) -> None:
    session = session_of("", "   ", "real").start()
    await session.wait()

    assert ["real", "real"] == [u.text for u in session.discussion.conversation.utterances]


class SlowResponder(EchoResponder):
    """One sentence at once, the second after an hour."""

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        yield "first"
        await anyio.sleep(3600.0)
        yield "second"


async def test_a_cap_does_not_wait_for_the_sentence_after_it() -> None:
    session = Session(ScriptedListener(["hi"]), SlowResponder(), SilentVoice(), Policy(max_reply_sentences=1)).start()
    before = anyio.current_time()
    await session.wait()

    assert anyio.current_time() - before < 1.0


async def test_a_cap_of_two_takes_two_sentences(session_of: Make) -> None:
    session = session_of("hi", sentences=9, sentence_s=0.2, max_reply_sentences=2).start()
    before = anyio.current_time()
    await session.wait()

    assert [("hi hi (2)", False)] == agent_turns(session)
    assert anyio.current_time() - before < 0.55


# -- silence


async def test_silence_ends_the_session(session_of: Make) -> None:
    session = session_of(stays_open=True, silence_timeout_s=5.0).start()
    events = session.events("ended")
    before = anyio.current_time()
    await session.wait()

    assert 5.0 == pytest.approx(anyio.current_time() - before, abs=0.2)
    assert "silence" == (await anext(events)).data["reason"]


async def test_silence_never_ends_a_session_while_somebody_is_speaking() -> None:
    class LongTurn(ScriptedListener):
        async def speech_started(self) -> None:
            if anyio.current_time() - began > 60.0:
                await anyio.sleep_forever()

    began = anyio.current_time()
    session = Session(
        LongTurn(["a very long turn"], pace_s=50.0), EchoResponder(), SilentVoice(), Policy(silence_timeout_s=5.0)
    ).start()
    await session.wait()

    assert [("a very long turn", False)] == agent_turns(session)


async def test_the_reply_does_not_count_as_silence(session_of: Make) -> None:
    session = session_of("hi", "again", sentence_s=60.0, pace_s=1.0, silence_timeout_s=5.0).start()
    await session.wait()

    assert [("hi", False), ("again", False)] == agent_turns(session)


# -- barge-in


class Onsets(ScriptedListener):
    """Reports speech at `begins_s` of a reply, until `ends_s`; heard once only."""

    def __init__(self, begins_s: float, ends_s: float, turns: Sequence[str]) -> None:
        super().__init__(turns)
        self._begins_s, self._ends_s = begins_s, ends_s
        self._called_at: float | None = None

    async def speech_started(self) -> None:
        if self._called_at is None:
            self._called_at = anyio.current_time()
        elapsed = anyio.current_time() - self._called_at
        if elapsed >= self._ends_s:
            await anyio.sleep_forever()
        await anyio.sleep(max(0.0, self._begins_s - elapsed))


async def test_an_onset_inside_the_grace_counts_after_it_while_the_user_goes_on() -> None:
    session = Session(Onsets(0.1, 9.0, ["one two"]), EchoResponder(), SilentVoice(2.0)).start()
    events = session.events("interruption")
    await session.wait()

    assert 0.35 == pytest.approx((await anext(events)).at_s)


async def test_an_onset_that_is_over_before_the_grace_is_does_not_count() -> None:
    session = Session(Onsets(0.1, 0.3, ["one two"]), EchoResponder(), SilentVoice(2.0)).start()
    await session.wait()

    assert [("one two", False)] == agent_turns(session)


async def test_the_grace_counts_from_the_first_audio() -> None:
    session = Session(Onsets(0.1, 9.0, ["one two"]), EchoResponder(), SilentVoice(2.0, first_audio_s=3.0)).start()
    events = session.events("interruption")
    await session.wait()

    assert 3.35 == pytest.approx((await anext(events)).at_s)


async def test_no_barge_in_where_the_policy_forbids_it(session_of: Make) -> None:
    session = session_of("one two", sentence_s=5.0, onset_s=1.0, allow_barge_in=False).start()
    await session.wait()

    assert [("one two", False)] == agent_turns(session)


async def test_a_reply_that_a_noise_cut_goes_on_within_two_seconds() -> None:
    class Cough(Onsets):
        async def utterances(self) -> AsyncIterator[Utterance]:
            yield Utterance("user", "question")
            await anyio.sleep(60.0)

    session = Session(Cough(1.0, 1.2, []), EchoResponder(3), SilentVoice(2.0)).start()
    await session.wait()
    first, rest = [u for u in session.discussion.conversation.utterances if u.speaker == "agent"]

    assert first.interrupted
    assert ("question question (2) question (3)", False) == (rest.text, rest.interrupted)
    assert rest.started_s - first.ended_s <= 2.0


async def test_a_turn_without_words_lets_the_cut_reply_go_on_at_once() -> None:
    class Cough(Onsets):
        async def utterances(self) -> AsyncIterator[Utterance]:
            yield Utterance("user", "question")
            yield Utterance("user", "")
            await anyio.sleep(60.0)

    session = Session(Cough(1.0, 1.2, []), EchoResponder(), SilentVoice(2.0)).start()
    await session.wait()
    first, rest = [u for u in session.discussion.conversation.utterances if u.speaker == "agent"]

    assert rest.started_s - first.ended_s < 0.1


async def test_a_noise_from_before_the_reply_does_not_let_it_go_on_over_who_cut_it() -> None:
    class Cough(Onsets):
        async def utterances(self) -> AsyncIterator[Utterance]:
            await anyio.sleep(1.0)
            yield Utterance("user", "question", 0.1, 1.0)
            yield Utterance("user", "", 0.8, 0.9)
            await anyio.sleep(60.0)

    policy = Policy(barge_in_resume_after_s=1.5)
    session = Session(Cough(1.0, 1.2, []), EchoResponder(), SilentVoice(2.0), policy).start()
    await session.wait()
    first, rest = [u for u in session.discussion.conversation.utterances if u.speaker == "agent"]

    assert rest.started_s - first.ended_s >= 1.5


async def test_stop_alone_is_on_record_and_not_answered_and_the_rest_is_there_for_go_on() -> None:
    class Stops(Onsets):
        async def utterances(self) -> AsyncIterator[Utterance]:
            yield Utterance("user", "question")
            yield SpokenUtterance("user", "Stop.", wants_answer=False)
            await anyio.sleep(10.0)
            yield Utterance("user", "go on")

    responder = EchoResponder(3)
    session = Session(Stops(1.0, 1.2, []), responder, SilentVoice(2.0)).start()
    await anyio.sleep(8.0)
    assert ["user", "agent", "user"] == [u.speaker for u in session.discussion.conversation.utterances]
    assert Floor.LISTENING is session.floor
    await session.wait()

    assert 1 == len(responder.seen)
    assert ["Stop.", "go on"] == [u.text for u in session.discussion.conversation.utterances if u.speaker == "user"][1:]
    assert "agent" == session.discussion.conversation.utterances[-1].speaker


async def test_a_cut_reply_waits_while_the_user_speaks_and_is_forgotten_when_a_turn_comes() -> None:
    class Interrupter(Onsets):
        async def utterances(self) -> AsyncIterator[Utterance]:
            yield Utterance("user", "question")
            await anyio.sleep(14.2)
            yield Utterance("user", "no wait")

    session = Session(Interrupter(1.0, 15.0, []), EchoResponder(), SilentVoice(2.0), Policy(barge_in_grace_s=0)).start()
    await session.wait()

    assert ["question", "no wait"] == spoken(session)


async def test_what_was_heard_while_only_the_agent_was_audible_is_not_answered() -> None:
    class Echo(ScriptedListener):
        async def utterances(self) -> AsyncIterator[Utterance]:
            yield Utterance("user", "question")
            yield Utterance("user", "echo of the answer", 0.5, 1.5)
            yield Utterance("user", "real", 1.8, 2.4)

    session = Session(Echo([]), EchoResponder(), SilentVoice(2.0)).start()
    decisions = session.events("decision")
    await session.wait()

    assert ["question", "real"] == spoken(session)
    told = {"started_s": 0.5, "ended_s": 1.5, "text": "echo of the answer", "what": "ignored", "why": "echo"}
    assert told == (await anext(decisions)).data


async def test_what_the_listener_has_decided_about_is_no_echo_though_only_the_agent_was_audible() -> None:
    class Answering(ScriptedListener):
        async def utterances(self) -> AsyncIterator[Utterance]:
            yield Utterance("user", "question")
            yield SpokenUtterance("user", "yes", 0.5, 1.5, decided=True)

    session = Session(Answering([]), EchoResponder(), SilentVoice(2.0)).start()
    await session.wait()

    assert ["question", "yes"] == spoken(session)


async def test_what_was_measured_of_a_turn_is_not_kept_with_the_transcript() -> None:
    class Measuring(ScriptedListener):
        async def utterances(self) -> AsyncIterator[Utterance]:
            for number in range(3):
                yield SpokenUtterance("user", f"turn {number}", measured={"level_dbfs": -20.0 - number})
            yield SpokenUtterance("user", "stop", wants_answer=False, measured={"level_dbfs": -30.0})

    session = Session(Measuring([]), EchoResponder(), SilentVoice(0.1)).start()
    conversation = await session.wait()

    kept = [turn for turn in conversation.utterances if isinstance(turn, SpokenUtterance)]
    assert ["turn 0", "turn 1", "turn 2", "stop"] == [turn.text for turn in kept]
    assert {} == {turn.text: turn.measured for turn in kept if turn.measured}
    assert 1 == len({id(turn.measured) for turn in kept})


async def test_the_model_is_told_what_was_heard(session_of: Make) -> None:
    session = session_of("one two three four", "next", sentence_s=4.0, onset_s=2.0).start()
    await session.wait()

    seen = cast(EchoResponder, session.discussion.responder).seen
    cut = {"role": "assistant", "content": "one two", "interrupted": True, "unheard": "three four"}
    assert cut == seen[1][1]


# -- the voice's look-ahead


class PreparingVoice(SilentVoice):
    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.log: list[str] = []

    async def prepare(self, sentence: str) -> None:
        self.log.append(f"prepare {sentence}")

    async def speak(self, sentence: str) -> SpokenSentence:
        self.log.append(f"speak {sentence}")
        return await super().speak(sentence)


async def test_the_next_sentence_is_prepared_while_one_plays() -> None:
    voice = PreparingVoice(1.0)
    await Session(ScriptedListener(["a"]), EchoResponder(3), voice).start().wait()

    assert ["speak a", "prepare a (2)", "speak a (2)", "prepare a (3)", "speak a (3)"] == voice.log


async def test_the_first_sentence_is_spoken_without_waiting_for_the_second() -> None:
    voice = SilentVoice(1.0)
    session = Session(ScriptedListener(["hi"]), SlowResponder(), voice).start()
    await anyio.sleep(0.5)

    assert ["first"] == voice.spoken
    await session.stop()


# -- timings and warm-up


async def test_all_four_stages_are_measured() -> None:
    turn = SpokenUtterance("user", "hi", 0.0, 0.0, endpoint_s=0.5, recognise_s=0.25)
    session = Session(ScriptedListener([turn]), EchoResponder(1, delay_s=0.125), SilentVoice(1.0, first_audio_s=0.0625))
    await session.start().wait()
    timing = session.discussion.conversation.timings[0]

    assert (0.5, 0.25, 0.125, 0.0625) == (timing.endpoint_s, timing.recognise_s, timing.think_s, timing.speak_s)
    assert (0.9375, "endpoint") == (timing.to_first_audio_s, timing.slowest_stage)


async def test_warm_up_runs_beside_listening() -> None:
    class Warming(EchoResponder):
        warmed = False

        async def warmup(self) -> None:
            await anyio.sleep(30.0)
            self.warmed = True

    responder = Warming()
    session = Session(ScriptedListener(["hi"]), responder, SilentVoice()).start()
    await session.wait()

    assert not responder.warmed
    assert [("hi", False)] == agent_turns(session)


async def test_a_failing_warm_up_ends_the_session_with_its_error() -> None:
    class NoModel(EchoResponder):
        async def warmup(self) -> None:
            raise FileNotFoundError("no model")

    session = Session(ScriptedListener([], stays_open=True), NoModel(), SilentVoice()).start()
    with pytest.raises(FileNotFoundError, match="no model"):
        await session.wait()


async def test_a_reply_without_a_word_leaves_the_floor_to_the_user(session_of: Make) -> None:
    session = session_of("hi", "again", sentences=0).start()
    await session.wait()

    assert ["user", "user"] == [u.speaker for u in session.discussion.conversation.utterances]


async def test_each_sentence_is_told_when_the_voice_gets_it(session_of: Make) -> None:
    session = session_of("one", sentences=2, sentence_s=1.0).start()
    async with session.events("partial", "utterance") as events:
        await session.wait()
        told = [(round(e.at_s), e.kind, e.data["speaker"], e.data["text"]) async for e in events if e.kind != "gap"]

    assert [
        (0, "utterance", "user", "one"),
        (0, "partial", "agent", "one"),
        (1, "partial", "agent", "one (2)"),
        (2, "utterance", "agent", "one one (2)"),
    ] == told


class _CuttingVoice(SilentVoice):
    def clauses(self, text: str) -> list[str]:
        return [f"{part}." for part in text.split(".") if part]


async def test_an_announcement_is_spoken_in_the_pieces_that_the_voice_wants_whatever_the_cap_of_a_reply() -> None:
    voice = _CuttingVoice()
    listener = ScriptedListener([], stays_open=True)
    session = Session(listener, EchoResponder(), voice, Policy(max_reply_sentences=1)).start()
    async with session.events("utterance") as events:
        await session.speak("First.Second.Third.")
        told = await anext(events)
    await session.stop()

    assert ["First.", "Second.", "Third."] == voice.completed
    assert "First. Second. Third." == told.data["text"]


@pytest.mark.parametrize(
    ("position", "named"), [(0, "listener: NoneType has no utterances"), (1, "responder"), (2, "voice")]
)
async def test_what_is_no_part_is_refused_at_once(position: int, named: str) -> None:
    parts: list[Any] = [ScriptedListener([]), EchoResponder(), SilentVoice()]
    parts[position] = None

    with pytest.raises(SettingError, match=named):
        Session(*parts)


@pytest.mark.parametrize(("name", "value"), [("policy", {}), ("policy", 0), ("thread", object())])
async def test_what_is_no_policy_and_no_thread_is_refused_at_once(name: str, value: Any) -> None:
    unchecked: Any = Session  # as somebody without a type checker would call it
    with pytest.raises(SettingError, match=name):
        unchecked(ScriptedListener([]), EchoResponder(), SilentVoice(), **{name: value})
