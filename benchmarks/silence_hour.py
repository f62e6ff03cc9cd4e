"""Count the turns that are heard in an hour of silence, noise, music and breathing, of which there should be none.

    python -m benchmarks.silence_hour [--minutes N] [--model NAME]... [--sounds FOLDER]... [--rows CSV]
                                      [--fresh | --everything]

The sounds are made here, and cut out of the clips of noise, music and breath in the folders (default: audio), in pieces
of 6 s, at levels from hardly there to as loud as somebody near the microphone. They go through the detectors of a talk
as one stream; what these take for a turn, and only that, is given to the recogniser. Once a minute somebody does speak:
the detectors are then as they are in a talk, and that somebody is heard says that the rest is measured. `--fresh`
begins anew with each piece, as if the microphone was just opened. `--everything` gives the recogniser every piece, as
if the detectors had heard a voice in a third of it. Sample time alone counts, so a loaded machine measures the same.
"""

import argparse
import csv
from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, cycle
from pathlib import Path

import anyio
import numpy as np
from rich.console import Console
from rich.table import Table

from discussion_helper.audio.clips import Clip, load_clips
from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Frame, Samples, silence
from discussion_helper.bench.no_speech import PIECE_S, RATE, Piece, no_speech, sound_sources
from discussion_helper.models import Store, load_manifest
from discussion_helper.stt.base import Recognised
from discussion_helper.stt.whisper import WhisperRecogniser
from discussion_helper.turn.activity import ActivityTracker
from discussion_helper.turn.endpointing import SilenceEndpointer
from discussion_helper.turn.turns import TurnEnded, TurnSegmenter
from discussion_helper.vad.silero import SileroDetector
from discussion_helper.vad.webrtc import WebRtcDetector

__all__ = ["main"]

_SHARE = 1 / 3
_SPOKEN = "speech"
_SPOKEN_S, _EVERY, _PAUSE_S = (1.0, 8.0), 10, 1.5
_PREROLL_S = 0.3


@dataclass(frozen=True, slots=True, eq=False)
class _Heard:
    """What is given to the recogniser, and the piece that it begins in."""

    piece: Piece
    at_s: float
    samples: Samples
    voiced_s: float


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
        heard = [
            _Heard(piece, number * PIECE_S, piece.samples, _SHARE * PIECE_S) for number, piece in enumerate(pieces)
        ]
    elif chosen.fresh:
        heard = [one for piece in pieces for one in _turns([piece])]
    else:
        pieces = list(_with_speech(pieces, clips))
        heard = list(_turns(pieces))
    console = Console()
    read = {model: _read(model, heard) for model in chosen.model or ["tiny.en"]}
    for model, found in read.items():
        console.print(_table(model, pieces, heard, found))
    if chosen.rows:
        _write(heard, read, chosen.rows)


def _with_speech(pieces: Sequence[Piece], clips: Sequence[Clip]) -> Iterator[Piece]:
    """Behind every tenth one somebody speaks, with a pause before and after."""
    shortest, longest = _SPOKEN_S
    spoken = [clip for clip in clips if clip.kind == _SPOKEN and shortest <= clip.duration_s <= longest]
    sayings = cycle([load(clip.path, RATE).samples for clip in spoken if clip.language == "en" and clip.transcript])
    pause = silence(_PAUSE_S, RATE)
    for number, piece in enumerate(pieces, 1):
        yield piece
        if number % _EVERY == 0:
            yield Piece(_SPOKEN, "", 0.0, np.concatenate((pause, next(sayings), pause)))


def _turns(pieces: Sequence[Piece]) -> Iterator[_Heard]:
    """What the detectors take for turns, in one stream."""
    tracker = ActivityTracker(gate=WebRtcDetector(mode=2), judge=SileroDetector())
    segmenter = TurnSegmenter(tracker, SilenceEndpointer())
    starts = [0, *accumulate(len(piece.samples) for piece in pieces)]
    frames = [Frame(piece.samples, RATE, at) for piece, at in zip(pieces, starts, strict=False)]
    for turn in [*(event for frame in frames for event in segmenter.feed(frame)), *segmenter.flush()]:
        if isinstance(turn, TurnEnded):
            piece = pieces[bisect(starts, turn.start + round(_PREROLL_S * RATE)) - 1]
            yield _Heard(piece, turn.start / RATE, turn.samples, turn.voiced_s)


def _read(model: str, heard: Sequence[_Heard]) -> list[Recognised]:
    async def run() -> list[Recognised]:
        path = Store().path_of(load_manifest().model(model))
        recogniser = WhisperRecogniser(path, language="en" if model.endswith(".en") else None)
        await recogniser.warmup()
        found = [await recogniser.recognise(one.samples, voiced_s=one.voiced_s) for one in heard]
        await recogniser.aclose()
        return found

    return anyio.run(run)


def _write(heard: Sequence[_Heard], read: Mapping[str, Sequence[Recognised]], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("model", "kind", "name", "level_dbfs", "at_s", "voiced_s", "doubt", "text", "refused"))
        for model, results in read.items():
            for one, found in zip(heard, results, strict=True):
                where = one.piece.kind, one.piece.name, round(one.piece.level_dbfs, 1), round(one.at_s, 2)
                doubt = round(found.no_speech_probability - found.average_logprob, 3)
                rows.writerow((model, *where, round(one.voiced_s, 3), doubt, found.text, found.refused))


def _table(model: str, pieces: Sequence[Piece], heard: Sequence[_Heard], read: Sequence[Recognised]) -> Table:
    seconds = sum(len(piece.samples) for piece in pieces if piece.kind != _SPOKEN) / RATE
    texts = [(one, found) for one, found in zip(heard, read, strict=True) if found.text]
    turns = sum(one.piece.kind != _SPOKEN for one, _ in texts)
    table = Table(title=f"{model}: {turns} turn(s) in {seconds / 60:.0f} minutes in which nobody speaks")
    for heading in ("kind", "minutes", "taken for a voice", "s of it", "turns", "what was understood"):
        table.add_column(heading, justify="left" if heading in ("kind", "what was understood") else "right")
    asked = Counter(one.piece.kind for one in heard)
    for kind in dict.fromkeys(piece.kind for piece in pieces):
        minutes = sum(len(piece.samples) for piece in pieces if piece.kind == kind) / RATE / 60
        voiced_s = float(np.sum([one.voiced_s for one in heard if one.piece.kind == kind]))
        ours = [(one, found) for one, found in texts if one.piece.kind == kind]
        told = "\n".join(
            f"{one.piece.name} {one.piece.level_dbfs:.0f} dBFS, voice {one.voiced_s:.2f} s, doubt"
            f" {found.no_speech_probability - found.average_logprob:.2f}: {found.text[:60]}"
            for one, found in ours
            if kind != _SPOKEN
        )
        table.add_row(kind, f"{minutes:.1f}", str(asked[kind]), f"{voiced_s:.1f}", str(len(ours)), told)
    return table


if __name__ == "__main__":
    main()
