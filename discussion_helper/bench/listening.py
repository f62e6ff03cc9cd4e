"""What hears a talk, without the talk: its detectors and its rule for the end of a turn, in sample time."""

from discussion_helper.turn.activity import ActivityTracker
from discussion_helper.turn.endpointing import Endpointer
from discussion_helper.turn.turns import TurnSegmenter
from discussion_helper.vad.silero import SileroDetector
from discussion_helper.vad.webrtc import WebRtcDetector

__all__ = ["segmenter_with"]


def segmenter_with(endpointer: Endpointer) -> TurnSegmenter:
    """Sample time alone counts for it, so that a loaded machine measures the same."""
    return TurnSegmenter(ActivityTracker(gate=WebRtcDetector(mode=2), judge=SileroDetector()), endpointer)
