"""How the audio is doing: how late its thread is, and what was lost."""

from dataclasses import dataclass

__all__ = ["BUCKETS", "BUCKET_S", "Health", "Lag", "Lateness"]

BUCKET_S = 0.0005
"""A block lasts 10 ms: finer than this nobody needs to know how late it was."""
BUCKETS = 2000
"""1 s; what is later counts as that late in the percentile. So the thread may run for weeks in the same memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Of the audio since the talk was opened. Times are in seconds; all counts but `queued_most` only grow.

    A block of the microphone (10 ms) is as late as it takes from the device's callback, which hands it over, to the end
    of the audio thread's work on it: echo, detectors, decisions. Beyond 10 ms the thread falls behind, and beyond 2 s
    blocks are dropped.
    """

    blocks: int = 0
    """Blocks of the microphone that the audio thread has worked on."""
    late_p99_s: float = 0.0
    """99 % of them were at most so late, to half a millisecond."""
    late_worst_s: float = 0.0
    woken_p99_s: float = 0.0
    """The same to the beginning of that work: what the thread waited for a processor and for the interpreter."""
    dropped: int = 0
    """Blocks of either device that found the queue to the audio thread full."""
    overflows: int = 0
    """Times that the microphone lost samples because its callback came too late."""
    underflows: int = 0
    """Blocks of the loudspeaker that came too late: each is a gap that can be heard."""
    queued_most: int = 0
    """The most that waited in the queue to the audio thread at once, in blocks; it holds 600."""
    losses: int = 0
    """Times that a device went away."""
    judges_prosody: bool = False
    """A model judges how complete turns sound; without it their ends are told by silence, text and pauses alone."""


@dataclass(frozen=True, slots=True)
class Lag:
    """The worst of a short while, for who acts on it; seconds, and blocks of the loudspeaker that came too late."""

    detectors_s: float = 0.0
    loop_s: float = 0.0
    underflows: int = 0


class Lateness:
    """A histogram of how late blocks were. One thread adds, any may read."""

    def __init__(self) -> None:
        self._counts = [0] * (BUCKETS + 1)
        self.blocks = 0
        self.worst_s = 0.0
        self._newest_s = 0.0

    def add(self, late_s: float) -> None:
        """One more block."""
        self._counts[min(BUCKETS, max(0, int(late_s / BUCKET_S)))] += 1
        self.worst_s = max(self.worst_s, late_s)
        self._newest_s = max(self._newest_s, late_s)
        self.blocks += 1

    def take_s(self) -> float:
        """The worst since the last call, of one caller; a block that is added at this very moment may be missed."""
        newest_s, self._newest_s = self._newest_s, 0.0
        return newest_s

    def percentile_s(self, percent: float) -> float:
        """So many percent of the blocks were at most so late; 0.0 if there are none."""
        counts = list(self._counts)
        left = sum(counts) * percent / 100.0
        for number, count in enumerate(counts):
            left -= count
            if count and left <= 0.0:
                return min((number + 1) * BUCKET_S, self.worst_s)
        return 0.0
