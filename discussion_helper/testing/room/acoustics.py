"""The acoustics of a room: loudspeaker, people and noise together at the microphone."""

import math

import numpy as np

from discussion_helper.audio.frames import Samples
from discussion_helper.testing.room.echo import Convolver, Echo, response
from discussion_helper.testing.room.interpolator import Interpolator
from discussion_helper.testing.room.noise import Noise
from discussion_helper.testing.room.scene import Scene
from discussion_helper.testing.room.track import Track

__all__ = ["Acoustics"]

_HELD_S = 2.0


class Acoustics:
    """Works out the microphone's track from the loudspeaker's, in blocks of 10 ms, as far as it is asked for."""

    def __init__(self, scene: Scene, loudspeaker: Track) -> None:
        self.microphone = Track(round(scene.keep_s * scene.rate))
        self.done = 0
        """Samples that are worked out; nothing can be said before."""
        self._rate = scene.rate
        self._block = scene.rate // 100
        self._loudspeaker = loudspeaker
        self._noise = Noise(scene.rate, scene.noise_dbfs, scene.noise_colour, scene.seed)
        taps = response(scene.rate, reverberation_s=scene.reverberation_s, wetness=scene.wetness, seed=scene.seed)
        self._convolver = Convolver(taps, self._block)
        self._echoes = scene.echoes if any(echo.gain_db is not None for echo in scene.echoes) else ()
        self._longest = round(max((echo.delay_s for echo in self._echoes), default=0.0) * scene.rate)
        self._wet = Track(self._longest + round(_HELD_S * scene.rate))
        self._said: list[tuple[int, Samples]] = []
        self._clip = 10.0 ** (scene.microphone.clip_dbfs / 20.0)

    def say(self, start: int, samples: Samples) -> int:
        """Add a sound, from that sample on or as soon as it can be; where it begins."""
        start = max(start, self.done)
        self._said.append((start, samples))
        return start

    def read(self, start: int, count: int) -> Samples:
        """What is at the microphone; not to be changed."""
        self.advance(start + count)
        return self.microphone.read(start, count)

    def between(self, reader: Interpolator, place: float, count: int) -> Samples:
        """The same on another clock."""
        self.advance(math.ceil(place + reader.step * count) + reader.reach + 1)
        return reader.read(self.microphone, place, count)

    def advance(self, until: int) -> None:
        """Work it out up to there. The loudspeaker must be known that far."""
        while self.done < until:
            self.microphone.write(self.done, self._next())
            self.done += self._block

    def _next(self) -> Samples:
        out = self._noise.read(self._block)
        echoes = self._echoes and self._add_echo(out)
        if self._said:
            self._add_lines(out)
        return np.clip(out, -self._clip, self._clip) if echoes or self._said else out

    def _add_echo(self, out: Samples) -> bool:
        """False where there is none."""
        wet = self._convolver.process(self._loudspeaker.read(self.done, self._block))
        if wet is not None:
            self._wet.write(self.done, wet)
        elif self._wet.end + self._longest < self.done:
            return False
        for echo, begin, end in self._spans():
            if echo.gain_db is None:
                continue
            late = self._wet.read(self.done + begin - round(echo.delay_s * self._rate), end - begin)
            out[begin:end] += late * np.float32(10 ** (echo.gain_db / 20))
        return True

    def _spans(self) -> list[tuple[Echo, int, int]]:
        """Which echo there is in which part of the block; none before the first."""
        begins = [min(max(round(echo.from_s * self._rate) - self.done, 0), self._block) for echo in self._echoes]
        ends = [*begins[1:], self._block]
        return [(e, b, end) for e, b, end in zip(self._echoes, begins, ends, strict=True) if b < end]

    def _add_lines(self, out: Samples) -> None:
        for start, samples in self._said:
            low = max(start, self.done)
            high = min(start + len(samples), self.done + self._block)
            if low < high:
                out[low - self.done : high - self.done] += samples[low - start : high - start]
        self._said = [(start, samples) for start, samples in self._said if start + len(samples) > self.done]
