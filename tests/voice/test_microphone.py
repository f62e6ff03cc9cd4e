"""The listener on a microphone."""

from dataclasses import replace
from typing import Any, Self

import anyio
import numpy as np
import pytest

from discussion_helper.audio.frames import Samples
from discussion_helper.errors import DeviceError
from discussion_helper.not_understood import SLOW_S
from discussion_helper.parts import Listener, Mutable
from discussion_helper.session import Session
from discussion_helper.stt.base import Recognised
from discussion_helper.testing import EchoResponder, SilentVoice
from discussion_helper.turn.turns import TurnEnded, TurnPaused, TurnResumed, TurnStarted
from discussion_helper.types import Policy, SpokenUtterance, Utterance
from discussion_helper.voice.deciding import RESPONSE, Words
from discussion_helper.voice.echo_text import LATELY_S
from discussion_helper.voice.lexicon import Lexicon
from discussion_helper.voice.microphone import ANSWER_S, MicrophoneListener
from discussion_helper.voice.not_understood import SLOW
from discussion_helper.voice.notes import Decided, Ducked, Level, Muted, Note, Onset, Turn, WordsWanted
from discussion_helper.voice.ports import Ears
from discussion_helper.voice.turn_reader import GIVE_UP_S

pytestmark = pytest.mark.anyio


class FakeMicrophone:
    def __init__(self) -> None:
        self.opens = self.closes = 0
        self.speaking = self.half_duplex = False
        self.told: list[Words] = []

    async def open_microphone(self, ears: Ears) -> str:
        self.opens += 1
        return "fake [test]"

    async def close_microphone(self) -> None:
        self.closes += 1

    def words(self, words: Words) -> None:
        self.told.append(words)

    def go_half_duplex(self) -> None:
        self.half_duplex = True

    def key(self, *, down: bool, at_s: float) -> None: ...


class FakeRecogniser:
    """Takes `takes_s` for the next of `texts`."""

    def __init__(self, *texts: str, takes_s: float = 0.2) -> None:
        self.texts, self.takes_s = list(texts), takes_s
        self.calls = 0
        self.heard: list[Samples] = []
        self.closed = False

    async def recognise(self, samples: Samples, *, voiced_s: float | None = None) -> Recognised:
        self.calls += 1
        self.heard.append(samples)
        await anyio.sleep(self.takes_s)
        text = self.texts.pop(0)
        return Recognised(text, refused="" if text else "nobody spoke")

    async def warmup(self) -> None: ...

    async def aclose(self) -> None:
        self.closed = True


SAMPLES = np.zeros(16, np.float32)


def note(event: Any, *, voiced_until_s: float = 0.0) -> Turn:
    return Turn(event, anyio.current_time(), max(0.0, voiced_until_s - 1.0), voiced_until_s)


async def turn(listener: MicrophoneListener, *, end: int = 100, silence_s: float = 0.5) -> None:
    """Somebody speaks for a second, and is silent for `silence_s`."""
    listener.noted(note(TurnStarted(0)))
    await anyio.sleep(1.0)
    until_s = anyio.current_time()
    listener.noted(note(TurnPaused(SAMPLES, 0, end, 0.9), voiced_until_s=until_s))
    await anyio.sleep(silence_s)
    listener.noted(note(TurnEnded(SAMPLES, 0, end, 0.9), voiced_until_s=until_s))


class Heard:
    """A listener in a task, and what it heard."""

    def __init__(self, recogniser: FakeRecogniser, **options: Any) -> None:
        self.microphone, self.recogniser = FakeMicrophone(), recogniser
        self.listener = MicrophoneListener(recogniser, self.microphone, **options)
        self.utterances: list[Utterance] = []

    async def __aenter__(self) -> Self:
        self._tasks = await anyio.create_task_group().__aenter__()
        self._tasks.start_soon(self._listen)
        await anyio.sleep(0.01)
        return self

    async def __aexit__(self, *exc: Any) -> bool | None:
        await self.listener.aclose()
        return await self._tasks.__aexit__(*exc)

    async def _listen(self) -> None:
        self.utterances.extend([u async for u in self.listener.utterances()])


