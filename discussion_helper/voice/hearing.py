"""What the audio thread makes of the microphone: echo removed, turns cut out, interruptions decided."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Captured, Played
from discussion_helper.audio.resample import Resampler
from discussion_helper.turn.turns import TurnEvent, TurnSegmenter
from discussion_helper.voice.barge_in import OnsetRule

__all__ = [
    "BLOCK",
    "LEVEL_S",
    "MUTED_S",
    "RATE",
    "EchoPath",
    "Hearing",
    "Level",
    "Muted",
    "Note",
    "Onset",
    "Turn",
]

RATE = 16_000
"""Hertz of everything behind the microphone: what the detectors and the recogniser want."""
BLOCK = RATE // 100
LEVEL_S = 0.1
"""How often the level is told."""
MUTED_S = 2.0
"""Exact zeros for so long come from no microphone that hears: it is muted, or there is no permission."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Something about a turn, when it was decided, and the first and last voice so far; on `time.monotonic`'s clock."""

    event: TurnEvent
    decided_at_s: float
    started_at_s: float
    voiced_until_s: float
    own: bool = False
    """So far it is nothing but the agent's own voice, which the echo canceller left."""


@dataclass(frozen=True, slots=True)
class Onset:
    """The user is interrupting."""

    at_s: float
    voiced_s: float


@dataclass(frozen=True, slots=True)
class Level:
    """Root mean square of the last 100 ms at the microphone, in dBFS; -120 for silence."""

    dbfs: float


@dataclass(frozen=True, slots=True)
class Muted:
    """Nothing but zeros comes from the microphone; `on` false: something comes again."""

    on: bool


Note = Turn | Onset | Level | Muted


class EchoPath(Protocol):
    """Takes what the loudspeaker played out of what the microphone heard."""

    def feed(self, played: Played) -> None:
        """The loudspeaker got this."""
        ...

    def clean(self, near: Samples, at_s: float, start: int) -> Samples:
        """The 10 ms of the microphone from sample `start` at 16 kHz, there at `at_s`, without the echo."""
        ...

    def is_own_voice(self) -> bool:
        """Whether what was cleaned last still is the loudspeaker's sound. Takes milliseconds."""
        ...


class Hearing:
    """For the audio thread alone. A function of the samples and their times: a recording gives the same decisions."""

    def __init__(self, rate: int, *, segmenter: TurnSegmenter, echo: EchoPath, onset: OnsetRule) -> None:
        """`rate`: hertz of the microphone."""
        self._rate = rate
        self._segmenter = segmenter
        self._echo = echo
        self._onset = onset
        self._zero_s = 0.0
        self._begin(0)

    def _begin(self, start: int) -> None:
        self._resampler = Resampler(self._rate, RATE)
        self._expected = start
        self._next = round(start * RATE / self._rate)
        self._pending: Samples = np.zeros(0, np.float32)
        self._zeros = 0
        self._power: list[float] = []

    def finish(self) -> list[Note]:
        """The microphone was closed: an open turn ends."""
        return [self._turn(event, self._zero_s) for event in self._segmenter.flush()]

    def played(self, item: Played) -> None:
        """The loudspeaker got a block."""
        self._echo.feed(item)

    def captured(self, item: Captured) -> list[Note]:
        """The microphone delivered a block; what came of it."""
        frame = item.frame
        if frame.start != self._expected:
            self._begin(frame.start)
        self._expected = frame.end
        notes: list[Note] = [*self._watch_zeros(frame.samples), *self._measure(frame.samples)]
        zero_s = self._zero_s = item.at_s - frame.start_s
        self._pending = np.concatenate((self._pending, self._resampler.process(frame.samples)))
        while len(self._pending) >= BLOCK:
            block, self._pending = self._pending[:BLOCK], self._pending[BLOCK:]
            notes.extend(self._hear(block, zero_s))
        return notes

    def _hear(self, block: Samples, zero_s: float) -> Iterator[Note]:
        start, self._next = self._next, self._next + BLOCK
        clean = self._echo.clean(block, zero_s + start / RATE, start)
        for event in self._segmenter.feed(Frame(clean, RATE, start)):
            yield self._turn(event, zero_s)
        if self._interrupts(self._segmenter.open_voiced_s):
            yield Onset(zero_s + self._next / RATE, self._segmenter.open_voiced_s)

    def _interrupts(self, voiced_s: float) -> bool:
        doubtful = voiced_s > self._onset.voiced_s and not self._onset.told
        return self._onset.step(voiced_s, own=doubtful and self._echo.is_own_voice())

    def _turn(self, event: TurnEvent, zero_s: float) -> Turn:
        return Turn(
            event,
            decided_at_s=zero_s + self._next / RATE,
            started_at_s=zero_s + self._segmenter.onset / RATE,
            voiced_until_s=zero_s + self._segmenter.voiced_until / RATE,
            own=self._onset.is_own,
        )

    def _measure(self, samples: Samples) -> Iterator[Level]:
        self._power.append(float(np.mean(np.square(samples))) if len(samples) else 0.0)
        if len(self._power) * len(samples) >= LEVEL_S * self._rate:
            mean = sum(self._power) / len(self._power)
            self._power.clear()
            yield Level(max(-120.0, 10.0 * float(np.log10(mean + 1e-12))))

    def _watch_zeros(self, samples: Samples) -> Iterator[Muted]:
        before = self._zeros
        self._zeros = 0 if samples.any() else before + len(samples)
        limit = MUTED_S * self._rate
        if before < limit <= self._zeros:
            yield Muted(True)
        elif before >= limit > self._zeros:
            yield Muted(False)
