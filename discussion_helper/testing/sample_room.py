"""A room of which both sounds are known from the beginning: what the audio thread would get of them, item by item."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Captured, Played
from discussion_helper.audio.playback import Position
from discussion_helper.testing.room.acoustics import Acoustics
from discussion_helper.testing.room.echo import Echo
from discussion_helper.testing.room.scene import Scene
from discussion_helper.testing.room.track import Track

__all__ = ["AHEAD", "BLOCK", "BLOCK_S", "RATE", "ZERO_S", "Echo", "SampleRoom"]

RATE = 48_000
BLOCK_S = 0.01
ZERO_S = 1_000.0
"""When the first samples are at the converters."""
BLOCK = RATE // 100
AHEAD = 3
"""Blocks by which a loudspeaker is fed before they are heard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRoom:
    """The acoustics of a `Scene`, without a talk; sounds are at 48 kHz."""

    echoes: Sequence[Echo] = ()
    reverberation_s: float = 0.25
    """Until it has faded by 60 dB."""
    wetness: float = 0.05
    """First reflections against the direct sound; 0.0 = a cable."""
    noise_dbfs: float = -70.0
    jitter_s: float = 0.001
    """Of the time stamps of both devices."""
    lost: Collection[int] = ()
    """Blocks of the microphone that never come."""
    wrong_from_s: float = 0.0
    wrong_s: float = 0.0
    """By which the loudspeaker's time stamps are wrong from `wrong_from_s` on."""
    seed: int = 1

    def heard(self, played: Samples, said: Samples) -> Samples:
        """What is at the microphone."""
        scene = Scene(
            echo=tuple(self.echoes),
            reverberation_s=self.reverberation_s,
            wetness=self.wetness,
            noise_dbfs=self.noise_dbfs,
            rate=RATE,
            keep_s=len(said) / RATE + 1.0,
            seed=self.seed,
        )
        loudspeaker = Track()
        loudspeaker.write(0, played)
        room = Acoustics(scene, loudspeaker)
        room.say(0, said)
        return room.read(0, len(said))

    def items(self, played: Samples, said: Samples) -> Iterator[Captured | Played]:
        """What the audio thread gets of it, in its order. What is played without a sound is not told."""
        stamps = np.random.default_rng(self.seed + 1)
        near = self.heard(played, said)
        for number in range(-AHEAD, len(near) // BLOCK):
            fed = (number + AHEAD) * BLOCK
            loud = played[fed : fed + BLOCK].copy()
            if len(loud) == BLOCK and loud.any():
                wrong_s = self.wrong_s if fed / RATE >= self.wrong_from_s else 0.0
                at_s = ZERO_S + fed / RATE + wrong_s + stamps.uniform(-self.jitter_s, self.jitter_s)
                yield Played(Frame(loud, RATE, fed), at_s, Position(1, fed, RATE))
            if number >= 0 and number not in self.lost:
                at_s = ZERO_S + number * BLOCK_S + stamps.uniform(-self.jitter_s, self.jitter_s)
                yield Captured(Frame(near[number * BLOCK : (number + 1) * BLOCK].copy(), RATE, number * BLOCK), at_s)
