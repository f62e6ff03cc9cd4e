"""The Piper synthesiser with its real voice."""

import sys
import threading
from collections.abc import Callable

import anyio
import anyio.from_thread
import anyio.lowlevel
import jiwer
import numpy as np
import pytest
import soxr

from discussion_helper.errors import SynthesisError
from discussion_helper.models import Store, load_manifest
from discussion_helper.tts.base import Speech
from discussion_helper.tts.network import Made, Run, Stopped, load_voice
from discussion_helper.tts.piper import PiperSynthesiser
from discussion_helper.tts.voice_files import find_voice

pytestmark = [pytest.mark.models, pytest.mark.anyio]

LONG = "This sentence is long, and it takes the network a good while to speak it, longer than anyone would wait. " * 6


@pytest.fixture(scope="module")
def joe() -> PiperSynthesiser:
    return PiperSynthesiser(Store().path_of(load_manifest().model("joe-medium")), steady=True)


def sounding(speech: Speech) -> tuple[float, float]:
    """Seconds before the first and after the last sample above -50 dBFS."""
    loud = np.flatnonzero(np.abs(speech.samples) > 10 ** (-50 / 20))
    return loud[0] / speech.rate, (len(speech.samples) - 1 - loud[-1]) / speech.rate


async def test_a_clause_becomes_speech_at_the_voices_rate(joe: PiperSynthesiser) -> None:
    speech = await joe.synthesise("That is right.")
    assert (speech.text, speech.rate, joe.rate) == ("That is right.", 22050, 22050)
    assert speech.samples.dtype == np.float32
    assert 0.5 < len(speech.samples) / speech.rate < 2
    assert 0.1 < np.abs(speech.samples).max() <= 0.9


@pytest.mark.parametrize("text", ["Yes.", "Stop!", "Hello there,", "Four fish", "She sells sea shells.", "Is it?"])
async def test_the_first_sound_comes_at_once_and_the_pause_fits_the_mark(joe: PiperSynthesiser, text: str) -> None:
    lead, tail = sounding(await joe.synthesise(text))
    assert lead <= 0.02
    assert 0.15 < tail < 0.25 if text[-1] in ".!?" else 0.02 < tail < 0.15


@pytest.mark.parametrize("text", ["", " ", "…", "🙂", "```", "**", "\n", "|---|"])
async def test_nothing_to_say_is_no_sound_and_no_error(joe: PiperSynthesiser, text: str) -> None:
    speech = await joe.synthesise(text)
    assert speech.text == text
    assert speech.samples.size == 0


async def test_several_sentences_come_as_one_speech(joe: PiperSynthesiser) -> None:
    one, two = await joe.synthesise("It rains."), await joe.synthesise("We stay.")
    both = await joe.synthesise("It rains. We stay.")
    assert len(both.samples) == pytest.approx(len(one.samples) + len(two.samples), rel=0.1)


async def test_a_steady_voice_repeats_itself_bit_by_bit(joe: PiperSynthesiser) -> None:
    one, other = await joe.synthesise("The same again."), await joe.synthesise("The same again.")
    assert np.array_equal(one.samples, other.samples)


async def test_twice_the_speed_takes_about_half_the_time(joe: PiperSynthesiser) -> None:
    quick = PiperSynthesiser(Store().path_of(load_manifest().model("joe-medium")), steady=True, speed=2)
    text = "I would be glad to help you with your trip"
    ratio = len((await quick.synthesise(text)).samples) / len((await joe.synthesise(text)).samples)
    assert 0.4 < ratio < 0.65


async def test_calls_wait_for_each_other_and_keep_their_text(joe: PiperSynthesiser) -> None:
    texts = ["One.", "Two and three.", "Four."]
    spoken: dict[str, Speech] = {}

    async def speak(text: str) -> None:
        spoken[text] = await joe.synthesise(text)

    async with anyio.create_task_group() as group:
        for text in texts:
            group.start_soon(speak, text)
    for text in texts:
        assert np.array_equal(spoken[text].samples, (await joe.synthesise(text)).samples)


