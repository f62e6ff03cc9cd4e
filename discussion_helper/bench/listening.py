"""What hears a talk, without the talk: its detectors and its rule for the end of a turn, in sample time."""

from discussion_helper.stt.base import Recognised, Recogniser
from discussion_helper.turn.activity import ActivityTracker
from discussion_helper.turn.endpointing import Endpointer
from discussion_helper.turn.turns import TurnEnded, TurnSegmenter
from discussion_helper.vad.silero import SileroDetector
from discussion_helper.vad.webrtc import WebRtcDetector
from discussion_helper.voice.assembly import QUIET_PREROLL_S
from discussion_helper.voice.tail import with_tail

__all__ = ["read_turn", "segmenter_with"]


def segmenter_with(endpointer: Endpointer) -> TurnSegmenter:
    """Sample time alone counts for it, so that a loaded machine measures the same."""
    tracker = ActivityTracker(gate=WebRtcDetector(mode=2), judge=SileroDetector())
    return TurnSegmenter(tracker, endpointer, quiet_preroll_s=QUIET_PREROLL_S)


async def read_turn(turn: TurnEnded, recogniser: Recogniser) -> Recognised:
    """What a talk's recogniser makes of it. Raises RecogniserError."""
    return await recogniser.recognise(with_tail(turn.samples), voiced_s=turn.voiced_s)
