"""The real detectors on recorded people and noises."""

from pathlib import Path

import numpy as np
import pytest

from discussion_helper.audio.clips import Clip, load_clips
from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.turn.activity import ActivityTracker
from discussion_helper.turn.endpointing import SilenceEndpointer
from discussion_helper.turn.turns import TurnEnded, TurnEvent, TurnSegmenter, TurnStarted
from discussion_helper.vad.silero import SileroDetector
from discussion_helper.vad.webrtc import WebRtcDetector

RATE = 16_000
CLIPS = load_clips(Path(__file__).parents[2] / "audio")
MISSED = {"mfa_falsetto2.flac", "mfa_whisper.flac"}  # squeaked and whispered: Silero gives them 0.6 at most
NOISY = {"mfa_acoustic_corpus.wav", "mfa_cold_corpus3.wav"}  # the room is as loud as a syllable


@pytest.fixture(scope="module")
def segmenter() -> TurnSegmenter:
    return TurnSegmenter(ActivityTracker(gate=WebRtcDetector(mode=2), judge=SileroDetector()), SilenceEndpointer())


def in_a_quiet_room(samples: Samples) -> Samples:
    """With a second of faint noise around it."""
    room = np.random.default_rng(0).normal(0, 1e-4, len(samples) + 2 * RATE).astype(np.float32)
    room[RATE : RATE + len(samples)] += samples
    return room


def events_of(segmenter: TurnSegmenter, samples: Samples, size: int = 160) -> list[TurnEvent]:
    segmenter.reset()
    found: list[TurnEvent] = []
    for at in range(0, len(samples), size):
        found += segmenter.feed(Frame(samples[at : at + size].copy(), RATE, at))
    return found


def turns_of(segmenter: TurnSegmenter, samples: Samples) -> list[TurnEnded]:
    return [event for event in events_of(segmenter, samples) if isinstance(event, TurnEnded)]


def first_loud(samples: Samples) -> int:
    """First sample of the first 10 ms within 25 dB of the loudest."""
    levels = np.square(samples[: len(samples) // 160 * 160]).reshape(-1, 160).mean(axis=1)
    return int(np.argmax(levels > levels.max() / 300)) * 160


SPEECH = [clip for clip in CLIPS if clip.kind == "speech" and clip.path.name not in MISSED]
NOISE = [clip for clip in CLIPS if clip.kind == "noise"]


@pytest.mark.parametrize("clip", SPEECH, ids=lambda clip: clip.path.name)
def test_a_person_is_heard_from_the_first_syllable_on(segmenter: TurnSegmenter, clip: Clip) -> None:
    samples = in_a_quiet_room(load(clip.path, RATE).samples)

    turns = turns_of(segmenter, samples)

    assert turns
    assert turns[0].start <= first_loud(samples) or clip.path.name in NOISY
    assert sum(turn.voiced_s for turn in turns) > 0.15


@pytest.mark.parametrize("clip", NOISE, ids=lambda clip: clip.path.name)
def test_a_noise_is_nobody(segmenter: TurnSegmenter, clip: Clip) -> None:
    samples = load(clip.path, RATE).samples

    assert events_of(segmenter, in_a_quiet_room(np.tile(samples, 3))) == []


def test_hardly_anybody_is_cut_off(segmenter: TurnSegmenter) -> None:
    """Of clips of one sentence or two."""
    short = [clip for clip in SPEECH if 1.0 < clip.duration_s < 10.0]
    cut = [clip for clip in short if len(turns_of(segmenter, in_a_quiet_room(load(clip.path, RATE).samples))) > 1]

    assert len(short) > 25
    assert len(cut) <= 0.1 * len(short), [clip.path.name for clip in cut]


def test_a_clip_replayed_in_other_pieces_gives_the_same_decisions(segmenter: TurnSegmenter) -> None:
    [clip] = [clip for clip in CLIPS if clip.path.name == "jfk.wav"]
    samples = in_a_quiet_room(load(clip.path, RATE).samples)
    first = events_of(segmenter, samples)

    assert len(first) > 3
    assert repr(events_of(segmenter, samples)) == repr(first)
    assert repr(events_of(segmenter, samples, size=1_111)) == repr(first)


def test_a_start_is_told_soon(segmenter: TurnSegmenter) -> None:
    [clip] = [clip for clip in CLIPS if clip.path.name == "cmu_arctic_a0009.wav"]
    samples = in_a_quiet_room(load(clip.path, RATE).samples)
    segmenter.reset()
    told = next(
        at
        for at in range(0, len(samples), 160)
        if any(isinstance(e, TurnStarted) for e in segmenter.feed(Frame(samples[at : at + 160].copy(), RATE, at)))
    )

    assert told - first_loud(samples) < 0.2 * RATE