async def test_cancelling_stops_the_network(joe: PiperSynthesiser, when_running: Callable[[], anyio.Event]) -> None:
    await joe.warmup()
    running = when_running()
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as group:
            group.start_soon(joe.synthesise, LONG)
            await running.wait()
            started = anyio.current_time()
            scope.cancel()
    assert anyio.current_time() - started < 1  # the whole text takes several seconds
    assert (await joe.synthesise("Still there.")).samples.size


async def test_closing_stops_the_network_and_is_idempotent(when_running: Callable[[], anyio.Event]) -> None:
    joe = PiperSynthesiser(Store().path_of(load_manifest().model("joe-medium")))
    running = when_running()

    async def speak() -> None:
        with pytest.raises(SynthesisError, match="closed while it spoke"):
            await joe.synthesise(LONG)

    async with anyio.create_task_group() as group:
        group.start_soon(speak)
        await running.wait()
        await joe.aclose()
    await joe.aclose()
    with pytest.raises(RuntimeError, match="closed"):
        await joe.synthesise("Hello.")


@pytest.fixture
def when_running(monkeypatch: pytest.MonkeyPatch) -> Callable[[], anyio.Event]:
    """An event that is set when the network begins its next run."""
    make = Run.make

    def watch() -> anyio.Event:
        running, token = anyio.Event(), anyio.lowlevel.current_token()

        def told(self: Run, session: object, inputs: object) -> Made:
            anyio.from_thread.run_sync(running.set, token=token)
            return make(self, session, inputs)  # type: ignore[arg-type]

        monkeypatch.setattr(Run, "make", told)
        return running

    return watch


def test_a_run_stopped_before_it_begins_makes_nothing() -> None:
    voice = load_voice(find_voice(Store().path_of(load_manifest().model("joe-medium"))), threads=1)
    run = Run()
    run.stop()
    with pytest.raises(Stopped):
        run.make(voice.session, {})


def test_a_run_stopped_in_another_thread_ends() -> None:
    voice = load_voice(find_voice(Store().path_of(load_manifest().model("joe-medium"))), threads=1)
    ids = voice.phonemes_to_ids(voice.phonemize(LONG)[0])
    inputs = {
        "input": np.array([ids * 3], np.int64),
        "input_lengths": np.array([len(ids) * 3], np.int64),
        "scales": np.array([0, 1, 0], np.float32),
    }
    run = Run()
    timer = threading.Timer(0.1, run.stop)
    timer.start()
    with pytest.raises(Stopped):
        run.make(voice.session, inputs)
    timer.join()


async def test_a_long_text_without_marks_is_spoken_whole(joe: PiperSynthesiser) -> None:
    speech = await joe.synthesise("and then it went on " * 25)
    assert len(speech.samples) / speech.rate > 15


async def test_the_large_onnx_package_is_not_needed(joe: PiperSynthesiser) -> None:
    await joe.warmup()
    assert "onnx" not in sys.modules


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("It costs $3.50 and Dr. Smith pays for it.", "it costs 350 and dr smith pays for it"),
        ("I would be glad to help you with your **trip** to the mountains.", None),
        ("The meeting is on May 3, at half past two.", "the meeting is on may 3rd at half past two"),
        ("Please visit https://www.example.com/help for more 🙂.", "please visit examplecom for more"),
        ("About 50% of the people agree.", "about 50 of the people agree"),
        ("And then we walked back to the house", None),
    ],
)
async def test_what_is_spoken_is_understood(
    joe: PiperSynthesiser, transcribe: Callable[[Speech], str], written: str, expected: str | None
) -> None:
    heard = transcribe(await joe.synthesise(written))
    assert jiwer.wer(expected or plain(written), heard) <= 0.15


def plain(text: str) -> str:
    return "".join(character for character in text.lower() if character.isalnum() or character == " ")


@pytest.fixture(scope="module")
def transcribe() -> Callable[[Speech], str]:
    """The words that a recogniser hears, without punctuation."""
    from faster_whisper import WhisperModel

    model = WhisperModel(
        str(Store().path_of(load_manifest().model("tiny.en"))), device="cpu", compute_type="int8", cpu_threads=2
    )

    def heard(speech: Speech) -> str:
        samples = soxr.resample(np.pad(speech.samples, speech.rate // 2), speech.rate, 16_000)
        segments, _ = model.transcribe(samples, beam_size=1, language="en")
        return " ".join(plain(segment.text) for segment in segments).strip()

    return heard
