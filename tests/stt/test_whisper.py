"""The real model on recorded people and noises."""

from collections.abc import Iterator
from pathlib import Path

import anyio
import numpy as np
import pytest

from discussion_helper.audio.clips import Clip, load_clips
from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Frame, Samples, silence
from discussion_helper.bench.recognition import stock_recogniser
from discussion_helper.bench.words import word_errors, words_of
from discussion_helper.errors import ModelCorrupt, SettingError
from discussion_helper.models import Store, load_manifest
from discussion_helper.stt.whisper import WhisperRecogniser
from discussion_helper.turn.activity import ActivityTracker
from discussion_helper.turn.endpointing import SilenceEndpointer
from discussion_helper.turn.turns import TurnEnded, TurnSegmenter
from discussion_helper.vad.silero import SileroDetector
from discussion_helper.vad.webrtc import WebRtcDetector

pytestmark = [pytest.mark.anyio, pytest.mark.models, pytest.mark.timeout(240)]  # some seconds on an idle machine

RATE = 16_000
CLIPS = load_clips(Path(__file__).parents[2] / "audio")
ENGLISH = [clip for clip in CLIPS if clip.kind == "speech" and clip.language == "en" and clip.transcript]
NOISE = [clip for clip in CLIPS if clip.kind == "noise"]


@pytest.fixture(scope="module")
def folder() -> Path:
    return Store().path_of(load_manifest().model("tiny.en"))


@pytest.fixture(scope="module")
def recogniser(folder: Path) -> Iterator[WhisperRecogniser]:
    made = WhisperRecogniser(folder, language="en")
    yield made
    anyio.run(made.aclose)


def samples_of(name: str) -> Samples:
    [clip] = [clip for clip in CLIPS if clip.path.name == name]
    return load(clip.path, RATE).samples


def turns_in(samples: Samples) -> list[TurnEnded]:
    """What the detectors make of it, with a second of faint noise before and after."""
    tracker = ActivityTracker(gate=WebRtcDetector(mode=2), judge=SileroDetector())
    segmenter = TurnSegmenter(tracker, SilenceEndpointer())
    room = np.random.default_rng(0).normal(0, 1e-4, len(samples) + 2 * RATE).astype(np.float32)
    room[RATE : RATE + len(samples)] += samples
    return [event for event in segmenter.feed(Frame(room, RATE)) if isinstance(event, TurnEnded)]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("common_voice_en_22058264.mp3", "no"),
        ("sphinx_goforward.wav", "go forward ten meters"),
        ("sphinx_cards_004.wav", "five five"),
        ("praatio_bobby.wav", "bobby ripped the ledger"),
        (
            "asterisk_en_agent-incorrect.wav",
            "login incorrect please enter your agent number followed by the pound key",
        ),
    ],
)
async def test_a_turn_of_the_detectors_is_understood(recogniser: WhisperRecogniser, name: str, words: str) -> None:
    [turn] = turns_in(samples_of(name))

    heard = await recogniser.recognise(turn.samples, voiced_s=turn.voiced_s)

    assert words_of(heard.text) == words.split()
    assert heard.refused == ""
    assert heard.language == "en"
    assert heard.took_s > 0.0


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.slow)], ids=["every third", "all"])
async def test_nobody_who_spoke_is_refused(recogniser: WhisperRecogniser, step: int) -> None:
    turns = [turn for clip in ENGLISH[::step] for turn in turns_in(load(clip.path, RATE).samples)]
    found = [await recogniser.recognise(turn.samples, voiced_s=turn.voiced_s) for turn in turns]

    assert len(found) > 20 // step
    assert [heard.refused for heard in found if heard.refused] == []


@pytest.mark.parametrize("clip", NOISE, ids=lambda clip: clip.path.name)
async def test_a_noise_gives_no_text_even_if_the_detectors_were_wrong(
    recogniser: WhisperRecogniser, clip: Clip
) -> None:
    samples = load(clip.path, RATE).samples[: 3 * RATE]

    for voiced_s in (None, 0.2):
        assert (await recogniser.recognise(samples, voiced_s=voiced_s)).text == ""


