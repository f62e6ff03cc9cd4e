"""The loudness of a voice: its loudest 10 ms, and how far they are above the echo."""

from collections import deque

__all__ = ["HELD", "SILENT_DB", "Loudness"]

HELD = 200
"""Blocks of 10 ms between voices: the first one of a voice is found up to 1.8 s later (`turn/turns.py`)."""
SILENT_DB = -120.0


class Loudness:
    """Follows one voice after another, block by block. Levels in dBFS."""

    def __init__(self) -> None:
        self._before: deque[tuple[int, float, float]] = deque(maxlen=HELD)
        self._open = False
        self.level_dbfs = SILENT_DB
        """Of the loudest block of the voice that is open, or of the last one."""
        self.over_echo_db = 0.0
        """The same above what was expected in it if nobody spoke."""

    def step(self, start: int, *, near_db: float, expected_db: float, onset: int | None) -> None:
        """The block from sample `start` on. `onset`: first sample of the voice that is open; None = none is."""
        block = (start, near_db, near_db - expected_db)
        if onset is None:
            self._open = False
            self._before.append(block)
            return
        if not self._open:
            self._open, self.level_dbfs = True, SILENT_DB
            for known in self._before:
                if known[0] >= onset:
                    self._follow(known)
            self._before.clear()
        self._follow(block)

    def _follow(self, block: tuple[int, float, float]) -> None:
        if block[1] > self.level_dbfs:
            _, self.level_dbfs, self.over_echo_db = block
