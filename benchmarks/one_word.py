"""Measure whether one-word answers are taken: by the detectors as one turn, and by the recogniser as words.

    python -m benchmarks.one_word [--clips FOLDER] [--model NAME] [--rows CSV]

Twenty words cut out of recordings, where the speaker pauses around them, and twenty that the default voice says, each
at two levels in a quiet room. A word is taken when it is one turn with a text; whether the text is the right one is
counted for those that the voice says. Sample time alone counts, so a loaded machine measures the same.
"""

import argparse
import csv
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import anyio
from rich.console import Console
from rich.table import Table

from discussion_helper.audio.resample import resample
from discussion_helper.bench.one_word import ANSWERS, LEVELS_DBFS, RATE, Word, WordRow, recorded_words, taken
from discussion_helper.bench.words import words_of
from discussion_helper.models import Store, load_manifest
from discussion_helper.stt.whisper import WhisperRecogniser
from discussion_helper.tts.piper import PiperSynthesiser
from discussion_helper.turn.activity import ActivityTracker
from discussion_helper.turn.policy_endpointer import PolicyEndpointer
from discussion_helper.turn.turns import TurnSegmenter
from discussion_helper.vad.silero import SileroDetector
from discussion_helper.vad.webrtc import WebRtcDetector

__all__ = ["main"]


def main() -> None:
    """Read the command line, measure, print the table."""
    parser = argparse.ArgumentParser(prog="benchmarks.one_word", description="Measure one-word answers.")
    parser.add_argument("--clips", metavar="FOLDER", type=Path, default=Path("audio"), help="clips (default: audio)")
    parser.add_argument("--model", default="tiny.en", help="name in the manifest (default: tiny.en)")
    parser.add_argument("--rows", metavar="CSV", type=Path, help="write a row for each word")
    given = parser.parse_args()
    rows = anyio.run(_measured, given.clips, given.model)
    if given.rows:
        _write(rows, given.rows)
    Console(width=110).print(_table(rows))


async def _measured(clips: Path, model: str) -> list[tuple[Word, WordRow]]:
    tracker = ActivityTracker(gate=WebRtcDetector(mode=2), judge=SileroDetector())
    segmenter = TurnSegmenter(tracker, PolicyEndpointer())
    recogniser = WhisperRecogniser(Store().path_of(load_manifest().model(model)), language="en")
    words = [*recorded_words(clips), *await _spoken()]
    rows = [(word, await taken(word, dbfs, segmenter, recogniser)) for dbfs in LEVELS_DBFS for word in words]
    await recogniser.aclose()
    return rows


async def _spoken() -> list[Word]:
    voice = PiperSynthesiser(Store().path_of(load_manifest().model("joe-medium")), steady=True)
    said = [await voice.synthesise(f"{text.capitalize()}.") for text in ANSWERS]
    await voice.aclose()
    return [
        Word(text, resample(speech.samples, speech.rate, RATE), text)
        for text, speech in zip(ANSWERS, said, strict=True)
    ]


def _table(rows: Sequence[tuple[Word, WordRow]]) -> Table:
    table = Table(title=f"{len(rows)} one-word answers")
    for heading in ("who", "dBFS", "words", "one turn", "taken", "right", "not taken"):
        table.add_column(heading, justify="right")
    for who, known in (("recorded", False), ("the voice", True)):
        for dbfs in LEVELS_DBFS:
            some = [(word, row) for word, row in rows if bool(word.text) is known and row.level_dbfs == dbfs]
            right = sum(words_of(row.text) == words_of(word.text) for word, row in some)
            lost = ", ".join(f"{row.name} ({row.turns} turns, {row.refused})" for _, row in some if not row.taken)
            counts = len(some), sum(row.turns == 1 for _, row in some), sum(row.taken for _, row in some)
            table.add_row(who, f"{dbfs:.0f}", *map(str, counts), str(right) if known else "", lost)
    return table


def _write(rows: Sequence[tuple[Word, WordRow]], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["said", *WordRow.__dataclass_fields__, "taken"])
        writer.writeheader()
        writer.writerows({"said": word.text, **asdict(row), "taken": int(row.taken)} for word, row in rows)


if __name__ == "__main__":
    main()
