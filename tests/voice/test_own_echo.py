"""The agent never interrupts itself: recorded speech as its voice, simulated rooms, and the real detectors."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from discussion_helper.audio.echo import EchoPath
from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Played
from discussion_helper.testing.sample_room import RATE, ZERO_S, Echo, SampleRoom
from discussion_helper.turn.activity import ActivityTracker
from discussion_helper.turn.endpointing import SilenceEndpointer
from discussion_helper.turn.turns import TurnEnded, TurnSegmenter
from discussion_helper.types import Policy
from discussion_helper.vad.silero import SileroDetector
from discussion_helper.vad.webrtc import WebRtcDetector
from discussion_helper.voice.barge_in import OnsetRule
from discussion_helper.voice.hearing import Hearing
from discussion_helper.voice.notes import Note, Onset, Turn

SPEECH = Path(__file__).parents[2] / "audio" / "speech"
CHANGE_S = 6.3


@cache
def agent(name: str) -> Samples:
    """9.5 s of a recorded voice at -20 dBFS."""
    samples = load(SPEECH / name, RATE).samples
    samples = samples * (0.1 / np.sqrt(np.mean(np.square(samples))))
    return np.asarray(np.tile(samples, 3)[: round(9.5 * RATE)], np.float32)


def with_user(name: str, at_s: float, level: float = 1.0) -> Samples:
    """9.5 s in which a recorded user says something."""
    said = np.zeros(round(9.5 * RATE), np.float32)
    clip = load(SPEECH / name, RATE).samples * level
    start = round(at_s * RATE)
    said[start : start + len(clip)] = clip[: len(said) - start]
    return said


def notes_of(room: SampleRoom, played: Samples, said: Samples | None = None) -> list[Note]:
    tracker = ActivityTracker(gate=WebRtcDetector(mode=2), judge=SileroDetector())
    onset = OnsetRule(min_speech_s=Policy().barge_in_min_speech_s)
    segmenter = TurnSegmenter(tracker, SilenceEndpointer())
    hearing = Hearing(RATE, segmenter=segmenter, echo=EchoPath(), onset=onset)
    notes: list[Note] = []
    for item in room.items(played, np.zeros_like(played) if said is None else said):
        notes.extend(() if isinstance(item, Played) else hearing.captured(item))
        if isinstance(item, Played):
            hearing.played(item)
    return notes + hearing.finish()


def onsets(notes: list[Note]) -> list[float]:
    return [note.at_s - ZERO_S for note in notes if isinstance(note, Onset)]


def turns(notes: list[Note]) -> list[Turn]:
    """Those that would be recognised."""
    return [note for note in notes if isinstance(note, Turn) and isinstance(note.event, TurnEnded) and not note.own]


SWITCHED_ON = (Echo(0.0, None), Echo(CHANGE_S, -10.0, 0.1))
TURNED_UP = (Echo(0.0, -18.0, 0.05), Echo(CHANGE_S, -6.0, 0.05))
HICCUPS = tuple(Echo(0.5 * n, -10.0, 0.1 + 0.03 * (n % 3)) for n in range(18))
"""A busy machine plays too late, catches up, and plays too late again."""
MOVED = (Echo(0.0, -10.0, 0.05), Echo(CHANGE_S, -10.0, 0.35))
LATE = Echo(0.0, -10.0, 0.8)
"""Over Bluetooth, or behind a long buffer."""
BEGINS_LATE = (Echo(0.0, -10.0, 0.05), Echo(CHANGE_S, -10.0, 0.9))
NO_LONGER_LATE = (LATE, Echo(CHANGE_S, -10.0, 0.05))


@pytest.mark.parametrize(
    ("voice", "room"),
    [
        ("mfa_acoustic_corpus.wav", SampleRoom(echoes=SWITCHED_ON)),
        ("mfa_acoustic_corpus.wav", SampleRoom(echoes=SWITCHED_ON, wetness=0.0)),
        ("librivox_0870_sense.wav", SampleRoom(echoes=TURNED_UP)),
        ("mfa_acoustic_corpus.wav", SampleRoom(echoes=MOVED)),
        ("jfk.wav", SampleRoom(echoes=MOVED)),
        ("mfa_acoustic_corpus.wav", SampleRoom(echoes=(LATE,))),
        ("mfa_acoustic_corpus.wav", SampleRoom(echoes=BEGINS_LATE)),
        ("jfk.wav", SampleRoom(echoes=NO_LONGER_LATE)),
        ("librivox_0890_sense.wav", SampleRoom(echoes=MOVED)),
        ("mfa_acoustic_corpus.wav", SampleRoom(echoes=HICCUPS, jitter_s=0.01)),
        ("mfa_acoustic_corpus.wav", SampleRoom(echoes=(Echo(0.0, -10.0),), wrong_from_s=5.0, wrong_s=0.15)),
    ],
)
def test_a_leak_of_the_canceller_interrupts_nothing_and_is_no_turn(voice: str, room: SampleRoom) -> None:
    notes = notes_of(room, agent(voice))

    assert [] == onsets(notes)
    assert [] == turns(notes)


@pytest.mark.parametrize(
    "room",
    [
        SampleRoom(echoes=(Echo(0.0, 0.0, 0.4),)),
        SampleRoom(echoes=(Echo(0.0, -10.0, 0.02),)),
        SampleRoom(echoes=(Echo(0.0, -10.0, 0.1),), lost={500, *range(800, 805)}),
        SampleRoom(echoes=(Echo(0.0, -10.0, 0.1),), wrong_from_s=5.0, wrong_s=0.02),
        SampleRoom(echoes=(Echo(0.0, -10.0, 0.1),), wrong_from_s=5.0, wrong_s=0.04),
    ],
    ids=["first reply", "close", "lost blocks", "stamps 20 ms wrong", "stamps 40 ms wrong"],
)
def test_nor_does_it_interrupt_itself_in_the_first_reply_or_when_a_device_stumbles(room: SampleRoom) -> None:
    notes = notes_of(room, agent("mfa_acoustic_corpus.wav"))

    assert [] == onsets(notes)
    assert [] == turns(notes)


@pytest.mark.parametrize(
    ("echo", "within_s"),
    [(Echo(0.0, None), 0.4), (Echo(0.0, -20.0, 0.05), 0.4), (Echo(0.0, -10.0, 0.1), 0.5), (LATE, 0.5)],
)
def test_who_talks_over_the_agent_is_heard(echo: Echo, within_s: float) -> None:
    said = with_user("sphinx_goforward.wav", 6.0)
    first = int(np.flatnonzero(np.abs(said) > 0.02)[0]) / RATE

    notes = notes_of(SampleRoom(echoes=(echo,)), agent("mfa_acoustic_corpus.wav"), said)

    assert first < onsets(notes)[0] < first + within_s
    assert turns(notes)


def test_who_talks_while_the_canceller_still_learns_is_heard() -> None:
    said = with_user("sphinx_goforward.wav", CHANGE_S)

    notes = notes_of(SampleRoom(echoes=SWITCHED_ON), agent("mfa_acoustic_corpus.wav"), said)

    assert 1 == len(onsets(notes))
    assert turns(notes)
