"""The Piper synthesiser with its real voice."""

import re
import sys
import threading
from collections.abc import Callable
from contextlib import aclosing
from itertools import pairwise
from typing import Any

import anyio
import anyio.from_thread
import anyio.lowlevel
import jiwer
import numpy as np
import pytest
import soxr

from discussion_helper.errors import SynthesisError
from discussion_helper.models import Store, load_manifest
from discussion_helper.tts import network
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
    voice = load_voice(find_voice(Store().path_of(load_manifest().model("joe-medium"))), threads=1).voice
    run = Run()
    run.stop()
    with pytest.raises(Stopped):
        run.make(voice.session, {})


def test_a_run_stopped_in_another_thread_ends() -> None:
    voice = load_voice(find_voice(Store().path_of(load_manifest().model("joe-medium"))), threads=1).voice
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


TOLD = (
    "That is right.",
    "**Dr. Smith** paid $3.50 at 14:30 for 5 km by [bus](https://example.com), i.e. 12% less than in 1999 🙂.",
    "One of the things. It is in the box! Don't you worry, it's 22.5 °C.",
    "and then it went on " * 20,
)


@pytest.fixture(scope="module", params=[0.5, 1.0, 2.5])
def paced(request: pytest.FixtureRequest) -> PiperSynthesiser:
    return PiperSynthesiser(Store().path_of(load_manifest().model("joe-medium")), speed=request.param)


@pytest.mark.parametrize("text", TOLD)
async def test_every_word_of_a_text_has_its_time(paced: PiperSynthesiser, text: str) -> None:
    speech = await paced.synthesise(text)
    words = speech.words
    assert words is not None
    times = [time for word in words for time in (word.start, word.stop)]
    assert times == sorted(times)
    assert 0 < times[-1] <= len(speech.samples)
    assert all(word.start < word.stop for word in words)
    ends = [match.end() for match in re.finditer(r"\S+", text.strip())]
    assert [word.end for word in words[:-1]] == ends[: len(words) - 1]
    assert len(ends) - len(words) == text.count("🙂")
    assert words[-1].end == len(text)


async def test_between_words_that_a_mark_parts_there_is_silence(joe: PiperSynthesiser) -> None:
    speech = await joe.synthesise("Wait. Tell me, Paul; is it you?")
    assert speech.words is not None
    for word, following in pairwise(speech.words):
        if speech.text[word.end - 1] in ".,;":
            middle = speech.samples[(word.stop + following.start) // 2 :][: speech.rate // 100]
            assert np.abs(middle).max() < 0.01
    for word in speech.words:
        assert np.abs(speech.samples[word.start : word.stop]).max() > 0.05


async def test_words_of_a_text_without_sound_are_none_at_all(joe: PiperSynthesiser) -> None:
    assert (await joe.synthesise("🙂")).words == ()


def test_durations_make_up_the_audio_to_the_sample() -> None:
    voice = load_voice(find_voice(Store().path_of(load_manifest().model("joe-medium"))), threads=1).voice
    ids = voice.phonemes_to_ids(voice.phonemize("Hello there, my friend.")[0])
    for scales in ((0, 1, 0), (0.667, 0.3, 0.8), (0.667, 4, 0.8)):
        made = Run().make(
            voice.session,
            {
                "input": np.array([ids], np.int64),
                "input_lengths": np.array([len(ids)], np.int64),
                "scales": np.array(scales, np.float32),
            },
        )
        assert made.widths is not None
        assert len(made.widths) == len(ids)
        assert made.widths.sum() == len(made.samples)


class Session:
    """A network that gives these outputs."""

    def __init__(self, *outputs: Any) -> None:
        self._outputs = [np.array(output) for output in outputs]

    def run(self, *_: Any) -> list[Any]:
        return self._outputs


@pytest.mark.parametrize(
    ("frames", "widths"),
    [
        ([[1, 2, 3]], [2, 4, 6]),
        ([[1, 0, 2]], [4, 0, 8]),
        ([[1, 2, 4]], None),  # not all of it
        ([[1.5, 1.5]], None),
        ([[-1, 2]], None),
        ([[0, 0]], None),
    ],
)
def test_durations_that_do_not_make_up_the_audio_are_not_believed(
    frames: list[list[float]], widths: list[int] | None
) -> None:
    made = Run().make(Session(np.zeros(12, np.float32), frames), {}).widths
    assert (None if made is None else made.tolist()) == widths
    assert Run().make(Session(np.zeros(12, np.float32)), {}).widths is None


@pytest.mark.parametrize("graph", [None, b"no network"])
async def test_a_voice_that_tells_no_durations_speaks_and_says_so(
    monkeypatch: pytest.MonkeyPatch, graph: bytes | None
) -> None:
    monkeypatch.setattr(network, "graph_with_durations", lambda file, **_: graph)
    voice = PiperSynthesiser(Store().path_of(load_manifest().model("joe-medium")))
    speech = await voice.synthesise("Hello there.")
    await voice.aclose()
    assert speech.samples.size
    assert speech.words is None


async def test_no_run_of_the_network_is_longer_than_its_memory_allows(
    joe: PiperSynthesiser, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[int] = []

    def make(_: Run, session: Any, inputs: dict[str, Any]) -> Made:
        runs.append(inputs["input"].shape[1])
        return Made(np.full(2_205, 0.1, np.float32), None)

    monkeypatch.setattr(Run, "make", make)
    await joe.synthesise("so many of the people who live there never learned how to swim " * 6)

    assert len(runs) > 1
    assert max(runs) < 270  # of 160 characters it is 330


async def test_the_parts_are_the_whole_and_the_first_one_knows_all_words() -> None:
    """Bit by bit but for rounding, wherever the level is that of the clause before."""
    voice = PiperSynthesiser(Store().path_of(load_manifest().model("joe-medium")), steady=True)
    text = "Please enter your agent number followed by the pound key."
    whole = await voice.synthesise(text)
    async with aclosing(voice.parts(text)) as given:
        first, rest = [part async for part in given]
    await voice.aclose()

    assert (first.text, first.more, rest.text, rest.more) == (text, True, "", False)
    assert 0.2 < len(first.samples) / first.rate < 0.4
    joined = np.concatenate((first.samples, rest.samples))
    window, pause = round(0.005 * first.rate), round(0.18 * first.rate)
    assert abs(len(whole.samples) - len(joined)) <= 2 * window  # where the silence begins is looked for by windows
    voiced = len(whole.samples) - pause - 4 * window
    assert np.abs(whole.samples[:voiced] - joined[:voiced]).max() < 1e-3
    assert first.words == whole.words


@pytest.mark.parametrize("text", ["Yes.", "", "again and " * 13 + "again", "One is here. Two are there."])
async def test_what_cannot_be_parted_comes_at_once(joe: PiperSynthesiser, text: str) -> None:
    await joe.synthesise("So that there is a level.")
    async with aclosing(joe.parts(text)) as given:
        (speech,) = [part async for part in given]

    assert (speech.text, speech.more) == (text, False)


async def test_who_stops_listening_after_the_first_part_leaves_the_voice_free(joe: PiperSynthesiser) -> None:
    await joe.synthesise("So that there is a level.")
    async with aclosing(joe.parts("He might have been made amiable himself, once.")) as given:
        assert (await anext(given)).more
    assert (await joe.synthesise("And now this.")).samples.size
