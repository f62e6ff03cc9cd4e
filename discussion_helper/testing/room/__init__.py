"""A room in virtual time: the very same audio core between simulated devices, people and troubles.

from discussion_helper.testing import EchoResponder
from discussion_helper.testing.room import After, CutSynthesiser, Echo, Room, Scene, run_in_room, speech_like

STORY, ENOUGH = (speech_like(2.0, 48_000, seed=seed) for seed in (7, 8))  # or the samples of recordings


async def who_talks_over_a_reply_stops_it(room: Room) -> None:
    session = room.session(
        responder=EchoResponder(sentences=5),
        recogniser=room.recogniser(delay_s=0.2),
        synthesiser=CutSynthesiser(delay_s=0.1),
    )
    session.start()
    room.say(STORY, at_s=0.5, text="tell me a story")
    room.say(ENOUGH, after=After("reply", plus_s=1.5), text="that is enough")
    await room.reached("reply", 2)
    tape = room.recording
    voice_s = tape.mark("voice", 2).at_s  # the first voiced sample of it at the microphone
    assert tape.ducked_s(voice_s) < 0.4
    assert tape.silent_s(voice_s) < 0.8
    assert tape.dead_samples == 0


run_in_room(who_talks_over_a_reply_stops_it, Scene(echo=Echo(gain_db=-30.0), noise_dbfs=-65.0, seed=1))
"""

from discussion_helper.testing.room.detectors import (
    Detectors,
    LevelDetector,
    NoEchoPath,
    cheap_detectors,
)
from discussion_helper.testing.room.echo import Echo
from discussion_helper.testing.room.inline import InlineRecogniser, InlineScorer, InlineSynthesiser
from discussion_helper.testing.room.line import After, Line
from discussion_helper.testing.room.recognisers import KnownSound, MatchingRecogniser, ScriptedRecogniser
from discussion_helper.testing.room.room import Room
from discussion_helper.testing.room.running import run_in_room
from discussion_helper.testing.room.scene import Loudspeaker, Microphone, Scene
from discussion_helper.testing.room.synthesisers import CutSynthesiser, speech_like
from discussion_helper.testing.room.tape import Mark, Tape
from discussion_helper.testing.room.troubles import Hanging, Stalled, Unplugged, WrongStamps, Zeros

__all__ = [
    "After",
    "CutSynthesiser",
    "Detectors",
    "Echo",
    "Hanging",
    "InlineRecogniser",
    "InlineScorer",
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
    "run_in_room",
    "speech_like",
]
