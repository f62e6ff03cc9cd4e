"""What samples say: where a voice begins and ends, what is audible, where there are holes.

Levels are in dB relative to full scale. Places are indices of samples; an end is the place after the last sample.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discussion_helper.audio.frames import Samples

__all__ = [
    "AUDIBLE_DBFS",
    "GOES_ON",
    "HELD_S",
    "HOLE_DBFS",
    "HOLE_S",
    "RUN",
    "SILENT_DBFS",
    "VOICE",
    "VOICE_ABOVE_DB",
    "VOICE_BELOW_DB",
    "WENT_ON",
    "WINDOW_S",
    "Span",
    "Voiced",
    "at_level",
    "audible",
    "first_above",
    "holes",
    "last_above",
    "longest_quiet",
    "percentile",
    "turned_down",
    "voiced",
]

AUDIBLE_DBFS = -40.0
"""A sample above it can be heard: the definition that the comparison figures were measured with."""
SILENT_DBFS = -60.0
"""Nothing above it is left of a reply that was stopped; stricter than "not audible", so that a tail counts."""
HOLE_DBFS = -90.0
"""Digital silence: at most one unit of 16 bits."""
HOLE_S = 0.06
"""From here on a hole in speech is heard as one."""
WINDOW_S = 0.01
HELD_S = 1.0
"""No pause between two sentences of a reply is as long."""
VOICE_BELOW_DB = 30.0
"""Voice is what is within 30 dB of the loud parts. Vowels and most consonants are; room and breath are mostly not."""
VOICE_ABOVE_DB = 12.0
"""And this much above the clip's own background, which in a noisy recording is the higher bar of the two."""
RUN = 3
"""Windows in a row: a sample that is off is no voice."""
GOES_ON = 20
"""Windows from its first on in which a voice goes on. The click of lips or a button is over after 50 ms, and the voice
that it announces is further away: of the clips, one has such a click 0.41 s before its only word."""
WENT_ON = 50
"""Windows up to its last in which a voice went on. More than at the beginning: a word may end with a stop, whose
release comes 100 ms after the vowel, and 300 ms where a noisy background hides what lies in between."""
VOICE = 8
"""Of those windows, so many are voice: a word of one syllable is that long, a click half of it at most."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of samples."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Voiced:
    """Where the voice of a clean clip begins and ends, and how loud it is: the 95th percentile of 10 ms windows."""

    start: int
    end: int
    level_dbfs: float


def voiced(samples: Samples, rate: int) -> Voiced:
    """The first and the last voice in a clip, to 10 ms.

    The rule: windows of 10 ms; sound is where three in a row are less than 30 dB below the speech level (the 95th
    percentile of all windows) and more than 12 dB above the background (the 10th). Sound is the first voice if it goes
    on: 80 ms of the 200 ms from there are sound, which a click of lips or a button before the first word has not. It is
    the last voice if it went on: 80 ms of the 500 ms up to there, so that the released "t" of a last word belongs to
    it. Where no sound goes on like that all of it counts, and a clip without any is voice from end to end.

    Raises ValueError if it is silent.
    """
    levels = _window_levels(samples, rate)
    if not len(levels) or levels.max() < HOLE_DBFS:
        raise ValueError("The clip is silent.")
    speech, background = np.percentile(levels, (95, 10))
    loud = levels > max(speech - VOICE_BELOW_DB, background + VOICE_ABOVE_DB)
    runs = np.flatnonzero(np.convolve(loud, np.ones(RUN), "valid") >= RUN) if len(loud) >= RUN else np.zeros(0, int)
    if not len(runs):
        return Voiced(0, len(samples), float(speech))
    window = round(WINDOW_S * rate)
    start, end = _lasting(loud, runs)
    return Voiced(start * window, end * window, float(speech))


def _lasting(loud: NDArray[np.bool_], runs: NDArray[np.intp]) -> tuple[int, int]:
    """Of the places where runs of sound begin: the first that goes on, and the end of the last that went on."""
    before = np.concatenate(([0], np.cumsum(loud)))  # windows of sound before each one
    first = runs[before[np.minimum(runs + GOES_ON, len(loud))] - before[runs] >= VOICE]
    start = int((first if len(first) else runs)[0])
    ends = runs[runs >= start] + RUN
    last = ends[before[ends] - before[np.maximum(ends - WENT_ON, 0)] >= VOICE]
    return start, int((last if len(last) else ends)[-1])


def at_level(samples: Samples, now_dbfs: float, wanted_dbfs: float) -> Samples:
    """The same at another level, never beyond full scale."""
    gain = 10.0 ** ((wanted_dbfs - now_dbfs) / 20.0)
    peak = float(np.abs(samples).max(initial=1e-9))
    return samples * np.float32(min(gain, 1.0 / peak))


def first_above(samples: Samples, dbfs: float, *, after: int = 0) -> int | None:
    """The first sample from `after` on that is louder than `dbfs`."""
    found = _above(samples[after:], dbfs)
    return after + int(found[0]) if len(found) else None


def last_above(samples: Samples, dbfs: float, *, after: int = 0) -> int | None:
    """The last sample from `after` on that is louder than `dbfs`."""
    found = _above(samples[after:], dbfs)
    return after + int(found[-1]) if len(found) else None


def audible(samples: Samples, *, after: int = 0) -> Span | None:
    """From the first audible sample to the last one; None if nothing is."""
    found = _above(samples[after:], AUDIBLE_DBFS)
    return Span(after + int(found[0]), after + int(found[-1]) + 1) if len(found) else None


def holes(samples: Samples, rate: int, within: Span) -> list[Span]:
    """Digital silence of 60 ms or more inside a stretch that begins and ends audibly."""
    least = HOLE_S * rate
    found = _quiet(samples[within.start : within.end], HOLE_DBFS)
    return [Span(within.start + gap.start, within.start + gap.end) for gap in found if len(gap) >= least]


def longest_quiet(samples: Samples, dbfs: float, within: Span) -> Span:
    """The longest stretch inside `within` of which no sample is louder than `dbfs`; empty if there is none."""
    found = max(_quiet(samples[within.start : within.end], dbfs), key=len, default=Span(0, 0))
    return Span(within.start + found.start, within.start + found.end)


def turned_down(samples: Samples, rate: int, within: Span, *, after: int = 0, by_db: float = 20.0) -> int:
    """Where it is first, `after` that sample, `by_db` below the speech level of `within` for HELD_S, or to the end.

    What is said once more behind that, by a reply that went on, counts for nothing: it was turned down.
    """
    levels = _window_levels(samples[within.start : within.end], rate)
    if not len(levels):
        return within.start
    loud = np.flatnonzero(levels > np.percentile(levels, 95) - by_db)
    held = np.append(np.diff(loud) > HELD_S / WINDOW_S, True)  # the end of `within` counts as for ever
    ends = np.minimum(within.end, within.start + (loud[held] + 1) * round(WINDOW_S * rate))
    return int(ends[np.searchsorted(ends[:-1], after)])


def percentile(values: Sequence[float], percent: float) -> float:
    """Between the two nearest values, by distance; NaN of none."""
    return float(np.percentile(values, percent)) if len(values) else math.nan


def _window_levels(samples: Samples, rate: int) -> NDArray[np.float64]:
    window = round(WINDOW_S * rate)
    whole = samples[: len(samples) // window * window].astype(np.float64).reshape(-1, window)
    levels: NDArray[np.float64] = 10.0 * np.log10(np.mean(np.square(whole), axis=1) + 1e-13)
    return levels


def _above(samples: Samples, dbfs: float) -> NDArray[np.intp]:
    return np.flatnonzero(np.abs(samples) > 10.0 ** (dbfs / 20.0))


def _quiet(samples: Samples, dbfs: float) -> Iterator[Span]:
    """The stretches between samples louder than `dbfs`, the ends of `samples` counting as such."""
    edges = np.concatenate(([-1], _above(samples, dbfs), [len(samples)]))
    for index in np.flatnonzero(np.diff(edges) > 1):
        yield Span(int(edges[index]) + 1, int(edges[index + 1]))