async def test_it_rests_when_no_turn_is_open_or_waits_for_its_text() -> None:
    async with Heard(FakeRecogniser("hello there", takes_s=5.0)) as heard:
        began_s = anyio.current_time()
        await heard.listener.rested()
        assert anyio.current_time() == began_s

        await turn(heard.listener)
        await heard.listener.rested()
        assert anyio.current_time() - began_s == pytest.approx(1.0 + 5.0, abs=0.01)
        await anyio.sleep(0.01)

    assert ["hello there"] == [utterance.text for utterance in heard.utterances]


async def test_it_is_a_listener_that_can_be_muted() -> None:
    listener = MicrophoneListener(FakeRecogniser(), FakeMicrophone())

    assert isinstance(listener, Listener)
    assert isinstance(listener, Mutable)


async def test_a_turn_of_the_agents_own_voice_is_not_recognised_and_is_no_turn() -> None:
    async with Heard(FakeRecogniser()) as heard:
        for event in (TurnStarted(0), TurnPaused(SAMPLES, 0, 100, 0.9), TurnEnded(SAMPLES, 0, 100, 0.9)):
            heard.listener.noted(replace(note(event), own=True))
        await anyio.sleep(0.01)

    assert [] == [utterance.text for utterance in heard.utterances]
    assert 0 == heard.recogniser.calls


async def test_what_was_begun_for_a_turn_that_proves_to_be_the_agents_own_is_thrown_away() -> None:
    async with Heard(FakeRecogniser("the old", takes_s=5.0)) as heard:
        heard.listener.noted(note(TurnStarted(0)))
        heard.listener.noted(note(TurnPaused(SAMPLES, 0, 100, 0.9)))
        await anyio.sleep(0.1)
        heard.listener.noted(replace(note(TurnEnded(SAMPLES, 0, 100, 0.9)), own=True))
        await anyio.sleep(0.01)

    assert [] == [utterance.text for utterance in heard.utterances]
    assert [] != heard.recogniser.texts, "it did not get that far"


async def test_recognition_begins_in_the_silence_and_costs_nothing_when_the_turn_ends() -> None:
    async with Heard(FakeRecogniser("hello", takes_s=0.3)) as heard:
        await turn(heard.listener, silence_s=0.5)
        await anyio.sleep(0.01)

    spoken: Any = heard.utterances[0]
    assert ("hello", 1) == (spoken.text, heard.recogniser.calls)
    assert 0.5 == pytest.approx(spoken.endpoint_s)
    assert 0.0 == pytest.approx(spoken.recognise_s, abs=0.01)


async def test_what_is_recognised_goes_on_with_the_mirror_image_of_its_tail() -> None:
    loud = np.full(16_000, 0.1, np.float32)
    samples = np.concatenate((loud, np.linspace(0.0, 0.001, 800, dtype=np.float32)))
    async with Heard(FakeRecogniser("hello")) as heard:
        heard.listener.noted(note(TurnEnded(samples, 0, len(samples), 1.0)))
        await anyio.sleep(0.3)

    assert np.array_equal(heard.recogniser.heard[0], np.concatenate((samples, samples[-800:][::-1])))


async def test_a_slow_recognition_is_measured_from_the_end_of_the_turn() -> None:
    async with Heard(FakeRecogniser("hello", takes_s=0.8)) as heard:
        await turn(heard.listener, silence_s=0.5)
        await anyio.sleep(1.0)

    spoken: Any = heard.utterances[0]
    assert 0.3 == pytest.approx(spoken.recognise_s, abs=0.01)


