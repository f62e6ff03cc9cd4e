"""Turns: what one person says until it is the other's move, cut out of a stream."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from discussion_helper.audio.frames import Frame, Samples, silence
from discussion_helper.turn.activity import ActivityTracker, VoiceChange, VoiceStopped
from discussion_helper.turn.endpointing import Endpointer, Explains, OpenTurn, Verdict
from discussion_helper.turn.evidence import NO_REASON, Evidence, Reason

__all__ = ["TurnEnded", "TurnEvent", "TurnPaused", "TurnResumed", "TurnSegmenter", "TurnStarted"]

_ONSET_S = 1.8
"""How far back an onset may lie when it is certain; kept on top of the pre-roll. A voice that the detectors hear begins
0.1 s ago; one that they do not hear, and that a recogniser was asked about, 1.6 s."""
_LONGEST_GAP_S = 2.0
"""A longer hole in the stream ends the turn; a shorter one counts as silence."""


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """The user is talking. `at` is the first sample of voice."""

    at: int


@dataclass(frozen=True, slots=True)
class TurnPaused:
    """The user may have finished. `samples` are the turn so far, from `start` to `end`."""

    samples: Samples
    start: int
    end: int
    voiced_s: float


@dataclass(frozen=True, slots=True)
class TurnResumed:
    """The user goes on after all, from sample `at`."""

    at: int


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The user has finished, or `limit` cut a turn that was too long.

    `samples` hold the turn with at least 300 ms before the first voice (as far as there was anything) and 50 ms
    after the last. After a pause that nobody broke they are the same as those of its TurnPaused: what was made of
    them in the meantime holds.
    """

    samples: Samples
    start: int
    end: int
    voiced_s: float
    limit: bool = False
    reason: Reason = NO_REASON
    """Why it was taken to be over, if it was."""


TurnEvent = TurnStarted | TurnPaused | TurnResumed | TurnEnded


@dataclass(slots=True)
class _Turn:
    start: int
    onset: int
    voiced_until: int
    announced: bool = False
    paused: bool = False
    evidence: Evidence = field(default_factory=Evidence)


