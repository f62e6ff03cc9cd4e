"""The gate before the turns: while it is shut nothing is heard, and a turn may begin without a voice."""

from collections import deque
from dataclasses import replace

import numpy as np

from discussion_helper.audio.frames import Frame
from discussion_helper.turn.turns import TurnEnded, TurnEvent, TurnPaused, TurnResumed, TurnSegmenter, TurnStarted

__all__ = ["RECENT_S", "TurnGate"]

RECENT_S = 2.5
"""Of what was heard while it was shut: more than the calls from elsewhere are late."""
_FRAME_S = 0.01


class TurnGate:
    """Every TurnStarted that comes out is followed by one TurnEnded, as the segmenter's are."""

    def __init__(self, segmenter: TurnSegmenter) -> None:
        self._segmenter = segmenter
        self._recent: deque[Frame] = deque(maxlen=round(RECENT_S / _FRAME_S))
        self._started = self._paused = False
        self._end = 0
        self.is_open = False

    @property
    def voiced_s(self) -> float:
        """Of the turn that is under way; 0.0 where none is, or nothing was said in it yet."""
        return self._segmenter.open_voiced_s if self.is_open else 0.0

    def voiced_for(self, now: int) -> int:
        """Samples since the first voice of the turn that is under way; 0 where none is."""
        return now - self._segmenter.onset if self.voiced_s else 0

    def quietest(self, within_s: float) -> int:
        """Where in the last `within_s` seconds 30 ms were the quietest: the first sample of their middle."""
        frames = [*self._recent][-round(within_s / _FRAME_S) :]
        power = [float(frame.samples @ frame.samples) for frame in frames]
        sums = [sum(power[at : at + 3]) for at in range(max(1, len(power) - 2))]
        return frames[min(sums.index(min(sums)) + 1, len(frames) - 1)].start

    def feed(self, frame: Frame) -> list[TurnEvent]:
        """What happened in the next frame of 10 ms; nothing while it is shut."""
        self._recent.append(frame)
        self._end = frame.end
        return self._followed(self._segmenter.feed(frame)) if self.is_open else []

    def open(self, since: int, *, held: bool) -> list[TurnEvent]:
        """Hear what came from sample `since` on, as far as it is remembered, and what comes.

        `held`: a turn begins with it, before anybody speaks. What an open turn held before `since` is forgotten.
        """
        frames = [frame for frame in self._recent if frame.end > since] or [*self._recent][-1:]
        self._segmenter.reset(at=frames[0].start)
        self.is_open = True
        events: list[TurnEvent] = [TurnResumed(since)] if self._paused else []
        self._paused = False
        if held and not self._started:
            self._started = True
            events.append(TurnStarted(frames[0].start))
        for frame in frames:
            events += self._followed(self._segmenter.feed(frame))
        return events

    def shut(self, *, limit: bool = False) -> list[TurnEvent]:
        """Hear nothing more: a turn under way ends, also one in which nothing was said. `limit`: it was cut."""
        if not self.is_open:
            return []
        events = self._followed(self._segmenter.flush())
        if self._started:
            self._started = False
            events.append(TurnEnded(np.zeros(0, np.float32), self._end, self._end, 0.0))
        self.is_open = self._paused = False
        return [replace(event, limit=limit) if isinstance(event, TurnEnded) else event for event in events]

    def _followed(self, events: list[TurnEvent]) -> list[TurnEvent]:
        """Those that are news."""
        news: list[TurnEvent] = []
        for event in events:
            if isinstance(event, TurnStarted) and self._started:
                continue
            self._started = not isinstance(event, TurnEnded)
            self._paused = isinstance(event, TurnPaused)
            news.append(event)
        return news