async def held(hears: Any, *, takes_s: float) -> tuple[list[tuple[str, str, float]], list[str]]:
    """Hold a session in which a turn is heard: what was decided, why and when, and the transcript."""
    recogniser = FakeRecogniser("hello", takes_s=takes_s)
    listener = MicrophoneListener(recogniser, FakeMicrophone())
    session = Session(listener, EchoResponder(), SilentVoice(0.2), apologies=lambda kind: f"{kind}?")
    events = session.events("decision")
    session.start()
    await anyio.sleep(0.01)
    began_s = session.discussion.clock.now()
    await hears(listener)
    await anyio.sleep(GIVE_UP_S + 2.0)
    conversation = await session.stop()
    told = [
        (event.data["what"], event.data["why"], round(event.at_s - began_s, 1))
        async for event in events
        if event.kind == "decision"
    ]
    return told, [utterance.text for utterance in conversation.utterances]


@pytest.mark.parametrize(
    ("takes_s", "said", "then"),
    [
        (5.0, ["hello", "hello"], ("turn", "words", 6.0)),
        (1e9, ["unclear?"], ("ignored", "not understood", 1.5 + GIVE_UP_S)),
    ],
    ids=["late", "never"],
)
async def test_a_reading_that_takes_long_is_waited_for_and_that_is_told(
    takes_s: float, said: list[str], then: tuple[str, str, float]
) -> None:
    told, heard = await held(turn, takes_s=takes_s)

    assert [("waiting", SLOW, 1.5 + SLOW_S), then] == told[:2]
    assert 1 == [what for what, *_ in told].count("waiting")
    assert said == heard


async def test_what_was_decided_a_while_ago_has_been_waited_for_since_then() -> None:
    async def late(listener: MicrophoneListener) -> None:
        listener.noted(replace(note(TurnEnded(SAMPLES, 0, 100, 0.9)), decided_at_s=anyio.current_time() - 1.5))

    told, _ = await held(late, takes_s=5.0)

    assert ("waiting", SLOW, SLOW_S - 1.5) == told[0]


@pytest.mark.parametrize(
    ("how", "said"),
    [({"ignored": "half duplex"}, []), ({"undecided": True}, ["hello", "hello"])],
    ids=["ignored", "undecided"],
)
async def test_nobody_is_told_to_wait_who_waits_for_nothing(how: dict[str, Any], said: list[str]) -> None:
    async def ignored(listener: MicrophoneListener) -> None:
        listener.noted(note(TurnStarted(0)))
        listener.noted(replace(note(TurnEnded(SAMPLES, 0, 100, 0.9)), **how))

    told, heard = await held(ignored, takes_s=5.0)

    assert "waiting" not in [what for what, *_ in told]
    assert said == heard


async def test_what_was_recognised_in_a_pause_is_thrown_away_when_the_user_goes_on() -> None:
    async with Heard(FakeRecogniser("hello wor", "hello world")) as heard:
        heard.listener.noted(note(TurnStarted(0)))
        heard.listener.noted(note(TurnPaused(SAMPLES, 0, 50, 0.4)))
        await anyio.sleep(0.25)
        heard.listener.noted(note(TurnResumed(60)))
        await turn(heard.listener, end=100)
        await anyio.sleep(0.3)

    assert (["hello world"], 2) == ([u.text for u in heard.utterances], heard.recogniser.calls)


async def test_a_turn_without_words_is_told_as_one() -> None:
    async with Heard(FakeRecogniser("")) as heard:
        await turn(heard.listener)
        await anyio.sleep(0.3)

    assert [""] == [u.text for u in heard.utterances]


async def test_the_agents_own_words_are_no_turn() -> None:
    spoken = ["The weather in Paris is lovely today."]
    async with Heard(FakeRecogniser("the weather in paris is lovely"), spoken=lambda *_: spoken) as heard:
        await turn(heard.listener)
        await anyio.sleep(0.3)

    assert [""] == [u.text for u in heard.utterances]


