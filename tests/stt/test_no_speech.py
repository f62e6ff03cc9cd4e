"""Where nobody speaks there is no turn, and who does speak is heard from the first word on."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import anyio
import numpy as np
import pytest

from discussion_helper.audio.clips import load_clips
from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.resample import resample
from discussion_helper.bench.no_speech import RATE, Piece, no_speech, sound_sources
from discussion_helper.bench.words import words_of
from discussion_helper.models import Store, load_manifest
from discussion_helper.stt.whisper import WhisperRecogniser
from discussion_helper.tts.piper import PiperSynthesiser
from discussion_helper.turn.activity import ActivityTracker
from discussion_helper.turn.endpointing import SilenceEndpointer
from discussion_helper.turn.turns import TurnEnded, TurnSegmenter
from discussion_helper.vad.silero import SileroDetector
from discussion_helper.vad.webrtc import WebRtcDetector

pytestmark = [pytest.mark.anyio, pytest.mark.models, pytest.mark.timeout(240)]

CLIPS = load_clips(Path(__file__).parents[2] / "audio")
UNHEARD = ("mfa_whisper.flac", "mfa_falsetto2.flac")
KINDS = ("silence", "fan", "breath", "music", "recorded noise", "recorded breath")
HINTS = ("Aachen", "Karin Åström", "Piper", "Thank you")


def path_of(model: str) -> Path:
    return Store().path_of(load_manifest().model(model))


@pytest.fixture(scope="module")
def recogniser() -> Iterator[WhisperRecogniser]:
    made = WhisperRecogniser(path_of("tiny.en"), language="en")
    yield made
    anyio.run(made.aclose)


def turns_in(samples: Samples) -> list[TurnEnded]:
    """What detectors that have heard nothing yet make of it, with a second of faint noise before and after."""
    tracker = ActivityTracker(gate=WebRtcDetector(mode=2), judge=SileroDetector())
    segmenter = TurnSegmenter(tracker, SilenceEndpointer())
    room = np.random.default_rng(0).normal(0, 1e-4, len(samples) + 2 * RATE).astype(np.float32)
    room[RATE : RATE + len(samples)] += samples
    return [event for event in segmenter.feed(Frame(room, RATE)) if isinstance(event, TurnEnded)]


async def texts_in(recogniser: WhisperRecogniser, pieces: Sequence[Piece]) -> list[tuple[str, float, str]]:
    """What is understood of what the detectors take for turns."""
    found = []
    for piece in pieces:
        for turn in turns_in(piece.samples):
            heard = await recogniser.recognise(turn.samples, voiced_s=turn.voiced_s)
            found += [(piece.name, piece.level_dbfs, heard.text)] if heard.text else []
    return found


def pieces_of(kind: str, count: int, *, seed: int = 7) -> list[Piece]:
    return list(no_speech({kind: sound_sources(CLIPS)[kind]}, seconds=6.0 * count, seed=seed))


@pytest.mark.parametrize("kind", KINDS)
async def test_what_is_no_speech_is_no_turn(recogniser: WhisperRecogniser, kind: str) -> None:
    assert await texts_in(recogniser, pieces_of(kind, 4)) == []


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
async def test_fifty_times_what_is_no_speech_is_no_turn(recogniser: WhisperRecogniser, kind: str) -> None:
    assert await texts_in(recogniser, pieces_of(kind, 50, seed=8)) == []


@pytest.mark.slow
async def test_what_is_expected_is_not_made_up_where_nobody_speaks() -> None:
    """As if the detectors had heard half a second of voice in each piece."""
    recogniser = WhisperRecogniser(path_of("tiny.en"), language="en", hints=HINTS)
    pieces = [piece for kind in KINDS for piece in pieces_of(kind, 4)]
    heard = [(await recogniser.recognise(piece.samples[: 3 * RATE], voiced_s=0.5)).text for piece in pieces]
    await recogniser.aclose()

    assert [text for text in heard if set(words_of(text)) & set(words_of(" ".join(HINTS)))] == []


async def test_somebody_who_says_thank_you_is_heard(recogniser: WhisperRecogniser) -> None:
    synthesiser = PiperSynthesiser(path_of("joe-medium"))
    speech = await synthesiser.synthesise("Thank you.")
    await synthesiser.aclose()

    [turn] = turns_in(resample(speech.samples, speech.rate, RATE))
    heard = await recogniser.recognise(turn.samples, voiced_s=turn.voiced_s)

    assert words_of(heard.text) == ["thank", "you"]


@pytest.mark.slow
async def test_the_first_word_is_there_though_the_turn_begins_with_little_before_it(
    recogniser: WhisperRecogniser,
) -> None:
    """Each clip at its own level and 3 dB lower, so that there are more than 20 onsets. The neural detector takes a
    whisper and a falsetto for no voice; those are left out.
    """
    onsets, missing = 0, []
    spoken = [clip for clip in CLIPS if clip.kind == "speech" and clip.language == "en" and clip.transcript]
    for clip in [it for it in spoken if it.path.name not in UNHEARD]:
        whole = load(clip.path, RATE).samples
        first = words_of((await recogniser.recognise(whole)).text)[:1]
        for gain in (1.0, 0.7):
            turns = turns_in(whole * np.float32(gain))
            onsets += 1
            heard = await recogniser.recognise(turns[0].samples, voiced_s=turns[0].voiced_s) if turns else None
            words = words_of(heard.text) if heard is not None else []
            if words[:1] not in (first, words_of(clip.transcript)[:1]):
                missing.append((clip.path.name, gain, words[:3]))

    assert onsets >= 20
    assert missing == []
