"""The reference: what the loudspeaker played, on the timeline of the microphone."""

from collections import deque
from statistics import median

import numpy as np

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Played
from discussion_helper.audio.resample import Resampler

__all__ = [
    "AVERAGED",
    "EARLY_S",
    "FEEDS",
    "HELD_S",
    "LATE_S",
    "LEAD_S",
    "LEAST_LEAD_S",
    "MISSES",
    "SHIFT_BLOCKS",
    "SKIP",
    "SLACK",
    "STEP_S",
    "TRIAL",
    "Reference",
    "SampleClock",
]

LEAD_S = 0.015
"""How much earlier than at the DAC the reference has a sample.

It covers wrong time stamps: an echo that comes before its reference is not cancelled. Measured with AEC3, echo at
-10 dB: 33 dB of it are removed for a lead of 2 to 200 ms, 12 dB for one of 400 ms within the first second; 22 dB when
the reference is 5 ms late, 13 dB at 10 ms, 7 dB at 20 ms. The loudspeaker is asked for 20 ms of latency, so blocks
are here in time."""
LEAST_LEAD_S = 0.002
"""Less than that, and the canceller loses the echo."""
LATE_S = 0.010
EARLY_S = 0.060
"""So far the reference may be from its place: within that the canceller finds the echo by itself."""
HELD_S = 4.0
"""Of what was played: what is in the device and what the audio thread may be behind, with room to spare."""
STEP_S = 0.030
"""Further off than this, five times in a row, the time stamps have not wandered but moved."""
AVERAGED = 500
SLACK = 2
"""Samples by which the place may be off before it is shifted by one."""
SHIFT_BLOCKS = 25
"""The shift of a sample in as many blocks of 10 ms is 250 ppm: more than two crystals differ, and so little that the
canceller does not mind. Time stamps that wander are not followed further."""
MISSES, FEEDS = 5, 20
"""So many of so many blocks came too late to be read whole: that is no hiccup."""
TRIAL = 100
"""Blocks within which it happens again though the clock was begun anew: then the lead is too long for this device."""
SKIP = 16
"""A block that comes that many samples later than the one before ended: samples of the microphone were lost."""


class SampleClock:
    """When the samples of a stream are at the converter, from the jittery time stamps of its blocks.

    The mean of the last 500 stamps or so: a jitter of 1 ms leaves 0.02 ms, and two crystals 100 ppm apart are followed
    half a millisecond behind. When five stamps in a row are more than 30 ms off on the same side (a device ran dry, or
    was opened anew) it starts again from their median.
    """

    def __init__(self) -> None:
        self._count = 0
        self._strays: list[float] = []
        self.offset_s = 0.0
        """The time of sample 0."""

    def observe(self, sample_s: float, at_s: float) -> None:
        """The sample at `sample_s` (index / rate) was stamped `at_s`."""
        error = at_s - sample_s - self.offset_s
        if self._count and abs(error) > STEP_S:
            self._stray(error)
            return
        self._strays.clear()
        self._count = min(self._count + 1, AVERAGED)
        self.offset_s += error / self._count

    def _stray(self, error: float) -> None:
        if self._strays and (error > 0.0) != (self._strays[0] > 0.0):
            self._strays.clear()
        self._strays.append(error)
        if len(self._strays) == 5:
            self.offset_s += median(self._strays)
            self._strays.clear()
            self._count = 1