async def test_only_what_was_heard_in_the_seconds_before_it_is_what_a_turn_may_repeat() -> None:
    asked: list[tuple[float, float]] = []

    def spoken(from_s: float, until_s: float) -> list[str]:
        asked.append((from_s, until_s))
        return ["The weather in Paris is lovely today."] if from_s < 10.0 else []

    async with Heard(FakeRecogniser("the weather in paris is lovely"), spoken=spoken) as heard:
        await anyio.sleep(20.0 - anyio.current_time() % 1.0)
        await turn(heard.listener)
        said_s = anyio.current_time() - 0.5
        await anyio.sleep(0.3)

    assert ["the weather in paris is lovely"] == [u.text for u in heard.utterances]
    assert (said_s - 1.0 - LATELY_S, said_s) == pytest.approx(asked[-1])


async def test_speech_is_going_on_from_the_onset_until_its_text_is_there() -> None:
    async def speaking() -> bool:
        with anyio.move_on_after(0.05):
            await heard.listener.speech_started()
            return True
        return False

    async with Heard(FakeRecogniser("hello", takes_s=1.0)) as heard:
        before = await speaking()
        heard.listener.noted(note(TurnStarted(0)))
        started = await speaking()
        heard.listener.noted(Onset(0.0, 0.16))
        onset = await speaking()
        heard.listener.noted(note(TurnEnded(SAMPLES, 0, 100, 0.9)))
        recognising = await speaking()
        await anyio.sleep(1.1)
        after = await speaking()

    assert (False, False, True, True, False) == (before, started, onset, recognising, after)


async def test_muting_closes_the_device_and_unmuting_opens_it_again() -> None:
    async with Heard(FakeRecogniser()) as heard:
        await heard.listener.mute(True)
        await heard.listener.mute(True)
        muted = (heard.microphone.opens, heard.microphone.closes)
        await heard.listener.mute(False)

        assert ((1, 1), 2) == (muted, heard.microphone.opens)


async def test_a_microphone_muted_before_the_start_is_not_opened() -> None:
    microphone = FakeMicrophone()
    listener = MicrophoneListener(FakeRecogniser(), microphone)
    await listener.mute(True)
    session = Session(listener, EchoResponder(), SilentVoice()).start()
    await anyio.sleep(1.0)

    assert 0 == microphone.opens
    await session.stop()


async def test_a_lost_microphone_ends_the_session_with_its_error() -> None:
    listener = MicrophoneListener(FakeRecogniser(), FakeMicrophone())
    session = Session(listener, EchoResponder(), SilentVoice()).start()
    await anyio.sleep(0.1)
    listener.lost(DeviceError("The microphone went away.", fix="Connect it."))

    with pytest.raises(DeviceError, match="went away"):
        await session.wait()


async def test_a_failing_recogniser_ends_the_session_with_its_error() -> None:
    class Broken(FakeRecogniser):
        async def recognise(self, samples: Samples, *, voiced_s: float | None = None) -> Recognised:
            raise OSError("no model")

    listener = MicrophoneListener(Broken(), FakeMicrophone())
    session = Session(listener, EchoResponder(), SilentVoice()).start()
    await anyio.sleep(0.1)
    await turn(listener)

    with pytest.raises(OSError, match="no model"):
        await session.wait()


async def test_closing_releases_microphone_and_recogniser() -> None:
    async with Heard(FakeRecogniser()) as heard:
        await heard.listener.aclose()
        await heard.listener.aclose()

    assert (1, True) == (heard.microphone.closes, heard.recogniser.closed)


async def test_levels_silence_and_partial_texts_are_told_to_those_who_ask() -> None:
    listener = MicrophoneListener(FakeRecogniser("hello"), FakeMicrophone())
    session = Session(listener, EchoResponder(), SilentVoice(), Policy())
    fine = session.events("level", "device", "partial")
    session.start()
    await anyio.sleep(0.1)
    notes: list[Note] = [Level(-33.33), Muted(True), Muted(False)]
    for each in notes:
        listener.noted(each)
    await turn(listener)
    await session.stop()
    telling = ("state", "dbfs", "text")
    seen = [event async for event in fine]
    heard = [e for e in seen if e.kind != "partial" or e.data["speaker"] == "user"]
    told = [(e.kind, next(e.data[key] for key in telling if key in e.data)) for e in heard]

    devices = [("device", "open"), ("level", -33.3), ("device", "silent"), ("device", "open")]
    assert [*devices, ("partial", "hello")] == told


