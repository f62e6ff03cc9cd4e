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

    def given(self, generation: int, start: int, count: int) -> Samples:
        """Samples of a reply as they were written; zeros of one that is forgotten."""
        track = self._given.get(generation)
        return np.zeros(count, np.float32) if track is None else track.read(start, count)

    def _track(self, generation: int) -> Track:
        if generation not in self._given:
            while len(self._given) >= REMEMBERED:
                del self._given[next(iter(self._given))]
            self._given[generation] = Track()
        return self._given[generation]
