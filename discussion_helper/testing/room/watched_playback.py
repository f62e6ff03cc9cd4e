"""A playback that remembers what it was given, so that what became of it can be measured."""

from collections.abc import Callable

import numpy as np

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.playback import Playback, Position
from discussion_helper.testing.room.track import Track

__all__ = ["REMEMBERED", "WatchedPlayback"]

REMEMBERED = 4
"""Replies."""


class WatchedPlayback(Playback):
    """The very same, watched. `halted(generation)` is told of every halt."""

    def __init__(self, rate: int, *, halted: Callable[[int], object]) -> None:
        super().__init__(rate)
        self._tell = halted
        self._given: dict[int, Track] = {}
        self._passed = Position(-1, 0, rate)

    def write(self, generation: int, samples: Samples) -> int | None:
        """As `Playback.write`."""
        end = super().write(generation, samples)
        if end is not None:
            self._track(generation).write(end - len(samples), np.clip(samples, -1.0, 1.0))
        return end

    def halt(self, generation: int) -> Position:
        """As `Playback.halt`."""
        self._tell(generation)
        return super().halt(generation)

    def taken(self, position: Position) -> Samples:
        """What was taken out to get there since it was asked last, as it was written; zeros of a forgotten reply."""
        before, self._passed = self._passed, position
        start = before.samples if before.generation == position.generation else 0
        track = self._given.get(position.generation, Track())
        return track.read(start, position.samples - start)

    def _track(self, generation: int) -> Track:
        if generation not in self._given:
            while len(self._given) >= REMEMBERED:
                del self._given[next(iter(self._given))]
            self._given[generation] = Track()
        return self._given[generation]