async def test_a_device_that_went_away_and_is_back_is_told() -> None:
    listener = MicrophoneListener(FakeRecogniser(), FakeMicrophone())
    session = Session(listener, EchoResponder(), SilentVoice(), Policy())
    fine = session.events("device")
    session.start()
    await anyio.sleep(0.1)
    listener.device("loudspeaker", "lost", fix="Connect it.")
    listener.device("loudspeaker", "open", name="box")
    await session.stop()
    told = [e.data async for e in fine if e.data["which"] == "loudspeaker"]

    assert [("lost", "Connect it."), ("open", None)] == [(data["state"], data.get("fix")) for data in told]


def decided(what: str, why: str) -> Decided:
    numbers: Any = {"voiced_s": 0.4, "ducked_s": 0.3, "level_dbfs": -20.0, "over_echo_db": 30.0}
    return Decided(at_s=0.0, started_at_s=1.0, voiced_until_s=1.5, what=what, why=why, **numbers)


async def over_the_agent(heard: Heard, verdict: Decided | None = None, **ended: Any) -> None:
    """Somebody says something over the agent, and it is decided what that is before the turn ends."""
    await over_the_agent_of(heard.listener, verdict, **ended)


async def over_the_agent_of(listener: MicrophoneListener, verdict: Decided | None, **ended: Any) -> None:
    listener.noted(note(TurnStarted(0)))
    listener.noted(Ducked(anyio.current_time(), 1))
    await anyio.sleep(0.4)
    listener.noted(note(TurnPaused(SAMPLES, 0, 100, 0.4)))
    await anyio.sleep(0.3)
    if verdict is not None:
        listener.noted(verdict)
    listener.noted(replace(note(TurnEnded(SAMPLES, 0, 100, 0.4)), **ended))


async def test_what_is_recognised_is_told_to_the_audio_thread_which_decides() -> None:
    async with Heard(FakeRecogniser("wait")) as heard:
        await over_the_agent(heard)
        await anyio.sleep(0.01)

    (words,) = heard.microphone.told
    assert ("wait", True, 0.4, False) == (words.text, words.final, words.voiced_s, words.echo)


async def test_a_turn_that_goes_on_is_read_when_its_words_are_wanted() -> None:
    async with Heard(FakeRecogniser("wait a", "wait a minute")) as heard:
        heard.listener.noted(note(TurnStarted(0)))
        heard.listener.noted(WordsWanted(SAMPLES, 0, 16, 0.4))
        await anyio.sleep(0.25)
        assert [("wait a", False)] == [(words.text, words.final) for words in heard.microphone.told]
        await turn(heard.listener)
        await anyio.sleep(0.01)

    assert ["wait a minute"] == [utterance.text for utterance in heard.utterances]


async def test_reading_a_turn_that_goes_on_gives_way_to_its_pause() -> None:
    async with Heard(FakeRecogniser("hello", takes_s=0.3)) as heard:
        heard.listener.noted(note(TurnStarted(0)))
        heard.listener.noted(WordsWanted(SAMPLES, 0, 16, 0.4))
        await anyio.sleep(0.1)
        heard.listener.noted(note(TurnPaused(SAMPLES, 0, 100, 0.4)))
        await anyio.sleep(0.31)

    assert ["hello"] == [words.text for words in heard.microphone.told]


@pytest.mark.parametrize("told", [True, False])
async def test_each_turn_is_decided_about_once(told: bool) -> None:
    session = Session(MicrophoneListener(FakeRecogniser("hello"), FakeMicrophone()), EchoResponder(), SilentVoice())
    listener: Any = session.discussion.listener
    async with session.events("decision") as decisions:
        session.start()
        await anyio.sleep(0.01)
        await over_the_agent_of(listener, decided("interruption", "words") if told else None, decided=told)
        await anyio.sleep(0.1)
        await session.stop()
        seen = [event.data["what"] async for event in decisions]

    assert (["interruption"] if told else ["turn"]) == seen