@pytest.mark.parametrize("level", [0.0, 1e-4, 1e-2, 0.3])
async def test_silence_and_hiss_give_no_text(recogniser: WhisperRecogniser, level: float) -> None:
    hiss = np.random.default_rng(0).normal(0, 1, 3 * RATE).astype(np.float32) * np.float32(level)

    for voiced_s in (None, 0.2):
        assert (await recogniser.recognise(hiss, voiced_s=voiced_s)).text == ""


async def test_two_sentences_with_a_pause_are_both_read(recogniser: WhisperRecogniser) -> None:
    pause = silence(0.35, RATE)
    password, meters = samples_of("asterisk_en_vm-newpassword.wav"), samples_of("sphinx_goforward.wav")

    heard = await recogniser.recognise(np.concatenate((meters, pause, password)))

    words = words_of(heard.text)
    assert words[:4] == ["go", "forward", "ten", "meters"]
    assert words[-3:] == ["the", "pound", "key"]


async def test_speech_of_more_than_half_a_minute_is_read_to_its_end(recogniser: WhisperRecogniser) -> None:
    speech = [samples_of("jfk.wav"), samples_of("mfa_acoustic_corpus.wav"), samples_of("cmu_arctic_a0009.wav")]

    heard = await recogniser.recognise(np.concatenate(speech))

    words = words_of(heard.text)
    assert words[:5] == ["and", "so", "my", "fellow", "americans"]
    assert words[-3:] == ["across", "the", "table"]
    assert 75 < len(words) < 105


async def test_an_english_model_refuses_another_language(folder: Path) -> None:
    with pytest.raises(SettingError, match=r"does not know de\. Choose a multilingual model"):
        await WhisperRecogniser(folder, language="de").warmup()


@pytest.mark.parametrize(("name", "content"), [("model.bin", b"\x06\x00\x00\x00"), ("tokenizer.json", b"{}")])
async def test_a_damaged_model_is_named(folder: Path, tmp_path: Path, name: str, content: bytes) -> None:
    _copy(folder, tmp_path, {name: content})

    with pytest.raises(ModelCorrupt, match=r"cannot be loaded .*models pull"):
        await WhisperRecogniser(tmp_path).warmup()


def _copy(folder: Path, to: Path, instead: dict[str, bytes]) -> None:
    for file in ("config.json", "model.bin", "tokenizer.json", "vocabulary.txt"):
        (to / file).write_bytes(instead.get(file) or (folder / file).read_bytes())


@pytest.mark.slow
async def test_it_understands_as_well_as_the_stock_recogniser(recogniser: WhisperRecogniser, folder: Path) -> None:
    """Within one word in a hundred, on every English clip whose words are known, and in less time."""
    stock = stock_recogniser(folder, "en")
    words = ours = theirs = 0
    for clip in ENGLISH:
        samples, reference = load(clip.path, RATE).samples, words_of(clip.transcript)
        words += len(reference)
        ours += word_errors(reference, words_of((await recogniser.recognise(samples)).text))
        theirs += word_errors(reference, words_of(stock(samples)))

    assert words > 200
    assert ours <= theirs + 0.01 * words


@pytest.mark.parametrize(
    ("name", "language", "last"),
    [
        ("mls_es_13697_11991_000000.opus", "es", "carlos"),
        ("asterisk_ru_confbridge-rest-list-vol-in.wav", "ru", "значению"),
        ("nst_sv_se10x016-08071999-1334_u0016004.wav", "sv", "sätt"),
    ],
)
async def test_the_end_of_a_turn_in_another_language_is_not_cut_off(name: str, language: str, last: str) -> None:
    recogniser = WhisperRecogniser(Store().path_of(load_manifest().model("base")), language=language)
    found = await recogniser.recognise(samples_of(name))
    await recogniser.aclose()

    assert words_of(found.text)[-1] == last
