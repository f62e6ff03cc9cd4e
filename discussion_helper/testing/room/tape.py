"""A tape: what was at the microphone and at the loudspeaker, sample by sample, and what can be read off it."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from discussion_helper.audio.analysis import SILENT_DBFS, Span, audible, holes, last_above
from discussion_helper.audio.frames import Samples

__all__ = ["GAIN_S", "MARK_KINDS", "Mark", "MarkKind", "Rendered", "Tape"]

MarkKind = Literal["reply", "halt", "line", "line_end", "voice", "voice_end"]
MARK_KINDS: tuple[str, ...] = get_args(MarkKind)

GAIN_S = 0.001
"""The loudspeaker's gain is measured over so long."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened at a moment of room time; the `number`-th of its kind, from 1.

    "line", "line_end": a line begins, ends; "voice", "voice_end": its first voiced sample, and the one after its last.
    "reply": its first audible sample at the loudspeaker. "halt": a reply is to fall silent for good. `generation`: the
    reply's in the playback.
    """

    kind: str
    number: int
    at_s: float
    text: str = ""
    generation: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class Rendered:
    """A block of a reply: `count` samples of the loudspeaker, taken out at `taken_s`, of which the first is sample
    `start` of the room, and `audible` the first that can be heard, -1 = none. `gains` are those of each millisecond,
    NaN where the reply itself is silent there.
    """

    start: int
    taken_s: float
    generation: int
    count: int
    audible: int
    gains: Samples


@dataclass(frozen=True, slots=True, eq=False)
class Tape:
    """Both tracks begin with sample `start` of the room and have its `rate`. Times are room time, in seconds."""

    rate: int
    start: int
    loudspeaker: Samples
    microphone: Samples
    marks: tuple[Mark, ...]
    rendered: tuple[Rendered, ...]

    def mark(self, kind: str, number: int = 1) -> Mark:
        """Raises ValueError if there is none."""
        for mark in self.marks:
            if mark.kind == kind and mark.number == number:
                return mark
        raise ValueError(
            f"There is no mark {kind!r} number {number}; there are {sorted({m.kind for m in self.marks})}."
        )

    def index(self, at_s: float) -> int:
        """Of a moment in the tracks."""
        return round(at_s * self.rate) - self.start

    def time_s(self, index: int) -> float:
        """Of a sample of the tracks."""
        return (self.start + index) / self.rate

    def ducked_s(self, after_s: float, *, by_db: float = 20.0) -> float:
        """From `after_s` on until the reply that is heard then is `by_db` softer than it was written, or silent.

        Infinity if it is not turned down, or nothing is heard.
        """
        bar = 10.0 ** (-by_db / 20.0)
        after = round(after_s * self.rate)
        gains = self._gains(after)
        low = np.flatnonzero(gains <= bar)
        if not len(low):
            return math.inf
        return max(0.0, (after // self._step * self._step + int(low[0]) * self._step - after) / self.rate)

    def silent_s(self, after_s: float) -> float:
        """From `after_s` until the last sample above -60 dBFS of the reply that is heard then; -inf: there is none."""
        block = self._playing(round(after_s * self.rate))
        if block is None:
            return -math.inf
        later = [it.start for it in self.rendered if it.generation > block.generation]
        end = min(later, default=self.start + len(self.loudspeaker)) - self.start
        last = last_above(self.loudspeaker[:end], SILENT_DBFS)
        return -math.inf if last is None else self.time_s(last + 1) - after_s

    @property
    def dead_samples(self) -> int:
        """Samples of replies that were rendered after they were halted."""
        halts = [(mark.at_s, mark.generation) for mark in self.marks if mark.kind == "halt"]
        dead = [it for it in self.rendered if any(at < it.taken_s and it.generation <= gen for at, gen in halts)]
        return sum(it.count for it in dead)

    def holes(self, reply: int = 1) -> list[Span]:
        """Digital silence of 60 ms or more inside a reply, in samples of the tracks."""
        mark = self.mark("reply", reply)
        blocks = [it for it in self.rendered if it.generation == mark.generation]
        end = blocks[-1].start + self.rate // 100 - self.start
        heard = audible(self.loudspeaker[:end], after=self.index(mark.at_s))
        return [] if heard is None else holes(self.loudspeaker, self.rate, heard)

    @property
    def _step(self) -> int:
        return round(GAIN_S * self.rate)

    def _playing(self, at: int) -> Rendered | None:
        """The block that is heard at a sample of the room, or the last one before."""
        before = [it for it in self.rendered if it.start <= at]
        return before[-1] if before else None

    def _gains(self, after: int) -> Samples:
        """Of every millisecond from that sample of the room on, for what is heard then: 0.0 where nothing is played."""
        block = self._playing(after)
        mine = [it for it in self.rendered if block and it.generation == block.generation and it.start >= block.start]
        if not mine:
            return np.zeros(0, np.float32)
        first = after // self._step
        count = mine[-1].start // self._step + len(mine[-1].gains) + 2 - first
        gains = np.zeros(max(0, count), np.float32)
        for it in mine:
            at = it.start // self._step - first
            low = max(0, -at)
            piece = it.gains[low : low + max(0, len(gains) - at - low)]
            gains[at + low : at + low + len(piece)] = np.where(np.isnan(piece), 1.0, piece)
        return gains