async def test_what_was_ignored_is_no_turn() -> None:
    async with Heard(FakeRecogniser("thank you")) as heard:
        await over_the_agent(heard, decided("ignored", "no speech"), ignored="no speech", decided=True)
        await anyio.sleep(0.01)

    assert [] == [utterance.text for utterance in heard.utterances]


async def test_a_turn_that_is_not_decided_yet_waits_for_it() -> None:
    async with Heard(FakeRecogniser("mm-hm")) as heard:
        await over_the_agent(heard, undecided=True)
        await anyio.sleep(0.1)
        assert [] == heard.utterances
        heard.listener.noted(decided("ignored", "no words"))
        await anyio.sleep(0.01)

    assert [] == [utterance.text for utterance in heard.utterances]


async def test_a_response_over_the_agent_is_none_while_it_goes_on_and_an_answer_when_it_was_at_its_end() -> None:
    for speaking, texts in ((True, []), (False, ["yes"])):
        async with Heard(FakeRecogniser("yes")) as heard:
            heard.microphone.speaking = speaking
            await over_the_agent(heard, decided("ignored", RESPONSE), ignored=RESPONSE, decided=True)
            await anyio.sleep(ANSWER_S + 0.01)

        assert texts == [utterance.text for utterance in heard.utterances]


async def test_a_response_keeps_no_turn_waiting_that_comes_after_it() -> None:
    async with Heard(FakeRecogniser("yes", "and then")) as heard:
        heard.microphone.speaking = True
        await over_the_agent(heard, decided("ignored", RESPONSE), ignored=RESPONSE, decided=True)
        await turn(heard.listener, end=200)
        await anyio.sleep(0.3)

    assert "and then" in [utterance.text for utterance in heard.utterances]


async def test_being_turned_down_is_no_onset_until_it_is_decided() -> None:
    async with Heard(FakeRecogniser("Paris")) as heard:
        heard.listener.noted(note(TurnStarted(0)))
        heard.listener.noted(Onset(0.0, 0.2))
        heard.listener.noted(Ducked(0.0, 1))
        with anyio.move_on_after(0.1) as waiting:
            await heard.listener.speech_started()
        assert waiting.cancelled_caught
        heard.listener.noted(Onset(0.0, 0.5))
        await heard.listener.speech_started()


async def test_who_waits_for_an_onset_while_the_agent_is_turned_down_goes_on_when_it_is_decided() -> None:
    async with Heard(FakeRecogniser()) as heard:
        with anyio.fail_after(1.0):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(heard.listener.speech_started)
                await anyio.sleep(0.01)
                heard.listener.noted(note(TurnStarted(0)))
                heard.listener.noted(Ducked(0.0, 1))
                await anyio.sleep(0.01)
                heard.listener.noted(Onset(0.0, 0.5))


async def test_who_waits_for_an_onset_misses_none_because_a_turn_without_one_has_ended() -> None:
    async with Heard(FakeRecogniser("")) as heard:
        with anyio.fail_after(5.0):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(heard.listener.speech_started)
                await anyio.sleep(0.01)
                await turn(heard.listener)
                await anyio.sleep(0.3)
                heard.listener.noted(Onset(0.0, 0.5))


async def test_an_interruption_that_is_decided_after_its_turn_wakes_who_waits_and_is_over() -> None:
    async with Heard(FakeRecogniser()) as heard, anyio.create_task_group() as tasks:
        begun = anyio.Event()

        async def wait() -> None:
            await heard.listener.speech_started()
            begun.set()

        tasks.start_soon(wait)
        await anyio.sleep(0.01)
        heard.listener.noted(Onset(0.0, 0.5))
        await begun.wait()
        with anyio.move_on_after(0.1) as waiting:
            await heard.listener.speech_started()
        assert waiting.cancelled_caught


