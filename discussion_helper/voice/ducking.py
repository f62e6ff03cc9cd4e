"""When the agent is turned down: at the first voice that is not its own, before it is known what it is.

Two ways, each by WebRTC's gate in blocks of 10 ms. The microphone as it came, 8 dB above the echo that is expected in
it (`audio.bands.over_db`), in four of five blocks: that is a talker louder than the echo. What the canceller leaves, in
three of four blocks above -50 dBFS, as long as the microphone is above what was expected: that is a talker who is no
louder than it. Nothing waits for the neural detector, which is 30 to 40 ms later, and only the second way for the
canceller.

Measured in sample time by `python -m benchmarks.ducking`, which also draws the curve: the default voice at -22 dBFS as
the agent, 29 recorded people at -24 dBFS over it, a room of 0.25 s reverberation with noise at -70 dBFS. From the first
voice at the microphone to the rule, in ms, median / P95, and how often a minute the agent turns itself down, with
steady echoes (0 to -26 dB, 20 to 400 ms) and with echoes that are switched on, turned up and moved every 13 s:

    over     no echo   -20 dB, 50 ms   -10 dB, 100 ms   0 dB, 50 ms   steady   changing
    4 dB     40 / 50   43 / 83         47 / 88          76 / 341      3.0      4.8
    6 dB     41 / 50   46 / 83         55 / 122         93 / 351      0.4      2.6
    8 dB     41 / 50   47 / 84         55 / 128         113 / 472     0.0      2.3
    12 dB    43 / 76   52 / 88         61 / 148         133 / 510     0.0      2.6
"""

from collections import deque
from dataclasses import dataclass

import numpy as np

from discussion_helper.audio.frames import Samples
from discussion_helper.bounds import check_number
from discussion_helper.vad.base import Detector

__all__ = ["CLEAN_DBFS", "LOUD_DBFS", "MOST_OVER_DB", "OVER_DB", "Block", "DuckRule", "Gates"]

OVER_DB = 8.0
"""Above the expected echo and noise."""
MOST_OVER_DB = 60.0
"""Nobody is louder than that above what is heard of the agent."""
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


class Gates:
    """Two gates that hear the same 10 ms at 16 kHz."""

    def __init__(self, gate: Detector, clean_gate: Detector) -> None:
        """`gate` says yes easily, and hears the microphone as it came; `clean_gate` what the canceller leaves."""
        self._gate, self._clean_gate = gate, clean_gate

    def block(self, near: Samples, clean: Samples, *, near_db: float, expected_db: float) -> Block:
        """What there is to tell of these 10 ms."""
        return Block(
            near_db=near_db,
            expected_db=expected_db,
            clean_db=10.0 * float(np.log10(float(clean @ clean) / max(1, len(clean)) + 1e-12)),
            voiced=self._gate.probability(near) >= 0.5,
            clean_voiced=self._clean_gate.probability(clean) >= 0.5,
        )


class DuckRule:
    """A pure function of the last five blocks."""

    def __init__(self, *, over_db: float = OVER_DB, left: bool = True) -> None:
        """`over_db`: of the first way, above the expected echo. `left`: whether there is the second way.

        Raises SettingError.
        """
        check_number("over_db", over_db, 0.0, MOST_OVER_DB, unit="decibels")
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
