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

    def pause(self, within_s: float, *, least_s: float) -> int | None:
        """Where in the last `within_s` seconds the first pause of `least_s` or more begins; None without one.

        A pause is below a third of the way, in decibels, from the quietest 10 ms of that time to the loudest.
        """
        frames = [*self._recent][-round(within_s / _FRAME_S) :]
        power = [max(1e-12, float(frame.samples @ frame.samples)) for frame in frames]
        least = min(power) ** (2 / 3) * max(power) ** (1 / 3)
        run = 0
        for place, level in enumerate(power):
            run = run + 1 if level <= least else 0
            if run >= round(least_s / _FRAME_S):
                return frames[place + 1 - run].start
        return None

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