async def test_an_agent_that_hears_itself_three_times_is_cut_off_from_its_microphone_with_a_fix() -> None:
    echo = "the museum opens at nine in the morning"
    microphone = FakeMicrophone()
    listener = MicrophoneListener(FakeRecogniser(*[echo] * 3), microphone, spoken=lambda *_: [echo])
    session = Session(listener, EchoResponder(), SilentVoice())
    async with session.events("decision") as decisions:
        session.start()
        await anyio.sleep(0.01)
        for number in range(3):
            assert not microphone.half_duplex
            await turn(listener, end=100 * number)
            await anyio.sleep(0.01)
        await session.stop()
        told = [event.data async for event in decisions]

    assert microphone.half_duplex
    assert ["half duplex"] == [data["what"] for data in told if "fix" in data]
    assert "headphones" in str(told)


@pytest.mark.parametrize(
    ("text", "what", "wanted"),
    [("Stop.", "interruption", False), ("Stop. And then?", "interruption", True), ("Stop.", "", True)],
)
async def test_stop_alone_over_the_agent_wants_no_answer(text: str, what: str, wanted: bool) -> None:
    async with Heard(FakeRecogniser(text), only_stops=Lexicon("en").only_stops) as heard:
        verdict = decided(what, "a stop word") if what else None
        await over_the_agent(heard, verdict, decided=bool(what))
        await anyio.sleep(0.01)

    (utterance,) = heard.utterances
    assert isinstance(utterance, SpokenUtterance)
    assert (text, wanted) == (utterance.text, utterance.wants_answer)


SEEN = {"what", "why", "started_s", "ended_s", "voiced_s", "level_dbfs", "over_echo_db"}
READ = {"text", "doubt", "score"}
ECHO = "the museum opens at nine in the morning"


class Decisions(Heard):
    """A listener whose decisions are told; its clock began 100 s before the event loop's."""

    def __init__(self, recogniser: FakeRecogniser, **options: Any) -> None:
        super().__init__(recogniser, **options)
        self.told: list[dict[str, Any]] = []
        self.listener.attach(self)

    def now(self) -> float:
        return self.of(anyio.current_time())

    def of(self, monotonic_s: float) -> float:
        return monotonic_s + 100.0

    def report(self, kind: str, /, **data: Any) -> None:
        self.told += [data] if kind == "decision" else []


@pytest.mark.parametrize(
    ("text", "ended", "what", "why"),
    [
        ("hello there", {}, "turn", "words"),
        ("", {}, "ignored", "nobody spoke"),
        (ECHO, {}, "ignored", "the agent's own words"),
        ("", {"own": True}, "ignored", "the agent's own voice"),
        ("hello there", {"ignored": "half duplex"}, "ignored", "half duplex"),
        ("hello there", {"undecided": True}, "turn", "words"),  # the reply was over before it was decided
    ],
)
async def test_a_turn_that_nobody_has_decided_about_is_told_with_all_that_was_known(
    text: str, ended: dict[str, Any], what: str, why: str
) -> None:
    async with Decisions(FakeRecogniser(text), spoken=lambda *_: [ECHO]) as heard:
        over = note(TurnEnded(SAMPLES, 0, 100, 0.93), voiced_until_s=3.0)
        heard.listener.noted(note(TurnStarted(0)))
        heard.listener.noted(replace(over, level_dbfs=-31.24, over_echo_db=18.76, **ended))
        await anyio.sleep(2.0)

    (told,) = heard.told
    assert (what, why) == (told["what"], told["why"])
    assert (102.0, 103.0, 0.93) == (told["started_s"], told["ended_s"], told["voiced_s"])
    assert (-31.2, 18.8) == (told["level_dbfs"], told["over_echo_db"])
    assert SEEN | (READ if text else set()) == set(told)
    assert not text or (text, 1.0 if text == ECHO else 0.0) == (told["text"], told["score"])


