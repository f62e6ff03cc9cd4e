"""The parts of a room that have no model, and those that have one."""

import re
import textwrap
import time
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.resample import resample
from discussion_helper.stt.base import Recognised
from discussion_helper.testing import room as room_package
from discussion_helper.testing.room import (
    CutSynthesiser,
    InlineRecogniser,
    InlineSynthesiser,
    KnownSound,
    MatchingRecogniser,
    Room,
    Scene,
    ScriptedRecogniser,
    run_in_room,
    speech_like,
)
from discussion_helper.testing.virtual_clock import START_S
from discussion_helper.tts.base import Speech, Word

pytestmark = pytest.mark.anyio
RATE = 16_000


def known(frame: Frame, text: str) -> KnownSound:
    return KnownSound(text, resample(frame.samples, frame.rate, RATE))


def noisy(samples: Samples) -> Samples:
    noise = np.random.default_rng(1).normal(0.0, 0.01, len(samples) + RATE).astype(np.float32)
    noise[RATE // 2 : RATE // 2 + len(samples)] += samples
    return noise


@pytest.fixture
def two(goforward: Frame, bobby: Frame) -> list[KnownSound]:
    return [known(goforward, "go forward ten meters"), known(bobby, "the second of them")]


async def test_the_matching_one_recognises_what_is_in_the_samples(two: list[KnownSound]) -> None:
    recogniser = MatchingRecogniser(lambda: two, delay_s=0.25)
    first, second = (noisy(0.3 * sound.samples) for sound in two)

    found = [await recogniser.recognise(samples) for samples in (first, second, np.concatenate((second, first)))]

    assert [two[0].text, two[1].text, f"{two[1].text} {two[0].text}"] == [it.text for it in found]
    assert 0.75 == anyio.current_time() - START_S


async def test_it_gives_the_words_that_are_there_and_none_of_noise(two: list[KnownSound]) -> None:
    recogniser = MatchingRecogniser(lambda: two)
    whole = two[0].samples
    noise = np.random.default_rng(2).normal(0.0, 0.1, 3 * RATE).astype(np.float32)

    cut = (await recogniser.recognise(whole[: len(whole) // 2])).text.split()

    assert cut == ["go", "forward", "ten", "meters"][: len(cut)]
    assert 1 <= len(cut) <= 3
    assert "" == (await recogniser.recognise(noise)).text
    assert "" == (await recogniser.recognise(speech_like(3.0, RATE))).text


async def test_it_takes_no_piece_of_a_voice_for_words_of_another_sentence_of_it(agent: Samples) -> None:
    """As what is left of a turn of two or three words, when the recogniser knows the agent's sentences."""
    voice, second = resample(agent, 48_000, RATE), 5 * RATE // 2
    sentences = [KnownSound("a b c d e f g h i j", voice[at : at + second]) for at in range(0, 10 * second, second)]

    heard: list[str] = []
    for own in sentences:
        recogniser = MatchingRecogniser(partial(list, [own]), delay_s=0.0)
        others = [it.samples[at : at + RATE // 2] for it in sentences if it is not own for at in (0, RATE, 2 * RATE)]
        heard += [(await recogniser.recognise(piece)).text for piece in others]

    assert sum(text != "" for text in heard) <= 0.03 * len(heard)


async def test_the_scripted_one_gives_one_text_to_a_turn() -> None:
    recogniser = ScriptedRecogniser(["one", "two"])
    turns = [np.full(5_000, level, np.float32) for level in (0.1, 0.2, 0.3)]

    pause, end = await recogniser.recognise(turns[0][:4_000]), await recogniser.recognise(turns[0])
    others = [(await recogniser.recognise(turn)).text for turn in turns[1:]]

    assert ["one", "one", "two", ""] == [pause.text, end.text, *others]


async def test_the_synthesiser_takes_as_long_as_the_words_and_says_the_same_again(agent: Samples) -> None:
    for voice in (None, agent):
        synthesiser = CutSynthesiser(voice=voice, delay_s=0.5)
        first, again, other, nothing = [await synthesiser.synthesise(t) for t in ("a b c", "a b c", "d e f", "")]

        assert 3 / 2.7 == pytest.approx(len(first.samples) / first.rate, abs=1e-4)
        assert np.array_equal(first.samples, again.samples)
        assert not np.array_equal(first.samples, other.samples)
        assert 0 == len(nothing.samples)
    assert 4.0 == anyio.current_time() - START_S


class Threaded:
    """A recogniser whose model works in a thread."""

    async def recognise(self, samples: Samples, *, voiced_s: float | None = None) -> Recognised:
        await anyio.to_thread.run_sync(time.sleep, 0.02)
        return Recognised(f"{len(samples)} {voiced_s}")

    async def warmup(self) -> None: ...

    async def aclose(self) -> None: ...


async def test_a_model_in_a_thread_takes_the_virtual_time_that_it_is_charged_with() -> None:
    ticks: list[float] = []

    async def tick() -> None:
        while True:
            ticks.append(anyio.current_time() - START_S)
            await anyio.sleep(0.1)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tick)
        result = await InlineRecogniser(Threaded(), delay_s=0.25).recognise(np.zeros(7, np.float32), voiced_s=1.5)
        tasks.cancel_scope.cancel()

    assert "7 1.5" == result.text
    assert 0.25 == anyio.current_time() - START_S
    assert [0.0, 0.1, 0.2] == [round(at_s, 6) for at_s in ticks]


class Said:
    """A synthesiser of another rate, which knows when it says its two words."""

    rate = 1_000

    async def synthesise(self, text: str) -> Speech:
        await anyio.to_thread.run_sync(time.sleep, 0.01)
        return Speech(text, np.zeros(1_000, np.float32), self.rate, (Word(3, 100, 400), Word(7, 500, 900)))

    async def warmup(self) -> None: ...

    async def aclose(self) -> None: ...


async def test_a_synthesiser_of_another_rate_keeps_its_words_in_their_places() -> None:
    speech = await InlineSynthesiser(Said(), delay_s=0.5, rate=48_000).synthesise("one two")

    assert (48_000, 48_000) == (speech.rate, len(speech.samples))
    assert (Word(3, 4_800, 19_200), Word(7, 24_000, 43_200)) == speech.words
    assert 0.5 == anyio.current_time() - START_S


def test_the_example_runs_as_it_stands() -> None:
    _, _, example = (room_package.__doc__ or "").partition("\n\n")
    done: dict[str, Any] = {}

    exec(compile(textwrap.dedent(example), "example", "exec"), done)

    assert "who_talks_over_a_reply_stops_it" in done


@pytest.mark.models
def test_real_models_talk_in_a_room_the_same_way_twice(goforward: Frame) -> None:
    from discussion_helper.models import Store, load_manifest
    from discussion_helper.stt.whisper import WhisperRecogniser
    from discussion_helper.testing import EchoResponder
    from discussion_helper.tts.piper import PiperSynthesiser

    def part(name: str) -> Path:
        return Store().path_of(load_manifest().model(name))

    async def main(room: Room) -> tuple[list[Any], bytes]:
        session = room.session(
            responder=EchoResponder(),
            recogniser=InlineRecogniser(WhisperRecogniser(part("tiny.en"), language="en"), delay_s=0.25),
            synthesiser=InlineSynthesiser(PiperSynthesiser(part("joe-medium"), steady=True), delay_s=0.1),
        )
        session.start()
        room.say(goforward, at_s=0.5)
        await room.reached("reply")
        await room.quiet()
        tape = room.recording
        return session.state["utterances"], tape.loudspeaker.tobytes()

    first, again = (run_in_room(main, Scene()) for _ in range(2))

    assert first == again
    assert re.match("go forward (ten|10) meters", first[0][0]["text"].lower())
