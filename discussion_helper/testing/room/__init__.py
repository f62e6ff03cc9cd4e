"""A room in virtual time: the very same audio core between simulated devices, people and troubles."""

from discussion_helper.testing.room.detectors import (
    Detectors,
    LevelDetector,
    NoEchoPath,
    cheap_detectors,
    real_detectors,
)
from discussion_helper.testing.room.echo import Echo
from discussion_helper.testing.room.inline import InlineRecogniser, InlineSynthesiser
from discussion_helper.testing.room.line import After, Line
from discussion_helper.testing.room.recognisers import KnownSound, MatchingRecogniser, ScriptedRecogniser
from discussion_helper.testing.room.room import Room
from discussion_helper.testing.room.running import run_in_room
from discussion_helper.testing.room.scene import Loudspeaker, Microphone, Scene
from discussion_helper.testing.room.synthesisers import CutSynthesiser, speech_like
from discussion_helper.testing.room.tape import Mark, Tape
from discussion_helper.testing.room.troubles import Stalled, Unplugged, WrongStamps, Zeros

__all__ = [
    "After",
    "CutSynthesiser",
    "Detectors",
    "Echo",
    "InlineRecogniser",
    "InlineSynthesiser",
    "KnownSound",
    "LevelDetector",
    "Line",
    "Loudspeaker",
    "Mark",
    "MatchingRecogniser",
    "Microphone",
    "NoEchoPath",
    "Room",
    "Scene",
    "ScriptedRecogniser",
    "Stalled",
    "Tape",
    "Unplugged",
    "WrongStamps",
    "Zeros",
    "cheap_detectors",
    "real_detectors",
    "run_in_room",
    "speech_like",
]
