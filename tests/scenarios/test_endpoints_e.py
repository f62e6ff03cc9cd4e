"""E. The end of a turn: scenarios of public bug reports, in the simulated room and on recorded people."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest

from discussion_helper.audio.analysis import voiced
from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.bench.one_word import LEVELS_DBFS, WordRow, recorded_words, taken
from discussion_helper.models import Store, load_manifest
from discussion_helper.stt.whisper import WhisperRecogniser
from discussion_helper.testing.room import NoEchoPath, Room, cheap_detectors
from discussion_helper.turn.activity import ActivityTracker
from discussion_helper.turn.pauses import PauseModel
from discussion_helper.turn.policy_endpointer import PolicyEndpointer
from discussion_helper.turn.turns import TurnEnded, TurnEvent, TurnSegmenter, TurnStarted
from discussion_helper.vad.silero import SileroDetector
from discussion_helper.vad.webrtc import WebRtcDetector
from discussion_helper.voice.notes import Note, ProsodyWanted, Turn

RATE = 16_000
AUDIO = Path(__file__).parents[2] / "audio"
FIRST, FIRST_S = "speech/sphinx_cards_004.wav", 1.22
"""A recording, and where its last voice is in it."""
SECOND = "speech/praatio_bobby.wav"
CROWD = (
    *("librivox_0870_sense.wav", "asterisk_it_vm-mismatch.wav", "asterisk_ru_agent-incorrect.wav"),
    *("nst_sv_se10x016-08071999-1334_u0016004.wav", "asterisk_es_vm-rec-busy.wav", "librivox_0890_sense.wav"),
)


@pytest.fixture(scope="module")
def segmenter() -> TurnSegmenter:
    tracker = ActivityTracker(gate=WebRtcDetector(mode=2), judge=SileroDetector())
    return TurnSegmenter(tracker, PolicyEndpointer(max_turn_s=20.0))


def events_of(segmenter: TurnSegmenter, samples: Samples) -> list[tuple[TurnEvent, float]]:
    """With the second at which each was told."""
    segmenter.reset()
    found: list[tuple[TurnEvent, float]] = []
    for at in range(0, len(samples) - 159, 160):
        frame = Frame(samples[at : at + 160].copy(), RATE, at)
        found += [(event, frame.end / RATE) for event in segmenter.feed(frame)]
    return found


def at_level(samples: Samples, dbfs: float) -> Samples:
    span = voiced(samples, RATE)
    power = float(np.mean(np.square(samples[span.start : span.end])))
    return np.asarray(samples * (10.0 ** (dbfs / 20.0) / np.sqrt(power)), np.float32)


def ended(notes: list[Note]) -> list[TurnEnded]:
    return [note.event for note in notes if isinstance(note, Turn) and isinstance(note.event, TurnEnded)]


@pytest.mark.anyio
@pytest.mark.parametrize(("first", "turns"), [("I want", 1), ("I want pizza.", 2)])
async def test_e3_a_pause_after_half_a_sentence_does_not_end_the_turn(talk: Any, first: str, turns: int) -> None:
    """Without a model of prosody: the words alone tell."""
    async with talk(["Fine."]) as on:
        listener = on.session.discussion.listener
        notes, noted = list[Note](), listener.noted

        def note(it: Note) -> None:
            notes.append(it)
            noted(it)

        listener.noted = note
        on.say(FIRST, first, at_s=0.5)
        on.say(SECOND, "a pizza", at_s=0.5 + FIRST_S + 0.7)
        await on.room.until(lambda: on.room.now_s > 5.0)

        assert len(ended(notes)) == turns


class Says:
    """Judges every turn the same, and counts."""

    def __init__(self, score: float) -> None:
        self._score = score
        self.lengths: list[int] = []

    def score(self, samples: Samples) -> float:
        self.lengths.append(len(samples))
        return self._score


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("score", "text", "wait_s", "rule"),
    [
        (0.99, "yes please", 0.3, "sounds and reads complete"),
        (0.01, "I would like a", 1.5, "sounds and reads unfinished"),
        (0.99, "I would like a", 1.0, "sounds or reads unfinished"),
    ],
)
async def test_a_turn_is_judged_beside_the_talk_and_its_end_is_explained(
    clip: Callable[[str], Frame], parts: Any, score: float, text: str, wait_s: float, rule: str
) -> None:
    answers, ears, voice = parts
    notes: list[Note] = []
    judge = Says(score)
    room_ears = ears(delay_s=0.05)
    async with Room(
        detectors=cheap_detectors, echo_path=NoEchoPath, note_tap=notes.append, prosody=judge, pauses=PauseModel()
    ) as room:
        sound = clip("speech/sphinx_goforward.wav")
        room_ears.knows(text, sound.samples, sound.rate)
        session = room.session(responder=answers([["Fine."]]), recogniser=room_ears, synthesiser=voice())
        async with session.events("decision") as events:
            session.start()
            room.say(sound, at_s=0.5)
            await room.until(lambda: bool(ended(notes)))
            decision = await anext(events)
    (turn,) = ended(notes)

    assert turn.reason.rule == rule
    assert turn.reason.wait_s == pytest.approx(wait_s)
    assert {key: decision.data[key] for key in ("rule", "wait_s", "prosody")} == {
        "rule": rule,
        "wait_s": pytest.approx(wait_s),
        "prosody": pytest.approx(score, abs=0.006),
    }
    assert judge.lengths
    assert len(judge.lengths) == sum(isinstance(note, ProsodyWanted) for note in notes)


@pytest.mark.parametrize(
    "name", ["cmu_arctic_a0009.wav", pytest.param("praatio_bobby.wav", marks=pytest.mark.slow), "sphinx_goforward.wav"]
)
def test_e6_babble_behind_the_speaker_does_not_keep_the_turn_open(segmenter: TurnSegmenter, name: str) -> None:
    said = at_level(load(AUDIO / "speech" / name, RATE).samples, -26.0)
    length = 9 * RATE
    crowd = [
        np.resize(np.roll(at_level(load(AUDIO / "speech" / it, RATE).samples, -26.0), n * 7_000), length)
        for n, it in enumerate(CROWD)
    ]
    room = np.sum(crowd, axis=0).astype(np.float32)
    room *= 10.0 ** ((-26.0 - 15.0) / 20.0) / float(np.sqrt(np.mean(np.square(room))))
    room[2 * RATE : 2 * RATE + len(said)] += said
    over_s = 2.0 + voiced(said, RATE).end / RATE

    ends = [at_s for event, at_s in events_of(segmenter, room) if isinstance(event, TurnEnded)]

    assert [at_s for at_s in ends if over_s - 0.1 <= at_s <= over_s + 2.0]


def test_e6_a_turn_that_never_pauses_is_cut_and_the_cut_is_said() -> None:
    detectors = cheap_detectors()
    segmenter = TurnSegmenter(
        ActivityTracker(gate=detectors.gate, judge=detectors.judge), PolicyEndpointer(max_turn_s=4.0)
    )
    events = [event for event, _ in events_of(segmenter, np.full(5 * RATE, 0.1, np.float32))]
    (cut,) = [event for event in events if isinstance(event, TurnEnded)]

    assert cut.limit
    assert cut.reason.rule == "the longest turn"


def test_e7_single_words_are_heard(segmenter: TurnSegmenter) -> None:
    """Twenty of them, said alone or cut out where the speaker pauses around them, each at two levels."""
    heard = []
    for word in recorded_words(AUDIO):
        for dbfs in LEVELS_DBFS:
            room = np.random.default_rng(0).normal(0.0, 1e-4, len(word.samples) + 2 * RATE).astype(np.float32)
            room[RATE : RATE + len(word.samples)] += at_level(word.samples, dbfs)
            events = [event for event, _ in events_of(segmenter, room)]
            heard.append(any(isinstance(event, TurnStarted) for event in events))

    assert len(heard) == 40
    assert sum(heard) >= 0.95 * len(heard)


@pytest.mark.models
@pytest.mark.parametrize("levels", [(-26.0, -38.0), pytest.param((-38.0, -26.0), marks=pytest.mark.slow)])
def test_e7_single_words_are_taken(segmenter: TurnSegmenter, levels: tuple[float, ...]) -> None:
    """By the detectors as one turn each, and by the recogniser as words; every other one is soft."""

    async def rows() -> list[WordRow]:
        recogniser = WhisperRecogniser(Store().path_of(load_manifest().model("tiny.en")), language="en")
        words = zip(recorded_words(AUDIO), levels * 10, strict=True)
        found = [await taken(word, dbfs, segmenter, recogniser) for word, dbfs in words]
        await recogniser.aclose()
        return found

    found = anyio.run(rows)

    assert len(found) == 20
    assert [row for row in found if not row.taken][1:] == []
