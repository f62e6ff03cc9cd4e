"""Count the turns that are heard in an hour of silence, noise, music and breathing, of which there should be none.

    python -m benchmarks.silence_hour [--minutes N] [--model NAME]... [--sounds FOLDER]... [--rows CSV]
                                      [--fresh | --everything]

The sounds are made here, and cut out of the clips of noise, music and breath in the folders (default: audio), in pieces
of 6 s, at levels from hardly there to as loud as somebody near the microphone. They go through the detectors of a talk
as one stream; what these take for a turn, and only that, is given to the recogniser. Once a minute somebody does speak:
the detectors are then as they are in a talk, and that somebody is heard says that the rest is measured. `--fresh`
begins anew with each piece, as if the microphone was just opened. `--everything` gives the recogniser every piece, as
if the detectors had heard a voice in a third of it. Sample time alone counts, so a loaded machine measures the same.
`discussion-helper bench --only no-speech` is this for one folder and the talk's recogniser, as one stream.
"""

import argparse
import csv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path

from rich.console import Console
from rich.table import Table

from discussion_helper.audio.clips import load_clips
from discussion_helper.bench.no_speech import PIECE_S, RATE, Piece, no_speech, sound_sources
from discussion_helper.bench.no_speech_run import SPOKEN, NoSpeechRow, Taken, read, taken_in, with_speech
from discussion_helper.settings import AUTO, Settings

__all__ = ["main"]

_SHARE = 1 / 3


def main() -> None:
    """Read the command line, play, count, print."""
    parser = argparse.ArgumentParser(prog="benchmarks.silence_hour", description="Count turns where nobody speaks.")
    parser.add_argument("--minutes", type=float, default=60.0, help="how long (default: 60)")
    parser.add_argument("--model", action="append", default=[], help="name in the manifest (default: tiny.en)")
    parser.add_argument("--sounds", action="append", type=Path, default=[], help="folder of clips (default: audio)")
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn (default: 1)")
    parser.add_argument("--rows", metavar="CSV", type=Path, help="write a row for all that is taken for a voice")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--fresh", action="store_true", help="begin anew with each piece")
    how.add_argument("--everything", action="store_true", help="give the recogniser every piece")
    chosen = parser.parse_args()
    clips = [clip for folder in chosen.sounds or [Path("audio")] for clip in load_clips(folder)]
    pieces = list(no_speech(sound_sources(clips), seconds=60.0 * chosen.minutes, seed=chosen.seed))
    if chosen.everything:
        taken = [Taken(at, piece, at * PIECE_S, piece.samples, _SHARE * PIECE_S) for at, piece in enumerate(pieces)]
    elif chosen.fresh:
        taken = [one for piece in pieces for one in taken_in([piece])]
    else:
        pieces = list(with_speech(pieces, clips))
        taken = list(taken_in(pieces))
    console = Console()
    found = {model: read(taken, _settings(model)) for model in chosen.model or ["tiny.en"]}
    for model, rows in found.items():
        console.print(_table(model, pieces, rows))
    if chosen.rows:
        _write(found, chosen.rows)


def _settings(model: str) -> Settings:
    return Settings(stt=model, language="en" if model.endswith(".en") else AUTO)


def _write(found: Mapping[str, Sequence[NoSpeechRow]], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.DictWriter(file, ["model", *(field.name for field in fields(NoSpeechRow))])
        rows.writeheader()
        for model, some in found.items():
            rows.writerows({"model": model, **asdict(row)} for row in some)


def _table(model: str, pieces: Sequence[Piece], rows: Sequence[NoSpeechRow]) -> Table:
    seconds = sum(len(piece.samples) for piece in pieces if piece.kind != SPOKEN) / RATE
    turns = sum(bool(row.text) and row.kind != SPOKEN for row in rows)
    table = Table(title=f"{model}: {turns} turn(s) in {seconds / 60:.0f} minutes in which nobody speaks")
    for heading in ("kind", "minutes", "taken for a voice", "s of it", "turns", "what was understood"):
        table.add_column(heading, justify="left" if heading in ("kind", "what was understood") else "right")
    for kind in dict.fromkeys(piece.kind for piece in pieces):
        minutes = sum(len(piece.samples) for piece in pieces if piece.kind == kind) / RATE / 60
        some = [row for row in rows if row.kind == kind]
        read_as = [row for row in some if row.text]
        told = "\n".join(_told(row) for row in read_as if kind != SPOKEN)
        counts = str(len(some)), f"{sum(row.voiced_s for row in some):.1f}", str(len(read_as))
        table.add_row(kind, f"{minutes:.1f}", *counts, told)
    return table


def _told(row: NoSpeechRow) -> str:
    measured = f"voice {row.voiced_s:.2f} s, doubt {row.doubt:.2f}"
    return f"{row.name} {row.level_dbfs:.0f} dBFS, {measured}: {row.text[:60]}"


if __name__ == "__main__":
    main()
