"""What hears a talk, without the talk: its detectors and its rule for the end of a turn, in sample time."""

import numpy as np

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.stt.base import Recognised, Recogniser
from discussion_helper.turn.activity import ActivityTracker
from discussion_helper.turn.endpointing import Endpointer
from discussion_helper.turn.turns import TurnEnded, TurnSegmenter
from discussion_helper.vad.silero import SileroDetector
from discussion_helper.vad.webrtc import WebRtcDetector
from discussion_helper.voice.assembly import QUIET_PREROLL_S
from discussion_helper.voice.tail import with_tail

__all__ = ["BEFORE_S", "RATE", "read_turn", "segmenter_with", "turns_in_room"]

RATE = 16_000
"""Hertz of what they hear."""
BEFORE_S = 1.0
"""Of a quiet room, before somebody says something in it."""
_AFTER_S = 2.0
_ROOM = 1e-4


def segmenter_with(endpointer: Endpointer) -> TurnSegmenter:
    """Sample time alone counts for it, so that a loaded machine measures the same."""
    tracker = ActivityTracker(gate=WebRtcDetector(mode=2), judge=SileroDetector())
    return TurnSegmenter(tracker, endpointer, quiet_preroll_s=QUIET_PREROLL_S)


def turns_in_room(samples: Samples, segmenter: TurnSegmenter) -> list[TurnEnded]:
    """What it takes for turns when these, at 16 kHz, are said in a room with a faint noise, -80 dBFS."""
    before, after = round(BEFORE_S * RATE), round(_AFTER_S * RATE)
    room = np.random.default_rng(0).normal(0.0, _ROOM, before + len(samples) + after).astype(np.float32)
    room[before : before + len(samples)] += samples
    segmenter.reset()
    return [event for event in segmenter.feed(Frame(room, RATE)) if isinstance(event, TurnEnded)]


async def read_turn(turn: TurnEnded, recogniser: Recogniser) -> Recognised:
    """What a talk's recogniser makes of it. Raises RecogniserError."""
    return await recogniser.recognise(with_tail(turn.samples), voiced_s=turn.voiced_s)
