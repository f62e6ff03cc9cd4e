"""The voice on a loudspeaker."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio
import numpy as np
import pytest

from discussion_helper.errors import DeviceError, SynthesisError
from discussion_helper.parts import Audible, CutsText, LooksAhead, Voice
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener
from discussion_helper.tts.base import Speech, Word
from discussion_helper.types import SpokenSentence
from discussion_helper.voice.deciding import Words
from discussion_helper.voice.microphone import MicrophoneListener
from discussion_helper.voice.ports import Ears
from discussion_helper.voice.speaker import SpeakerVoice

pytestmark = pytest.mark.anyio

Running = Callable[[], Any]


class Closing:
    def __init__(self) -> None:
        self.count = 0

    async def __call__(self) -> None:
        self.count += 1


class Telling:
    """The same synthesiser, which tells its words' times: each begins half a second after the one before."""

    def __init__(self, synthesiser: Any, *, each_s: float = 0.4) -> None:
        self._synthesiser = synthesiser
        self._each_s = each_s
        self.rate = synthesiser.rate

    async def synthesise(self, text: str) -> Speech:
        ends = [match.end() for match in re.finditer(r"\S+", text)]
        self._synthesiser.seconds = 0.5 * len(ends)
        speech = await self._synthesiser.synthesise(text)
        starts = [self.rate * place // 2 for place in range(len(ends))]
        words = [Word(end, at, at + int(self._each_s * self.rate)) for end, at in zip(ends, starts, strict=True)]
        return Speech(text, speech.samples, self.rate, tuple(words))

    async def warmup(self) -> None: ...

    async def aclose(self) -> None: ...


class Opens:
    """A microphone that hears nothing."""

    async def open_microphone(self, ears: Ears) -> str:
        return "fake [test]"

    async def close_microphone(self) -> None: ...

    def words(self, words: Words) -> None: ...

    def go_half_duplex(self) -> None: ...

    def key(self, *, down: bool, at_s: float) -> None: ...

    @property
    def speaking(self) -> bool:
        return False


class Recognises:
    """Never asked."""

    async def recognise(self, samples: Any, *, voiced_s: float | None = None) -> Any:
        raise AssertionError

    async def warmup(self) -> None: ...

    async def aclose(self) -> None: ...


def voice_on(device: Any, synthesiser: Any) -> SpeakerVoice:
    return SpeakerVoice(synthesiser, device.playback, device.marks, close=Closing())


async def test_it_is_a_voice_that_looks_ahead_and_knows_when_it_is_heard(
    loudspeaker: Running, synthesiser: Any
) -> None:
    async with loudspeaker() as device:
        voice = voice_on(device, synthesiser)

        assert isinstance(voice, Voice)
        assert isinstance(voice, LooksAhead)
        assert isinstance(voice, Audible)


async def test_a_long_text_is_spoken_in_the_pieces_of_a_reply(loudspeaker: Running, synthesiser: Any) -> None:
    async with loudspeaker() as device:
        voice = voice_on(device, synthesiser)
        session = Session(ScriptedListener([], stays_open=True), EchoResponder(), voice).start()
        async with session.events("partial", "utterance") as events:
            await session.speak("One two three. Four five six! Seven.")
            told = [(await anext(events)).data["text"] for _ in range(4)]
        await session.stop()

        assert isinstance(voice, CutsText)
        assert ["One two three.", "Four five six!", "Seven.", "One two three. Four five six! Seven."] == told


async def test_a_sentence_is_over_when_its_last_sample_was_handed_over(loudspeaker: Running, synthesiser: Any) -> None:
    async with loudspeaker() as device:
        voice = voice_on(device, synthesiser)
        began = anyio.current_time()
        result = await voice.speak("hello")

        assert 1.0 == pytest.approx(anyio.current_time() - began, abs=0.02)
        assert ("hello", False, 1.0) == (result.text, result.cut, result.played_s)
        assert 1000 == np.count_nonzero(device.sound == 0.5)


async def test_text_that_makes_no_sound_is_no_error(loudspeaker: Running, synthesiser: Any) -> None:
    async with loudspeaker() as device:
        result = await voice_on(device, synthesiser).speak("")

    assert SpokenSentence("") == result


async def test_a_prepared_sentence_follows_without_a_gap(loudspeaker: Running, synthesiser: Any) -> None:
    synthesiser.takes_s = 0.3
    async with loudspeaker() as device:
        voice = voice_on(device, synthesiser)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(voice.speak, "one")
            await voice.audible()
            await voice.prepare("two")
        await voice.speak("two")
        sound = np.flatnonzero(device.sound == 0.5)

    assert 2000 == len(sound)
    assert 1999 == sound[-1] - sound[0]
    assert ["one", "two"] == synthesiser.begun


async def test_a_sentence_asked_for_while_it_is_being_prepared_is_made_once(
    loudspeaker: Running, synthesiser: Any
) -> None:
    synthesiser.takes_s = 2.0
    async with loudspeaker() as device:
        voice = voice_on(device, synthesiser)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(voice.prepare, "two")
            await anyio.sleep(0.5)
            result = await voice.speak("two")

    assert (False, ["two"]) == (result.cut, synthesiser.begun)


async def test_a_preparation_that_was_cancelled_is_done_again(loudspeaker: Running, synthesiser: Any) -> None:
    synthesiser.takes_s = 0.5
    async with loudspeaker() as device:
        voice = voice_on(device, synthesiser)
        with anyio.move_on_after(0.1):
            await voice.prepare("two")
        result = await voice.speak("two")

    assert (False, 1.0) == (result.cut, result.played_s)


async def test_stop_silences_within_a_block_and_tells_what_was_heard(loudspeaker: Running, synthesiser: Any) -> None:
    results = []
    synthesiser.seconds = 4.0
    async with loudspeaker() as device:
        voice = voice_on(device, synthesiser)

        async def speak() -> None:
            results.append(await voice.speak("one two three four"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(speak)
            await anyio.sleep(2.0)
            stopped_at = len(device.sound)
            await voice.stop()
            await anyio.lowlevel.checkpoint()
            assert 1 == len(results)
        await anyio.sleep(0.5)

        assert np.flatnonzero(device.sound)[-1] <= stopped_at + 20
    result = results[0]
    assert result.cut
    assert 2.0 == pytest.approx(result.played_s, abs=0.02)
    assert "one two" == result.heard


async def test_stop_while_a_sentence_is_synthesised_returns_at_once_and_nothing_is_played(
    loudspeaker: Running, synthesiser: Any
) -> None:
    synthesiser.takes_s = 10.0
    results = []
    async with loudspeaker() as device:
        voice = voice_on(device, synthesiser)
        began = anyio.current_time()

        async def speak() -> None:
            results.append(await voice.speak("one"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(speak)
            await anyio.sleep(1.0)
            await voice.stop()
        took_s = anyio.current_time() - began
        await anyio.sleep(20.0)

        assert took_s < 1.1
        assert not device.sound.any()
    assert (True, "", []) == (results[0].cut, results[0].heard, synthesiser.finished)


async def test_stop_discards_what_was_prepared(loudspeaker: Running, synthesiser: Any) -> None:
    async with loudspeaker() as device:
        voice = voice_on(device, synthesiser)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(voice.speak, "one")
            await voice.audible()
            await voice.prepare("two")
            await voice.stop()
        await anyio.sleep(2.0)

        assert np.count_nonzero(device.sound == 0.5) <= 30
        assert False is (await voice.speak("three")).cut
        assert ["one", "two", "three"] == synthesiser.finished


async def test_a_preparation_under_way_at_a_stop_is_never_played(loudspeaker: Running, synthesiser: Any) -> None:
    async with loudspeaker() as device:
        voice = voice_on(device, synthesiser)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(voice.speak, "one")
            await voice.audible()
            synthesiser.takes_s = 0.5
            tasks.start_soon(voice.prepare, "two")
            await anyio.sleep(0.1)
            await voice.stop()
        await anyio.sleep(2.0)

        assert np.count_nonzero(device.sound == 0.5) < 150


async def test_stop_is_idempotent_and_safe_when_idle(loudspeaker: Running, synthesiser: Any) -> None:
    async with loudspeaker() as device:
        voice = voice_on(device, synthesiser)
        await voice.stop()
        await voice.stop()
        assert not (await voice.speak("one")).cut
        await voice.stop()
        assert not (await voice.speak("two")).cut


async def test_audible_is_of_the_reply_being_spoken(loudspeaker: Running, synthesiser: Any) -> None:
    async with loudspeaker() as device:
        voice = voice_on(device, synthesiser)
        await voice.speak("one")
        synthesiser.takes_s = 0.5
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(voice.speak, "two")
            await anyio.sleep(0.1)
            began = anyio.current_time()
            await voice.audible()

            assert 0.4 == pytest.approx(anyio.current_time() - began, abs=0.03)


async def test_a_failing_synthesiser_is_raised(loudspeaker: Running, synthesiser: Any) -> None:
    synthesiser.fails_on = "bad"
    async with loudspeaker() as device:
        voice = voice_on(device, synthesiser)
        with pytest.raises(OSError, match="no voice"):
            await voice.speak("bad")


async def test_a_lost_loudspeaker_cuts_what_is_being_spoken_and_fails_what_comes_later(
    loudspeaker: Running, synthesiser: Any
) -> None:
    results = []
    async with loudspeaker() as device:
        voice = voice_on(device, synthesiser)

        async def speak() -> None:
            results.append(await voice.speak("one two three four"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(speak)
            await anyio.sleep(0.5)
            voice.fail(DeviceError("The loudspeaker went away.", fix="Connect it."))
        with pytest.raises(DeviceError, match="went away"):
            await voice.speak("more")

    (result,) = results
    assert result.cut
    assert 0.5 == pytest.approx(result.played_s, abs=0.02)
    assert result.heard
    assert "four" not in result.heard


async def test_a_reply_that_a_lost_loudspeaker_cut_is_on_record_as_cut(loudspeaker: Running, synthesiser: Any) -> None:
    error = DeviceError("The loudspeaker went away.", fix="Connect it.")
    async with loudspeaker() as device:
        voice = voice_on(device, synthesiser)
        listener = MicrophoneListener(Recognises(), Opens())
        session = Session(listener, EchoResponder(), voice).start()
        await session.speak("one two three four")
        await anyio.sleep(0.5)
        voice.fail(error)
        listener.lost(error)
        with pytest.raises(DeviceError, match="went away"):
            await session.wait()

    (utterance,) = session.discussion.conversation.utterances
    assert utterance.interrupted
    assert utterance.said == "one two three four"
    assert utterance.text
    assert "four" not in utterance.text


async def test_closing_closes_the_device_once(loudspeaker: Running, synthesiser: Any) -> None:
    async with loudspeaker() as device:
        closing = Closing()
        voice = SpeakerVoice(synthesiser, device.playback, device.marks, close=closing)
        await voice.aclose()
        await voice.aclose()

    assert (1, True) == (closing.count, synthesiser.closed)


async def test_a_whole_reply_is_played_without_a_gap_in_a_session(loudspeaker: Running, synthesiser: Any) -> None:
    synthesiser.takes_s = 0.4
    async with loudspeaker() as device:
        session = Session(ScriptedListener(["hi"]), EchoResponder(5), voice_on(device, synthesiser)).start()
        await session.wait()
        sound = np.flatnonzero(device.sound == 0.5)

    assert 5000 == len(sound)
    assert 4999 == sound[-1] - sound[0]
    assert 0.4 == pytest.approx(session.discussion.conversation.timings[0].speak_s, abs=0.03)


async def test_a_synthesis_that_a_stop_broke_off_is_a_cut_and_no_failure(
    loudspeaker: Running, synthesiser: Any
) -> None:
    class BreaksOff(type(synthesiser)):  # type: ignore[misc]
        async def synthesise(self, text: str) -> Any:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(0.5)
            raise SynthesisError("stopped in the middle")

    results = []
    async with loudspeaker() as device:
        voice = voice_on(device, BreaksOff())

        async def speak() -> None:
            results.append(await voice.speak("one two"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(speak)
            await anyio.sleep(0.1)
            await voice.stop()

    assert (True, "") == (results[0].cut, results[0].heard)


async def cut_after(device: Any, voice: SpeakerVoice, text: str, seconds: float) -> SpokenSentence:
    """What becomes of a sentence that is stopped so long after its first audio."""
    results = []

    async def speak() -> None:
        results.append(await voice.speak(text))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(speak)
        await voice.audible()
        await anyio.sleep(seconds)
        await voice.stop()
    return results[0]


@pytest.mark.parametrize(
    ("seconds", "heard"),
    [(0.2, ""), (0.35, "one"), (0.7, "one"), (0.85, "one two"), (1.25, "one two"), (1.35, "one two three")],
)
async def test_words_are_heard_by_their_own_times(
    loudspeaker: Running, synthesiser: Any, seconds: float, heard: str
) -> None:
    async with loudspeaker() as device:
        result = await cut_after(device, voice_on(device, Telling(synthesiser)), "one two three four", seconds)

    assert result.cut
    assert (result.heard or "").split() == heard.split()


async def test_a_sentence_that_was_cut_in_the_pause_after_it_was_heard_whole(
    loudspeaker: Running, synthesiser: Any
) -> None:
    async with loudspeaker() as device:
        result = await cut_after(device, voice_on(device, Telling(synthesiser, each_s=0.2)), "one two", 0.8)

    assert (result.cut, result.heard) == (False, None)
    assert result.played_s == pytest.approx(0.81, abs=0.02)


async def test_word_times_stay_in_place_at_another_rate(loudspeaker: Running, synthesiser: Any) -> None:
    synthesiser.rate = 500
    telling = Telling(synthesiser)
    synthesiser.synthesise = partial(at_half_rate, synthesiser)
    async with loudspeaker() as device:
        result = await cut_after(device, voice_on(device, telling), "one two three four", 0.85)

    assert result.heard == "one two"
    assert result.played_s == pytest.approx(0.86, abs=0.02)


async def at_half_rate(synthesiser: Any, text: str) -> Speech:
    return Speech(text, np.full(int(synthesiser.seconds * 500), 0.5, np.float32), 500)


@pytest.mark.parametrize("at", range(0, 5200, 170))
async def test_what_was_heard_is_the_beginning_of_what_was_said_wherever_it_is_cut(
    loudspeaker: Running, synthesiser: Any, at: int
) -> None:
    async with loudspeaker() as device:
        session = Session(
            ScriptedListener(["hi there you"], stays_open=True),
            EchoResponder(3),
            voice_on(device, Telling(synthesiser)),
        ).start()
        async with session.events("floor") as floors:
            async for event in floors:
                if event.data["floor"] == "speaking":
                    break
        await anyio.sleep(at / 1000)
        played_s = np.count_nonzero(device.sound == 0.5) / 1000
        was_speaking = await session.interrupt()
        conversation = await session.stop()

    spoken = conversation.utterances[-1]
    said = spoken.said or spoken.text
    assert was_speaking
    assert said == "hi there you hi there you (2) hi there you (3)"
    assert said.startswith(spoken.text)
    assert [*spoken.text.split(), *said[len(spoken.text) :].split()] == said.split()
    full = int(played_s / 0.5 + 0.4)  # each word lasts 0.4 s of its half second, and counts from 0.3 s on
    assert abs(len(spoken.text.split()) - full) <= 1


async def test_a_first_sentence_that_was_prepared_begins_a_reply_of_its_own(
    loudspeaker: Running, synthesiser: Any
) -> None:
    """Whatever became of the reply before: it is heard whole, and synthesised once."""
    async with loudspeaker() as device:
        voice = voice_on(device, synthesiser)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(voice.speak, "Cut off.")
            await voice.audible()
            await voice.stop()
        await voice.prepare("Then this.")
        assert 0 == device.playback.pending(voice._generation)
        result = await voice.speak("Then this.")

        assert (False, 1.0, None) == (result.cut, result.played_s, result.heard)
        assert result.first_audio_s < 0.05
        assert ["Cut off.", "Then this."] == synthesiser.begun


async def test_what_was_prepared_for_nothing_makes_no_sound(loudspeaker: Running, synthesiser: Any) -> None:
    """Replaced by another first sentence, or by what is said instead, whether it was ready by then or not."""
    synthesiser.takes_s = 0.3
    async with loudspeaker() as device:
        voice = voice_on(device, synthesiser)
        await voice.prepare("One.")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(voice.prepare, "Two.")
            await anyio.sleep(0.1)
            tasks.cancel_scope.cancel()
        await voice.prepare("Three.")
        await voice.speak("Something else.")
        sound = device.sound

        assert 1.0 == pytest.approx(np.count_nonzero(sound) / device.playback.rate, abs=0.05)
        assert ["One.", "Three.", "Something else."] == synthesiser.finished


async def test_what_is_read_has_arrived_at_once_and_is_not_made(loudspeaker: Running, synthesiser: Any) -> None:
    reads = True
    async with loudspeaker() as device:
        voice = SpeakerVoice(synthesiser, device.playback, device.marks, close=Closing(), is_read=lambda: reads)
        await voice.prepare("read")
        began = anyio.current_time()
        read = await voice.speak("read")
        await voice.audible()
        took_s = anyio.current_time() - began
        reads = False
        heard = await voice.speak("heard")

    assert SpokenSentence("read", heard="read") == read
    assert (0.0, 1.0, ["heard"]) == (took_s, heard.played_s, synthesiser.begun)
