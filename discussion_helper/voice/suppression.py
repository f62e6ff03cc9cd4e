"""The suppression: how much of a recorded echo the canceller takes away, in a take of both devices."""

from dataclasses import replace
from statistics import median

import numpy as np

from discussion_helper.audio.chirp import NOISE_SPAN_S, RATE
from discussion_helper.audio.echo import LAG, EchoPath
from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.inbox import Captured, Played
from discussion_helper.audio.resample import Resampler

__all__ = ["PASSES", "Take", "suppression_db"]

PASSES = 3
"""Times that the canceller is given the take, so that it learns as in 4 s of speech from a chirp of 1.35 s; the best of
the later ones counts. Simulated rooms (reverberation 0.25 s, noise at -65 dBFS, 5 to 300 ms away): 15 to 33 dB the
first time, 36 dB at -10 dB and 26 dB at -20 dB the second and the third time, 17 and 7 dB at -30 dB."""
_BLOCK = RATE // 100


class Take:
    """What both devices delivered, in the order in which it came."""

    def __init__(self, rate: int, played_rate: int, settle_s: float) -> None:
        """`rate`: of the microphone, whose first `settle_s` are thrown away."""
        self.rate = rate
        self.played_rate = played_rate
        self.captured: list[Captured] = []
        self.played: list[Played] = []
        self.items: list[Captured | Played] = []
        self.heard_s = 0.0
        self.gaps = 0
        self.lost = ""
        self._settle_s = settle_s
        self._taken: list[float] = []
        self._handed: list[float] = []

    def add(self, item: Captured | Played, put_at_s: float) -> None:
        """The next block, and when its device's callback put it in."""
        if isinstance(item, Captured):
            self.heard_s += item.frame.duration_s
            if self.heard_s <= self._settle_s:
                return
            self.gaps += bool(self.captured) and item.frame.start != self.captured[-1].frame.end
            self.captured.append(item)
            self._handed.append(put_at_s - item.frame.end / self.rate)
        else:
            self.played.append(item)
            self._taken.append(put_at_s - item.frame.start / self.played_rate)
        self.items.append(item)

    @property
    def samples(self) -> Samples:
        """The microphone's, from the first one that counts; what was lost is silence."""
        first = self.captured[0].frame.start
        whole = np.zeros(self.captured[-1].frame.end - first, np.float32)
        for item in self.captured:
            whole[item.frame.start - first : item.frame.end - first] = item.frame.samples
        return whole

    def handover_s(self, heard_s: float) -> float:
        """From the callback that took the first sample played to the one that handed over what was heard `heard_s`
        after the first sample that counts.

        Callbacks run late by chance; the median of when they ran counts, less the place of their block.
        """
        played, captured = self.played[0].frame, self.captured[0].frame
        taken = median(self._taken) + played.start / self.played_rate
        return median(self._handed) + captured.start / self.rate + heard_s - taken


def suppression_db(take: Take, echo_start: int, noise: float) -> tuple[float, float]:
    """What the canceller takes of the chirp's noise, and what is left of it over the room's noise, both in dB.

    `echo_start`: the sample at 16 kHz, from the take's first, where the echo of the chirp begins; `noise`: the mean
    square of the room. No more than the echo's level over that noise can be seen.
    """
    path, length_s = EchoPath(), take.captured[-1].at_s + take.captured[-1].frame.duration_s - take.captured[0].at_s
    first, last = (echo_start + round(second * RATE) for second in NOISE_SPAN_S)
    found = list[tuple[float, float]]()
    for turn in range(PASSES):
        near, clean = _pass(path, take, turn, length_s)
        before, after = _power(near[first:last]), _power(clean[first + LAG : last + LAG])
        found.append((_decibels(before / max(after, noise, 1e-12)), _decibels(after / max(noise, 1e-9))))
    taken, left = max(found[1:])
    return max(0.0, taken), left


def _pass(path: EchoPath, take: Take, turn: int, length_s: float) -> tuple[Samples, Samples]:
    first, resampler = take.captured[0], Resampler(take.rate, RATE)
    near: Samples = np.zeros(0, np.float32)
    clean: list[Samples] = []
    length = round(length_s * RATE)
    for item in take.items:
        if isinstance(item, Played):
            path.feed(_later(item, turn, length_s, take.played_rate))
            continue
        near = np.concatenate((near, resampler.process(item.frame.samples)))
        zero_s = item.at_s - (item.frame.start - first.frame.start) / take.rate + turn * length_s - turn * length / RATE
        while len(near) >= (len(clean) + 1) * _BLOCK:
            start = len(clean) * _BLOCK
            place = turn * length + start
            clean.append(path.clean(near[start : start + _BLOCK], zero_s + place / RATE, place))
    return near, np.concatenate(clean)


def _later(item: Played, turn: int, length_s: float, rate: int) -> Played:
    frame = item.frame
    moved = Frame(frame.samples, frame.rate, frame.start + round(turn * length_s * rate))
    return replace(item, frame=moved, at_s=item.at_s + turn * length_s)


def _power(samples: Samples) -> float:
    return float(np.mean(samples.astype(np.float64) ** 2)) if len(samples) else 0.0


def _decibels(power: float) -> float:
    return float(10.0 * np.log10(max(power, 1e-12)))