class TurnSegmenter:
    """Cuts a stream of 16 kHz frames into turns. No thread, no clock: sample time alone, whatever the frames' sizes.

    The order is TurnStarted, (TurnPaused, TurnResumed)*, TurnPaused?, TurnEnded. Less than `min_voiced_s` of voice
    is no turn and says nothing. It holds 2 s of audio between turns, and a turn up to the endpointer's limit.
    """

    def __init__(
        self,
        tracker: ActivityTracker,
        endpointer: Endpointer,
        *,
        preroll_s: float = 0.3,
        quiet_preroll_s: float | None = None,
        tail_s: float = 0.05,
        min_voiced_s: float = 0.1,
    ) -> None:
        """`preroll_s`: what is kept before the first voice; `quiet_preroll_s`: the same where nothing of the
        loudspeaker was heard in that time, None = no more.
        """
        self._tracker, self._endpointer = tracker, endpointer
        self._rate = tracker.rate
        self._preroll, self._tail = round(preroll_s * self._rate), round(tail_s * self._rate)
        self._quiet_preroll = max(self._preroll, round((quiet_preroll_s or 0.0) * self._rate))
        self._between = self._quiet_preroll + round(_ONSET_S * self._rate)
        self.played_until = 0
        """Up to which sample what was played is heard, with its echo; set by whoever knows that, before each frame."""
        self._min_voiced_s = min_voiced_s
        self.reset()

    def reset(self, *, at: int = 0) -> None:
        """Forget the stream and an open turn; the next frame starts at sample `at` or later."""
        self._tracker.reset(at=at)
        self._blocks: deque[Samples] = deque()
        self._first = self._now = self._floor = at
        self._voiced_before_s = self._unheard_s = 0.0
        self._pending = silence(0.0, self._rate)
        self._turn: _Turn | None = None
        self._newest = _Turn(at, at, at)

    @property
    def speaking(self) -> bool:
        """Whether a voice is heard now."""
        return self._tracker.speaking

    @property
    def open_voiced_s(self) -> float:
        """Seconds of voice in the open turn; 0 when none is open."""
        return self._voiced_s if self._turn else 0.0

    @property
    def onset(self) -> int:
        """First sample of voice of the open turn, or of the last one."""
        return self._newest.onset

    @property
    def voiced_until(self) -> int:
        """Sample after the last voice of the open turn, or of the last one."""
        return self._newest.voiced_until

    def feed(self, frame: Frame) -> list[TurnEvent]:
        """What happened in the next frame; a hole before it counts as silence.

        Raises ValueError for another rate and for a frame that starts before the end of the last one.
        """
        expected = self._now + len(self._pending)
        if frame.rate != self._rate or frame.start < expected:
            got = f"{frame.rate} Hz from sample {frame.start}"
            raise ValueError(f"expected {self._rate} Hz from sample {expected} on, got {got}")
        if frame.start - expected > _LONGEST_GAP_S * self._rate:
            events = self.flush()
            self.reset(at=frame.start)
            return events + self._push(frame.samples)
        return self._push(np.concatenate((np.zeros(frame.start - expected, np.float32), frame.samples)))

    def so_far(self, *, whole: bool = False) -> TurnPaused | None:
        """The open turn as it stands, as if it paused now; None when none is open. `whole`: with all the silence."""
        return TurnPaused(*self._cut(self._turn, whole=whole)) if self._turn else None

    def since(self, sample: int) -> TurnPaused | None:
        """What came from `sample` on, with as much before it as before a voice, as if it were a turn that pauses now.

        None while a turn is open: see `so_far`.
        """
        if self._turn:
            return None
        turn = _Turn(max(sample - self._preroll, self._first, self._floor), sample, self._now)
        samples, start, end, _ = self._cut(turn)
        return TurnPaused(samples, start, end, (self._now - max(sample, start)) / self._rate)

    def hear(self, sample: int) -> list[TurnEvent]:
        """Somebody whom the detectors do not hear has spoken from `sample` up to now: their turn opens, or goes on."""
        if self._turn is None:
            self._open(sample)
            self._unheard_s = (self._now - self._newest.onset) / self._rate
        elif not self._tracker.speaking:
            self._unheard_s += (self._now - max(sample, self._turn.voiced_until)) / self._rate
        turn = self._newest
        turn.voiced_until = self._now
        resumed, turn.paused = turn.paused, False
        return [TurnResumed(self._now), *self._decide(turn)] if resumed else list(self._decide(turn))

    def sounds(self, until: int, prosody: float) -> None:
        """The open turn, with its last voice before sample `until`, sounds complete with that probability."""
        if self._turn:
            self._turn.evidence = replace(self._turn.evidence, prosody=prosody, prosody_until=until)

    def reads(self, voiced_s: float, complete: float | None) -> None:
        """The text of the open turn's first `voiced_s` seconds of voice is complete, from 0.0 to 1.0; None = unknown.

        Nothing where there is more voice by now.
        """
        if self._turn and voiced_s >= self._voiced_s:
            until = self._turn.voiced_until
            self._turn.evidence = replace(self._turn.evidence, complete=complete, complete_until=until)

    @property
    def silence_s(self) -> float:
        """Seconds since the last voice of the open turn; 0.0 when none is open."""
        return (self._now - self._turn.voiced_until) / self._rate if self._turn else 0.0

    def flush(self) -> list[TurnEvent]:
        """End an open turn now: the stream is over, or the microphone was muted."""
        return list(self._end(self._turn, limit=False)) if self._turn else []

    def _push(self, samples: Samples) -> list[TurnEvent]:
        size = self._tracker.block_samples
        if not np.isfinite(samples).all():  # to ask first takes a quarter of the time
            samples = np.nan_to_num(samples)
        samples = np.concatenate((self._pending, samples))
        whole = len(samples) - len(samples) % size
        self._pending = samples[whole:]
        return [event for at in range(0, whole, size) for event in self._step(samples[at : at + size])]

    def _step(self, block: Samples) -> Iterator[TurnEvent]:
        self._blocks.append(block)
        self._now += len(block)
        for change in self._tracker.feed(block):
            yield from self._follow(change)
        if self._tracker.speaking and self._turn is None:
            self._open(self._floor)  # the limit cut a turn and the user talks on
        if self._turn:
            yield from self._decide(self._turn)
        self._trim()

    def _follow(self, change: VoiceChange) -> Iterator[TurnEvent]:
        if isinstance(change, VoiceStopped):
            if self._turn:
                self._turn.voiced_until = change.sample
        elif self._turn is None:
            self._open(change.sample)
        elif self._turn.paused:
            self._turn.paused = False
            yield TurnResumed(change.sample)

    def _open(self, onset: int) -> None:
        quiet = self.played_until <= onset - self._quiet_preroll
        start = max(onset - (self._quiet_preroll if quiet else self._preroll), self._first, self._floor)
        self._turn = self._newest = _Turn(start, max(onset, start), self._now)

    def _decide(self, turn: _Turn) -> Iterator[TurnEvent]:
        if self._tracker.speaking:
            turn.voiced_until = self._now
        if not turn.announced and self._voiced_s >= self._min_voiced_s:
            turn.announced = True
            yield TurnStarted(turn.onset)
        view = OpenTurn(turn.onset, turn.voiced_until, self._now, self._voiced_s, self._rate, turn.evidence)
        verdict = self._endpointer.verdict(view)
        if verdict is Verdict.EARLY and turn.announced and not turn.paused:
            turn.paused = True
            yield TurnPaused(*self._cut(turn))
        elif verdict in (Verdict.END, Verdict.LIMIT):
            yield from self._end(turn, limit=verdict is Verdict.LIMIT, reason=self._why(view, verdict))

    def _why(self, view: OpenTurn, verdict: Verdict) -> Reason:
        if verdict is Verdict.LIMIT:
            return Reason("the longest turn")
        return self._endpointer.reason(view) if isinstance(self._endpointer, Explains) else Reason()

    def _end(self, turn: _Turn, *, limit: bool, reason: Reason = NO_REASON) -> Iterator[TurnEvent]:
        if turn.announced:
            yield TurnEnded(*self._cut(turn), limit, reason)
        self._turn = None
        self._floor = turn.voiced_until
        self._voiced_before_s, self._unheard_s = self._tracker.voiced_s, 0.0

    @property
    def _voiced_s(self) -> float:
        return self._tracker.voiced_s - self._voiced_before_s + self._unheard_s

    def _cut(self, turn: _Turn, *, whole: bool = False) -> tuple[Samples, int, int, float]:
        end = self._now if whole else min(turn.voiced_until + self._tail, self._now)
        samples = np.concatenate(self._blocks)[turn.start - self._first : end - self._first]
        return samples, turn.start, end, self._voiced_s

    def _trim(self) -> None:
        wanted = self._turn.start if self._turn else self._now - self._between
        while self._first + len(self._blocks[0]) <= wanted:
            self._first += len(self._blocks.popleft())
