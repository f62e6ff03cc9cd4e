"""Pauses: how long a speaker usually stops in the middle of a turn, learned while they talk."""

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from discussion_helper.errors import SettingError

__all__ = ["FLOOR_S", "LEAST_S", "LONGEST_S", "MOST", "PauseBounds", "PauseModel"]

LEAST_S = 0.2
"""Shorter ones are sounds: a stop consonant is silent for 0.1 s. No turn ends in them anyway."""
LONGEST_S = 3.0
"""Longer ones are no pauses in a sentence; the 95th percentile of those in telephone calls is 1.4 to 2.5 s."""
FLOOR_S = 0.4
"""Nobody is waited for less: a voice needs 0.1 s to be certain, and a breath takes 0.3 s."""
MOST = 40
"""So many are remembered: some ten turns of somebody who pauses often."""
_SHARE = 0.9
"""Of the pauses that the wait is to outlast. With the prior, two long pauses in a talk change nothing."""
_PRIOR = (*(share / 20 for share in range(4, 20)), 0.98, 1.0, 1.0, 1.0)
"""Pauses that everybody is taken to have made, as shares of what the wait is when nothing was learned."""
_SLACK_S, _SLACK = 0.12, 1.15
"""The wait beyond the longest usual pause: a voice is certain some 0.1 s after its beginning, and people vary."""


@dataclass(frozen=True, slots=True)
class PauseBounds:
    """What the wait that was learned stays between, and what it is before anything was. Raises SettingError."""

    usual_s: float = 0.5
    floor_s: float = FLOOR_S
    ceiling_s: float = 2.5

    def __post_init__(self) -> None:
        if not 0.0 < self.floor_s <= self.usual_s <= self.ceiling_s < math.inf:
            what = f"The waits of {self.floor_s} s, {self.usual_s} s and {self.ceiling_s} s are out of order."
            raise SettingError(what, fix="Keep 0 < floor_s <= usual_s <= ceiling_s.")


class PauseModel:
    """Of one speaker. A function of the pauses it was told of, in their order; for one thread.

    Told of pauses within turns alone: those that speech of the same turn followed, or of a turn that was opened again.
    """

    def __init__(self, pauses_s: Iterable[float] = (), *, bounds: PauseBounds | None = None) -> None:
        """`pauses_s`: those remembered from earlier, the oldest first."""
        self._bounds = bounds or PauseBounds()
        self._pauses: deque[float] = deque(maxlen=MOST)
        for pause_s in pauses_s:
            self.learn(pause_s)

    def learn(self, pause_s: float) -> None:
        """The speaker went on after so many seconds. What is no pause of a sentence is passed over."""
        if LEAST_S <= pause_s <= LONGEST_S:
            self._pauses.append(pause_s)

    @property
    def pauses_s(self) -> tuple[float, ...]:
        """Those that are remembered, the oldest first: the whole state."""
        return tuple(self._pauses)

    @property
    def bounds(self) -> PauseBounds:
        """Floor, ceiling, and what it began with."""
        return self._bounds

    @property
    def wait_s(self) -> float:
        """After so many seconds without voice this speaker has mostly finished, when nothing else is known."""
        if not self._pauses:
            return self._bounds.usual_s
        scale = (self._bounds.usual_s - _SLACK_S) / _SLACK
        known = sorted((*self._pauses, *(share * scale for share in _PRIOR)))
        usual = known[math.ceil(_SHARE * len(known)) - 1] * _SLACK + _SLACK_S
        return min(self._bounds.ceiling_s, max(self._bounds.floor_s, usual))
