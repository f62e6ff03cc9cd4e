"""The report: a table for people, one JSON document for programs, and every row as CSV."""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discussion_helper.bench.measures import Measure, measures
from discussion_helper.bench.recognition import sets_of
from discussion_helper.bench.results import Results

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["OTHER", "document", "lists", "rows_in", "table", "write_rows"]

OTHER = "pipecat 1.14.0 (same models, such a machine)"


def table(results: Results) -> "Table":
    """Medians and 95th percentiles with their number, beside the goal and the other figure."""
    from rich.table import Table

    grid = Table("", title=f"discussion_helper {_version()}, {results.machine.cores} cores")
    for name in ("n", "median", "p95", ""):
        grid.add_column(name, justify="right" if name else "left")
    grid.add_column("goal")
    grid.add_column(OTHER, max_width=22)
    for measure in measures(results):
        median, p95 = _shown(measure)
        grid.add_row(measure.title, str(measure.n), median, p95, _unit(measure), measure.goal, measure.other)
    return grid


def lists(results: Results) -> dict[str, list[str]]:
    """What somebody who tunes the talk wants to listen to."""
    turns = results.turns.rows
    cuts = [one.row for one in results.barge_ins]
    found = {
        "cut off early": [f"{r.clip} at {r.level_dbfs:.0f} dBFS" for r in turns if r.early],
        "spoken over": [r.clip for r in turns if r.spoke_over],
        "not answered": [f"{r.clip} at {r.level_dbfs:.0f} dBFS" for r in turns if not r.answered],
        "barge-ins not heard": [f"{r.clip} at {r.level_dbfs:.0f} dBFS" for r in cuts if not r.interrupted],
        "replies lost to": [r.clip for r in results.noises if r.lost],
        "words wrong by set, here and with the 30 s window": [
            f"{s.set} {s.ours_percent:g} and {s.stock_percent:g} %" for s in sets_of(results.recognition)
        ],
        "first words missing": [f"{r.clip} at {r.level_dbfs:.0f} dBFS" for r in results.onsets if not r.there],
        "one-word answers not taken": [
            f"{r.name} at {r.level_dbfs:.0f} dBFS" for r in results.one_words if not r.taken
        ],
        "turns where nobody spoke": [f"{r.name}: {r.text[:60]}" for r in results.no_speech.turns],
        "could not be measured": results.problems,
    }
    return {what: names for what, names in found.items() if names}


def document(results: Results) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "version": _version(),
        "machine": asdict(results.machine),
        "compared_with": OTHER,
        "peak_memory_mb": results.peaks_mb,
        "measures": [asdict(measure) for measure in measures(results)],
        "lists": lists(results),
    }


def write_rows(results: Results, folder: Path) -> list[Path]:
    """One CSV file for each kind of row that there is; what was written before is replaced."""
    return [_write(path, rows) for path, rows in _files(results, folder).items()]


def rows_in(results: Results, folder: Path) -> list[Path]:
    """The files that `write_rows` makes."""
    return list(_files(results, folder))


def _files(results: Results, folder: Path) -> dict[Path, Sequence[Any]]:
    kinds: Mapping[str, Sequence[Any]] = {
        "starts": results.starts,
        "idle": results.idle,
        "turns": results.turns.rows,
        "barge_ins": [one.row for one in results.barge_ins],
        "noises": results.noises,
        "echo": results.echo,
        "recognition": results.recognition,
        "recognition_sets": sets_of(results.recognition),
        "onsets": results.onsets,
        "one_words": results.one_words,
        "no_speech": results.no_speech.rows,
        "endpointing": results.endpointing,
        "health": results.health,
        "speeds": results.speeds,
    }
    return {folder / f"{name}.csv": rows for name, rows in kinds.items() if rows}


def _write(path: Path, rows: Sequence[Any]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(rows[0])])
        writer.writeheader()
        writer.writerows(asdict(row) for row in rows)
    return path


def _shown(measure: Measure) -> tuple[str, str]:
    if measure.value is not None:
        return _number(measure.value), ""
    return _number(measure.median), _number(measure.p95)


def _number(value: float | None) -> str:
    if value is None or not math.isfinite(value):
        return "-"
    return f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.2g}"


def _unit(measure: Measure) -> str:
    return f"of {measure.n}" if measure.unit == "of n" else measure.unit


def _version() -> str:
    try:
        return version("discussion_helper")
    except PackageNotFoundError:  # run from a checkout that was not installed
        return "from source"
