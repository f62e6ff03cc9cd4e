"""When the agent is turned down: at the first voice that is not its own, before it is known what it is.

Two ways, each by WebRTC's gate in blocks of 10 ms. The microphone as it came, 8 dB above the echo that is expected in
it, in four of five blocks: that is a talker louder than the echo. What the canceller leaves, in three of four blocks
above -50 dBFS, as long as the microphone is above what was expected: that is a talker who is no louder than it. Nothing
waits for the neural detector, which is 30 to 40 ms later, and only the second way for the canceller.

Measured in sample time (`python -m benchmarks.ducking`), the default voice at -22 dBFS as the agent, 15 recorded people
over it, a room of 0.25 s reverberation with noise at -70 dBFS; from the first voice at the microphone to the rule, in
ms, median / P95:

    echo            people at -18     -24         -30 dBFS
    none                   43 / 51    45 / 70     45 / 85
    -20 dB, 50 ms          45 / 60    48 / 92     60 / 162
    -10 dB, 100 ms         45 / 129   80 / 213    103 / 599
    -6 dB, 200 ms          64 / 212   94 / 500    195 / 891
    0 dB, 50 ms            95 / 205   195 / 560   370 / 1968

The agent alone: 0.33 times a minute in rooms that stay as they are (echo 0 to -20 dB, 20 to 400 ms away; the one time
in three minutes is in the first second), 1.65 with echoes that are switched on, turned up and moved in the middle. The
first way alone is as often wrong and has a P95 of 334 instead of 129 ms at -10 dB; with 6 dB instead of 8 it is wrong
five times as often.
"""

from collections import deque
from dataclasses import dataclass

__all__ = ["CLEAN_DBFS", "LOUD_DBFS", "OVER_DB", "Block", "DuckRule"]

OVER_DB = 8.0
"""Above the expected echo and noise."""
LOUD_DBFS = -55.0
"""Softer than that nobody is heard who speaks to the machine."""
CLEAN_DBFS = -50.0
"""Softer than that it may be what the canceller could not take away."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """10 ms of the microphone. Levels are root mean squares in dBFS."""

    near_db: float
    """As it came."""
    expected_db: float
    """If nobody spoke: echo and noise."""
    clean_db: float
    """What the canceller leaves."""
    voiced: bool
    """A gate that says yes easily takes it for a voice, as it came."""
    clean_voiced: bool
    """A gate that does not takes what is left for one."""

    @property
    def over_db(self) -> float:
        """Above what was expected."""
        return self.near_db - self.expected_db


class DuckRule:
    """A pure function of the last five blocks."""

    def __init__(self, *, over_db: float = OVER_DB, left: bool = True) -> None:
        """`over_db`: of the first way, above the expected echo. `left`: whether there is the second way."""
        self._over_db = over_db
        self._uses_left = left
        self._loud: deque[bool] = deque([False] * 5, 5)
        self._left: deque[bool] = deque([False] * 4, 4)

    def step(self, block: Block) -> bool:
        """Whether somebody but the agent is heard, as far as can be told so soon."""
        self._loud.append(block.voiced and block.over_db > self._over_db and block.near_db > LOUD_DBFS)
        self._left.append(
            self._uses_left and block.clean_voiced and block.over_db > 0.0 and block.clean_db > CLEAN_DBFS
        )
        return sum(self._loud) >= 4 or sum(self._left) >= 3
