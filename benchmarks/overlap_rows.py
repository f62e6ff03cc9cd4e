"""The rows of `benchmarks.overlap`: a clip over a reply and what became of both; tables, file and curve of them."""

import csv
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from rich.table import Table

from discussion_helper.audio.analysis import percentile
from discussion_helper.voice.deciding import Act
from discussion_helper.voice.doubt import Doubt
from discussion_helper.voice.judging import Judge
from discussion_helper.voice.lexicon import Lexicon
from discussion_helper.voice.words import Words

__all__ = ["SHIFTS", "Row", "curve", "draw", "people_table", "sounds_table", "write"]

SHIFTS = (-0.6, -0.4, -0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3, 0.4, 0.6)
"""By which the bar of doubt is moved for the curve, at all lengths."""
_SOFT = ("whisper", "falsetto")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One clip over one reply."""

    kind: str
    clip: str
    dbfs: float
    echo: str
    ducked_ms: float | None
    silent_ms: float | None
    interrupted: bool
    longest_s: float
    """That the reply was turned down without a break before it was decided."""
    decisions: tuple[str, ...]
    understood: str
    looks: tuple[Words, ...]
    """What the recogniser made of it, in order."""

    @property
    def group(self) -> str:
        """The row of a table it counts in."""
        soft = self.kind == "speech" and any(word in self.clip for word in _SOFT)
        return "whisper, falsetto" if soft else self.kind


def write(path: Path, rows: Sequence[Row]) -> None:
    """As CSV, one line each."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(asdict(rows[0])))
        writer.writeheader()
        for row in rows:
            told = {"decisions": "; ".join(row.decisions), "looks": "; ".join(map(_look, row.looks))}
            writer.writerow(asdict(row) | told)


def _look(words: Words) -> str:
    said = words.text or f"({words.refused})"
    return f"{words.voiced_s:.2f} s{', final' * words.final}, {words.doubt:.2f}: {said}"


# -- tables


def people_table(rows: Sequence[Row]) -> Table:
    """How soon they stop the agent, and whether."""
    people = [row for row in rows if row.kind == "speech"]
    table = Table(title="people over the agent, ms, median / P95")
    for column in ("who", "echo", "dBFS", "n", "20 dB down", "silent", "missed"):
        table.add_column(column)
    for who, echo, dbfs in dict.fromkeys((row.group, row.echo, row.dbfs) for row in people):
        here = [row for row in people if (row.group, row.echo, row.dbfs) == (who, echo, dbfs)]
        table.add_row(who, echo, f"{dbfs:.0f}", *_people(here))
    for who in dict.fromkeys(row.group for row in people):
        table.add_row(who, "all", "", *_people([row for row in people if row.group == who]))
    return table


def _people(rows: Sequence[Row]) -> tuple[str, ...]:
    missed = sum(not row.interrupted for row in rows)
    return (
        str(len(rows)),
        _spread(row.ducked_ms for row in rows),
        _spread(row.silent_ms for row in rows),
        f"{missed} of {len(rows)}",
    )


def _spread(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None and math.isfinite(value)]
    return f"{median(known):.0f} / {percentile(known, 95):.0f}" if known else "-"


def sounds_table(rows: Sequence[Row]) -> Table:
    """What they cost: replies, and time without a word."""
    table = Table(title="sounds over the agent")
    for column in ("echo", "kind", "n", "lost", "turned down, s, median / most", "why"):
        table.add_column(column)
    heard = [row for row in rows if row.kind != "speech"]
    for echo, kind in dict.fromkeys((row.echo, row.kind) for row in heard):
        table.add_row(echo, kind, *_sounds([row for row in heard if (row.echo, row.kind) == (echo, kind)]))
    table.add_row("all", "", *_sounds(heard))
    return table


def _sounds(rows: Sequence[Row]) -> tuple[str, ...]:
    down = [row.longest_s for row in rows] or [0.0]
    why = Counter(reason.partition(": ")[2] for row in rows for reason in row.decisions or ("-: not turned down",))
    told = ", ".join(f"{count} {reason}" for reason, count in why.most_common())
    lost = sum(row.interrupted for row in rows)
    return str(len(rows)), str(lost), f"{median(down):.2f} / {max(down):.2f}", told


# -- the curve


@dataclass(frozen=True, slots=True)
class _Point:
    shift: float
    lost: float
    missed: float


def _points(rows: Sequence[Row]) -> Iterator[_Point]:
    """Shares that the words alone lose and miss, with the bar moved by each of the shifts.

    Of a row that was decided otherwise only the looks up to there are known, and the last.
    """
    sounds = [row for row in rows if row.kind not in ("speech", "singing")]
    people = [row for row in rows if row.group == "speech"]
    for shift in SHIFTS:
        lost, missed = (
            sum(_is_interrupted(row, shift) == want for row in some) / max(1, len(some))
            for some, want in ((sounds, True), (people, False))
        )
        yield _Point(shift, lost, missed)


def _is_interrupted(row: Row, shift: float) -> bool:
    judge = Judge(Lexicon("en"), doubt=Doubt(shift=shift))
    for words in row.looks:
        verdict = judge.judged(words)
        if verdict is not None and verdict.act is Act.INTERRUPT:
            return True
        if words.final:
            judge.reset()
    return False


def curve(rows: Sequence[Row]) -> Table:
    """Lost sounds against missed people, over the bar of doubt."""
    table = Table(title="the same looks of the recogniser, with other bars of doubt (no singing, no whisper)")
    for column in ("bar", "sounds that interrupt", "people who do not"):
        table.add_column(column)
    for point in _points(rows):
        mark = " *" * (point.shift == 0.0)
        table.add_row(f"{point.shift:+.1f}{mark}", f"{100 * point.lost:.1f} %", f"{100 * point.missed:.1f} %")
    return table


def draw(path: Path, rows: Sequence[Row]) -> None:
    """The same, as PNG."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7.0, 4.5), layout="constrained")
    points = list(_points(rows))
    axes.plot([100 * it.lost for it in points], [100 * it.missed for it in points], marker="o")
    for it in points:
        axes.annotate(f"{it.shift:+.1f}", (100 * it.lost, 100 * it.missed), textcoords="offset points", xytext=(4, 4))
    axes.set_xlabel("sounds that interrupt, %")
    axes.set_ylabel("people who do not, %")
    figure.savefig(path, dpi=120)
    plt.close(figure)