class Reference:
    """Keeps the last 4 s of what was played, at `rate` hertz, and gives it out block by block as the microphone runs.

    The two devices have two clocks, so the reading place drifts from where it should be. It is moved a single sample
    at a time, by stretching one block from 159 or 161 samples: measured with AEC3 this costs 0.1 dB of echo at 100 ppm,
    where doing nothing costs 2 dB and jumps of 1 ms cost 10. Time stamps are trusted for the place at the beginning and
    in the long run, not from one second to the next: PulseAudio's were seen to wander by 10 ms and more.
    """

    def __init__(self, *, rate: int = 16_000, lead_s: float = LEAD_S) -> None:
        self._rate = rate
        self._full_lead = round(lead_s * rate)
        self.reset()

    def reset(self) -> None:
        """Forget everything; for another pair of devices."""
        self._ring: Samples = np.zeros(round(HELD_S * self._rate), np.float32)
        self._end = 0
        self._clock = SampleClock()
        self._resampler = Resampler(self._rate, self._rate)
        self._expected = -1
        self._known = False
        self._lead = self._full_lead
        self.delay = 0
        """Samples by which all of it comes later, for an echo that is late."""
        self._place: int | None = None
        self._next_s = 0.0
        self._since_shift = 0
        self._missed: deque[int] = deque(maxlen=FEEDS)
        self._trial = 0

    def feed(self, played: Played) -> None:
        """The loudspeaker got this."""
        frame = played.frame
        if frame.rate != self._resampler.source_rate or frame.start < self._expected:
            self.reset()
            self._resampler = Resampler(frame.rate, self._rate)
        if frame.start == self._expected:
            self._watch_lead()
        else:
            self._begin(frame)
        self._clock.observe(frame.start_s, played.at_s)
        self._append(self._resampler.process(frame.samples))
        self._expected = frame.end
        self._known = True

    def take(self, at_s: float, count: int) -> Samples:
        """The next `count` samples, for a block of the microphone whose first sample was at the ADC at `at_s`.

        `at_s` comes from a `SampleClock` of the microphone: a step in it means that samples were lost.
        """
        if not self._known:
            return np.zeros(count, np.float32)
        wanted = (at_s - self._clock.offset_s) * self._rate + self._lead - self.delay
        place = self._find(wanted, at_s)
        length = count + self._shift(wanted - place)
        self._next_s = at_s + count / self._rate
        self._place = place + length
        block = self._read(place, length)
        return block if length == count else _stretched(block, count)

    def around(self, before: int, after: int, *, undelayed: bool = False) -> Samples:
        """The `before` samples up to the end of the last block taken, and the `after` next ones; 0.0 where unknown.

        `undelayed`: of what the last block would have been without `delay`.
        """
        if self._place is None:
            return np.zeros(before + after, np.float32)
        place = self._place + (self.delay if undelayed else 0)
        return self._read(place - before, before + after)

    def _find(self, wanted: float, at_s: float) -> int:
        """Where to read: behind what was read last, unless that is too far from where it should be."""
        if self._place is None:
            return round(wanted)
        skipped = (at_s - self._next_s) * self._rate
        place = self._place + (round(skipped) if abs(skipped) > SKIP else 0)
        return place if -EARLY_S * self._rate < wanted - place < LATE_S * self._rate else round(wanted)

    def _shift(self, late: float) -> int:
        self._since_shift += 1
        if abs(late) <= SLACK or self._since_shift < SHIFT_BLOCKS:
            return 0
        self._since_shift = 0
        return 1 if late > 0.0 else -1

    def _watch_lead(self) -> None:
        """Something is played on. How much of it did the last block taken have to do without?"""
        self._trial -= 1
        if self._place is None:
            return
        self._missed.append(max(0, self._place - self._end))
        missed = [samples for samples in self._missed if samples]
        if len(missed) < MISSES:
            return
        if self._trial > 0:
            self._lead = max(self._lead - round(median(missed)), round(LEAST_LEAD_S * self._rate))
        else:  # the device ran dry and plays everything later than before: its stamps are right from now on
            self._clock = SampleClock()
        self._trial = TRIAL
        self._place = None
        self._missed.clear()

    # -- the ring, addressed by sample index

    def _begin(self, frame: Frame) -> None:
        """Something is played after a silence; the resampler's delay is taken out, so that its index is exact."""
        self._resampler.reset()
        start = round((frame.start_s - self._resampler.delay_s) * self._rate)
        if start >= self._end + len(self._ring):
            self._ring.fill(0.0)
            self._end = start
        elif start > self._end:
            self._append(np.zeros(start - self._end, np.float32))
        self._end = start

    def _append(self, samples: Samples) -> None:
        samples = samples[-len(self._ring) :]
        first = self._end % len(self._ring)
        fits = min(len(samples), len(self._ring) - first)
        self._ring[first : first + fits] = samples[:fits]
        self._ring[: len(samples) - fits] = samples[fits:]
        self._end += len(samples)

    def _read(self, start: int, count: int) -> Samples:
        block = np.zeros(count, np.float32)
        low = max(start, self._end - len(self._ring))
        high = min(start + count, self._end)
        if low < high:
            places = np.arange(low, high) % len(self._ring)
            block[low - start : high - start] = self._ring[places]
        return block


def _stretched(block: Samples, count: int) -> Samples:
    """`block`, a sample longer or shorter, as `count` samples."""
    places = np.arange(count) * (len(block) / count)
    return np.asarray(np.interp(places, np.arange(len(block)), block), np.float32)
