"""Measure the recogniser: word errors and time per clip, beside the same model as it comes, with its 30 s window.

    python -m benchmarks.recognition [FOLDER] [--model NAME] [--threads N] [--rows CSV]

FOLDER holds clips with a manifest.csv (default: audio); the English clips of speech whose words are known are read
as a talk hands them over: from 0.5 s before the first voice to 0.05 s behind the last (`discussion-helper bench --only
recognition` takes those of 1 to 12 s). The stock column is
`faster_whisper.WhisperModel.transcribe` with the same 8-bit weights and greedy search. A second table sums the errors
up by the set that clips are from, which is how their names begin. Times are from the call to the text, with the model
warm.
"""

import argparse
import csv
import statistics
from dataclasses import asdict, fields
from pathlib import Path

from rich.console import Console
from rich.table import Table

from discussion_helper.audio.clips import Clip, load_clips
from discussion_helper.bench.progress import Progress
from discussion_helper.bench.recognition import RecognitionRow, compared, sets_of
from discussion_helper.bench.words import words_of
from discussion_helper.settings import Settings
from discussion_helper.stt.whisper import THREADS

__all__ = ["main"]


def main() -> None:
    """Read the command line, measure, print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.recognition", description="Measure the recogniser.")
    parser.add_argument("folder", nargs="?", type=Path, default=Path("audio"), help="clips (default: audio)")
    parser.add_argument("--model", default="tiny.en", help="name in the manifest (default: tiny.en)")
    parser.add_argument("--threads", type=int, default=THREADS, help=f"of the recogniser (default: {THREADS})")
    parser.add_argument("--rows", metavar="CSV", type=Path, help="write a row for each clip")
    chosen = parser.parse_args()
    clips = [clip for clip in load_clips(chosen.folder) if _is_known(clip)]
    rows = compared(clips, Settings(stt=chosen.model), Progress(), threads=chosen.threads)
    if chosen.rows:
        _write(rows, chosen.rows)
    console = Console()
    console.print(_table(rows, f"{chosen.model}, {chosen.threads} thread(s)"))
    console.print(_sets(rows, chosen.model))


def _is_known(clip: Clip) -> bool:
    return clip.kind == "speech" and clip.language == "en" and bool(words_of(clip.transcript))


def _write(rows: list[RecognitionRow], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(RecognitionRow)])
        writer.writeheader()
        writer.writerows(map(asdict, rows))


def _table(rows: list[RecognitionRow], title: str) -> Table:
    table = Table(title=f"{title}: word errors, and ms")
    table.add_column("clip", no_wrap=True)
    for heading in ("s", "words", "ours", "ms", "stock", "ms"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(_short(row.clip), f"{row.seconds:.1f}", str(row.words), *_cells(row))
    words = sum(row.words for row in rows)
    ours, stock = sum(row.ours_errors for row in rows), sum(row.stock_errors for row in rows)
    ours_ms, stock_ms = (
        statistics.median(ms) for ms in zip(*((row.ours_ms, row.stock_ms) for row in rows), strict=True)
    )
    table.add_section()
    rates = f"{100 * ours / words:.1f} %", f"{ours_ms:.0f}", f"{100 * stock / words:.1f} %", f"{stock_ms:.0f}"
    table.add_row("all, median ms", f"{sum(row.seconds for row in rows):.0f}", str(words), *rates)
    return table


def _sets(rows: list[RecognitionRow], model: str) -> Table:
    table = Table(title=f"{model}: words that are wrong, by set")
    for heading in ("set", "clips", "words", "ours", "stock"):
        table.add_column(heading, justify="left" if heading == "set" else "right")
    for row in sets_of(rows):
        table.add_row(row.set, str(row.clips), str(row.words), f"{row.ours_percent} %", f"{row.stock_percent} %")
    return table


def _short(name: str) -> str:
    """A table of long names is wider than a terminal."""
    return name if len(name) <= 24 else f"{name[:23]}…"


def _cells(row: RecognitionRow) -> tuple[str, str, str, str]:
    return str(row.ours_errors), f"{row.ours_ms:.0f}", str(row.stock_errors), f"{row.stock_ms:.0f}"


if __name__ == "__main__":
    main()
