"""Voice activity: when somebody starts and stops talking."""

from dataclasses import dataclass

import numpy as np

from discussion_helper.audio.frames import Samples
from discussion_helper.errors import SettingError
from discussion_helper.turn.foreground import Foreground
from discussion_helper.vad.base import Detector

__all__ = ["ActivityTracker", "Hysteresis", "VoiceChange", "VoiceStarted", "VoiceStopped"]


@dataclass(frozen=True, slots=True)
class VoiceStarted:
    """A voice is heard from `sample` on; said once that is certain, some 70 ms later."""

    sample: int


@dataclass(frozen=True, slots=True)
class VoiceStopped:
    """The last voice ended before `sample`; said after the hangover."""

    sample: int


VoiceChange = VoiceStarted | VoiceStopped


class Hysteresis:
    """Turns probabilities into strictly alternating starts and stops; a pure function of what it was given.

    A voice starts with `start` samples in a row at `off` or more of which the first reached `on`, if the gate agreed
    by then; it stops after `hangover` samples below `off`. Raises SettingError unless 0 < off <= on < 1.
    """

    def __init__(self, *, on: float = 0.5, off: float = 0.35, start: int = 1024, hangover: int = 1536) -> None:
        if not 0.0 < off <= on < 1.0:
            raise SettingError(f"The voice thresholds on={on} and off={off} do not fit.", fix="Keep 0 < off <= on < 1.")
        self._on, self._off = on, off
        self._start, self._hangover = start, hangover
        self.reset()

    def reset(self) -> None:
        """Nobody is talking."""
        self.speaking = False
        self.voiced = 0
        self._run = 0
        self._since = 0
        self._until = 0

    @property
    def on(self) -> float:
        """Probability at which a voice begins."""
        return self._on

    def step(self, probability: float, *, gate: bool, start: int, end: int) -> VoiceChange | None:
        """Judge the samples from `start` to `end`. `voiced` counts the samples that belonged to a voice."""
        if self.speaking:
            return self._while_speaking(probability, start, end)
        return self._while_quiet(probability, gate, start, end)

    def _while_speaking(self, probability: float, start: int, end: int) -> VoiceStopped | None:
        if probability >= self._off:
            self.voiced += end - start
            self._until = end
        elif end - self._until >= self._hangover:
            self.speaking = False
            self._run = 0
            return VoiceStopped(self._until)
        return None

    def _while_quiet(self, probability: float, gate: bool, start: int, end: int) -> VoiceStarted | None:
        if probability < (self._off if self._run else self._on):
            self._run = 0
            return None
        self._since = self._since if self._run else start
        self._run += end - start
        if self._run < self._start or not gate:
            return None
        self.speaking = True
        self.voiced += self._run
        self._until = end
        return VoiceStarted(self._since)


class ActivityTracker:
    """Follows one stream of 16 kHz samples, in blocks of the gate's 10 ms.

    The judge hears every sample, and the gate must have agreed within `gate_s` before a voice may start. Waking the
    judge only when the gate says yes was measured on 67 clips of speech and meetings and given up: Silero costs
    0.3 % of a core when it always runs; behind WebRTC's mode 3 it lost 2.1 % of the voiced time and up to 1.1 s of an
    onset. WebRTC's mode 2 as a condition delays no onset. The decisions depend on the samples alone.
    """

    def __init__(
        self, *, gate: Detector, judge: Detector, hysteresis: Hysteresis | None = None, gate_s: float = 0.3
    ) -> None:
        if gate.rate != judge.rate:
            raise ValueError(f"the gate wants {gate.rate} Hz and the judge {judge.rate} Hz")
        self.rate = gate.rate
        self.block_samples = gate.frame_samples
        self._gate, self._judge = gate, judge
        self._gate_memory = round(gate_s * self.rate)
        self._hysteresis = hysteresis or Hysteresis()
        self._foreground = Foreground(rate=judge.rate, frame_samples=judge.frame_samples)
        self.reset()

    def reset(self, *, at: int = 0) -> None:
        """Forget the stream; the next block starts at sample `at`."""
        self._gate.reset()
        self._judge.reset()
        self._hysteresis.reset()
        self._foreground.reset()
        self._pending = np.zeros(0, np.float32)
        self._now = self._judged = at
        self._gate_until = at

    @property
    def speaking(self) -> bool:
        """Whether a voice has started and not stopped."""
        return self._hysteresis.speaking

    @property
    def voiced_s(self) -> float:
        """Seconds of voice since the reset."""
        return self._hysteresis.voiced / self.rate

    def feed(self, block: Samples) -> list[VoiceChange]:
        """What changed with the next `block_samples` samples."""
        self._now += len(block)
        if self._gate.probability(block) >= 0.5:
            self._gate_until = self._now + self._gate_memory
        self._pending = np.concatenate((self._pending, block))
        changes = []
        while len(self._pending) >= self._judge.frame_samples:
            if change := self._judge_next():
                changes.append(change)
        return changes

    def _judge_next(self) -> VoiceChange | None:
        size = self._judge.frame_samples
        frame, self._pending = self._pending[:size], self._pending[size:]
        start, self._judged = self._judged, self._judged + size
        probability = self._judge.probability(frame)
        if not self._foreground.admits(frame, voice=probability >= self._hysteresis.on):
            probability = 0.0
        return self._hysteresis.step(probability, gate=self._now < self._gate_until, start=start, end=self._judged)
