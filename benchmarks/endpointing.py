"""Measure the end of a turn in sample time: how many turns each silence limit cuts, and what it costs in delay.

    python -m benchmarks.endpointing [FOLDER] [--png FILE]

FOLDER holds clips with a manifest.csv (default: audio); each clip of one speaker is one turn. The gate, the judge and
the segmenter are the real ones; no device is needed and nothing waits. A turn is cut early when its end is decided
before the last voice of its clip. Its delay is from that voice to the decision, over the turns that the limit in
question does not cut. A clip has an inner pause where the shortest limit cuts it.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from rich.console import Console
from rich.table import Table

from discussion_helper.audio.analysis import percentile, voiced
from discussion_helper.audio.clips import load_clips
from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Frame, Samples, silence
from discussion_helper.turn.activity import ActivityTracker
from discussion_helper.turn.endpointing import SilenceEndpointer
from discussion_helper.turn.turns import TurnEnded, TurnSegmenter
from discussion_helper.vad.silero import SileroDetector
from discussion_helper.vad.webrtc import WebRtcDetector

__all__ = ["main"]

LIMITS_S = tuple(tenths / 10 for tenths in range(2, 13))
RATE = 16_000
BLOCK = RATE // 100
AFTER_S = 2.0
"""Silence after a clip, longer than every limit."""


@dataclass(frozen=True, slots=True)
class Saying:
    """A clip, and the sample after its last voice."""

    samples: Samples
    end: int


@dataclass(frozen=True, slots=True)
class Point:
    """One limit: turns that were cut early, and the delays of the others in ms."""

    silence_s: float
    cut: int
    delays_ms: list[float]


def main() -> None:
    """Read the command line, measure, print the table, draw the curve."""
    parser = argparse.ArgumentParser(prog="benchmarks.endpointing", description="Measure the end of a turn.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("audio"), help="clips (default: audio)")
    parser.add_argument("--png", metavar="FILE", type=Path, help="draw the curve")
    given = parser.parse_args()
    sayings = [_saying(clip.path) for clip in load_clips(given.folder) if clip.kind == "speech"]
    if not sayings:
        sys.exit(f"{given.folder} holds no clips of the kind speech.")
    points = [_point(sayings, silence_s) for silence_s in LIMITS_S]
    Console().print(_table(points, len(sayings)))
    if given.png:
        _draw(points, len(sayings), given.png)


def _saying(path: Path) -> Saying:
    samples = load(path, RATE).samples
    return Saying(samples, voiced(samples, RATE).end)


def _point(sayings: Sequence[Saying], silence_s: float) -> Point:
    tracker = ActivityTracker(gate=WebRtcDetector(mode=2), judge=SileroDetector())
    endpointer = SilenceEndpointer(silence_s=silence_s, early_s=min(0.2, silence_s))
    segmenter = TurnSegmenter(tracker, endpointer)
    cut, delays_ms = 0, []
    for saying in sayings:
        decided = list(_decided(segmenter, saying.samples))
        if any(at < saying.end for at in decided):
            cut += 1
        elif decided:
            delays_ms.append(1e3 * (decided[0] - saying.end) / RATE)
    return Point(silence_s, cut, delays_ms)


def _decided(segmenter: TurnSegmenter, samples: Samples) -> Iterator[int]:
    """The samples at which the end of a turn is decided."""
    segmenter.reset()
    whole = np.concatenate((samples, silence(AFTER_S, RATE)))
    for start in range(0, len(whole), BLOCK):
        frame = Frame(whole[start : start + BLOCK], RATE, start)
        for event in segmenter.feed(frame):
            if isinstance(event, TurnEnded):
                yield frame.end


def _table(points: Sequence[Point], turns: int) -> Table:
    pausing = points[0].cut
    table = Table(title=f"{turns} turns, {pausing} of them with an inner pause")
    for heading in ("silence", "cut early", "of all", "of those with a pause", "delay ms, median", "P95", "not heard"):
        table.add_column(heading, justify="right")
    for point in points:
        table.add_row(
            f"{point.silence_s:.1f} s",
            str(point.cut),
            f"{100 * point.cut / turns:.1f} %",
            f"{100 * point.cut / pausing:.0f} %" if pausing else "-",
            f"{median(point.delays_ms):.0f}" if point.delays_ms else "-",
            f"{percentile(point.delays_ms, 95):.0f}",
            str(turns - point.cut - len(point.delays_ms)),
        )
    return table


def _draw(points: Sequence[Point], turns: int, path: Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    drawn = [point for point in points if point.delays_ms]
    delays, shares = [median(point.delays_ms) for point in drawn], [100 * point.cut / turns for point in drawn]
    axes.plot(delays, shares, marker="o", color="#3b6ea5")
    for point, delay, share in zip(drawn, delays, shares, strict=True):
        axes.annotate(f"{point.silence_s:.1f} s", (delay, share), xytext=(5, 5), textcoords="offset points")
    axes.set(xlabel="delay after the last voice in ms, median", ylabel="turns cut early in %")
    axes.set_title(f"The end of a turn, by the limit of silence ({turns} recorded turns)")
    axes.margins(0.1)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