async def test_what_is_decided_over_the_agent_is_told_with_its_score_and_for_how_long_it_was_turned_down() -> None:
    async with Decisions(FakeRecogniser(ECHO), spoken=lambda *_: [ECHO]) as heard:
        verdict = replace(decided("ignored", "the agent's own words"), text=ECHO, doubt=0.314, score=1.0)
        await over_the_agent(heard, verdict, ignored=verdict.why, decided=True)
        await anyio.sleep(2.0)

    (told,) = heard.told
    assert SEEN | READ | {"ducked_s"} == set(told)
    assert (101.0, 101.5, 0.31, 1.0) == (told["started_s"], told["ended_s"], told["doubt"], told["score"])
    assert (1.0, True) == (heard.microphone.told[-1].score, heard.microphone.told[-1].echo)


async def test_the_last_turn_of_a_loop_is_told_once_with_the_way_out() -> None:
    async with Decisions(FakeRecogniser(*[ECHO] * 3), spoken=lambda *_: [ECHO]) as heard:
        for number in range(3):
            await turn(heard.listener, end=100 * number)
        await anyio.sleep(0.5)

    assert ["ignored", "ignored", "half duplex"] == [told["what"] for told in heard.told]
    assert SEEN | READ | {"fix"} == set(heard.told[-1])


async def test_a_response_that_was_ignored_and_is_an_answer_is_told_as_that() -> None:
    async with Decisions(FakeRecogniser("yes")) as heard:
        await over_the_agent(heard, decided("ignored", RESPONSE), ignored=RESPONSE, decided=True)
        await anyio.sleep(ANSWER_S + 0.01)

    (answer,) = heard.utterances
    assert isinstance(answer, SpokenUtterance)
    assert (True, True) == (answer.decided, answer.wants_answer)
    assert [("ignored", RESPONSE), ("turn", "an answer to the agent's last words")] == [
        (told["what"], told["why"]) for told in heard.told
    ]


async def test_what_was_decided_about_an_earlier_voice_is_not_taken_for_the_next_one_that_is_undecided() -> None:
    async with Decisions(FakeRecogniser("mm-hm", "hello there")) as heard:
        heard.microphone.speaking = True
        await over_the_agent(heard, decided("ignored", RESPONSE), ignored=RESPONSE, decided=True)
        await anyio.sleep(0.5)
        await over_the_agent(heard, undecided=True)
        await anyio.sleep(2.0)

    assert ["hello there"] == [utterance.text for utterance in heard.utterances]
    assert ["ignored", "turn"] == [told["what"] for told in heard.told]


async def test_what_is_ignored_again_is_not_told_again() -> None:
    async with Decisions(FakeRecogniser()) as heard:
        for again in (False, True):
            heard.listener.noted(Ducked(0.0, 1))
            heard.listener.noted(replace(decided("ignored", "no words"), again=again))

    assert 1 == len(heard.told)


@pytest.mark.parametrize("ducked_after_s", [0.0, 0.3])
async def test_words_that_were_read_before_the_agent_was_turned_down_decide_when_the_turn_is_over(
    ducked_after_s: float,
) -> None:
    async with Decisions(FakeRecogniser("But why")) as heard:
        heard.listener.noted(note(TurnStarted(0)))
        heard.listener.noted(note(TurnPaused(SAMPLES, 0, 100, 0.4)))
        await anyio.sleep(ducked_after_s)
        heard.listener.noted(Ducked(anyio.current_time(), 1))
        await anyio.sleep(0.3)
        heard.listener.noted(replace(note(TurnEnded(SAMPLES, 0, 100, 0.4)), undecided=True))
        await anyio.sleep(0.01)
        heard.listener.noted(decided("interruption", "words"))
        await anyio.sleep(0.01)

    given = [(words.text, words.final, words.voiced_s) for words in heard.microphone.told]
    assert [("But why", True, 0.4)] * (2 if ducked_after_s else 1) == given
    assert ["interruption"] == [told["what"] for told in heard.told]
    assert ["But why"] == [utterance.text for utterance in heard.utterances]
