"""Measure the end of a turn: how many turns are cut off early, against how long the others wait.

    python -m benchmarks.endpointing [--clips FOLDER] [--turns FILE] [--rows CSV] [--plot PNG]

FOLDER holds clips with a manifest.csv (default: audio): each clip of one speaker is one turn, and so is, of a meeting
with timed words, what one person says while nobody else speaks. The detectors, the judge of prosody, the recogniser and
the rules are those of a talk; nothing waits: what is heard at each pause is found once (`--turns` keeps it), and then
every rule is asked every 10 ms what it would do. A score comes 60 ms after it was asked for, a text 250 ms after a talk
begins to read, or after as much silence as `--text-after` says. `discussion-helper bench --only endpointing` draws the
same curve.

A turn is cut off early when its end is decided while its speaker still goes on. The latency is from the last voiced
sample to the decision, the mean over the turns that are not cut. Three ways: silence alone; Smart Turn alone, that is
after so much silence if it says 0.5 or more, else after 3 s; and the policy of a talk, of which the usual wait varies.
Whose pauses are learned waits otherwise still: these clips have a few turns of each person.

A turn that was cut off is taken back when its speaker goes on. It is `heard` where something of the reply was audible
by then, 0.45 s after the decision (what recognition, the first clause and its first sample take, median of the bench),
and `left` where it stays cut: its speaker went on later than that, and more than 1.2 s after the end. Nobody is less
patient here for having heard the agent begin, and a turn may be cut off and taken back more than once.

Measured on 101 turns, 42 of them of dialogue (meetings and acted scenes, of which 12 are in a language without words
to judge by), in virtual time, with the text after 0.3 s; cut off early and latency in ms, with the waits that come
closest to these latencies. The policy's default is a wait of 0.5 s, the column in the middle.

               dialogue                            read                    all
silence        26.2 % 459   23.8 % 551  14.3 % 659   6.8 % 679  6.8 % 779  13.9 % 632   9.9 % 732
Smart Turn     28.6 % 454   21.4 % 544  21.4 % 667  15.3 % 678  6.8 % 783  19.8 % 618  12.9 % 693
policy         21.4 % 442    9.5 % 571   7.1 % 671   5.1 % 656  3.4 % 764   6.9 % 622   5.0 % 726

With the default 0.5 s 2.4 % of the dialogue is heard and 2.4 % left, one turn of 42, and 2.0 and 1.0 % of all. Of
silence alone with the same wait 4.8 % of the dialogue is heard, of Smart Turn too. With the text after 0.45 s as much
is cut off, and the latencies are 599 and 654 ms. The median of what is read is 572 ms, and 617 with the later text; 4
turns of 56 wait longer than they did without the rule of what was not read. Of three clips the detectors miss the end,
that of a whisper by 2.5 s: what is counted there is the wait after the last voice that they hear.

No clip here is unseen. Which rules there are and where the thresholds lie was decided with all of them in view; of
`Patience` all but `unread` was chosen on half of the clips while the other half was printed beside it. `unread` alone
was chosen by leaving out one conversation after another: see `benchmarks.endpointing_choice`. 42 turns of dialogue are
few: one of them is 2.4 %. Read with 0.15 or 0.2 s behind the voice instead, which changes 47 of 119 texts, as much
is cut off; without the bar of doubt (`turn/completeness.py`) 9.5 to 11.9 %.

Tried, and worse or no better: a logistic regression over sound, text and length (9.5 % of the dialogue at 629 ms, held
out 9.5 % at 630); eight waits fitted freely (11.9 % at 535 ms in sample, 14.3 % at 537 held out); the lowest, the mean
or the highest of the scores so far instead of the last; scores asked for after 0.1 or 0.3 s; to take a full stop for
a complete text (16.7 %). Where it sounds complete, neither the fall of level or pitch over the last 0.5 s, nor the last
pitch, nor the length of the last voiced stretch tells the 84 ends from the 16 pauses: areas under the curve of 0.41 to
0.59, whose 90 % intervals all hold 0.5.

What is cut off are sentences after which another one comes: they sound and read complete, and only a longer wait tells.
"""

import argparse
import csv
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path

from rich.console import Console
from rich.table import Table

from discussion_helper.bench.curve_plot import draw_curve
from discussion_helper.bench.endpointing import (
    TEXT_AFTER_S,
    WAITS_S,
    WAYS,
    Delays,
    EndpointingRow,
    measured,
    rows_of,
    turns_in,
)
from discussion_helper.bench.recorded_turns import RecordedTurn

__all__ = ["main"]


def main() -> None:
    """Read the command line, measure, print the tables, draw the curves."""
    parser = argparse.ArgumentParser(prog="benchmarks.endpointing", description="Measure the end of a turn.")
    parser.add_argument("--clips", metavar="FOLDER", type=Path, default=Path("audio"), help="clips (default: audio)")
    parser.add_argument("--turns", metavar="FILE", type=Path, help="what was heard: read if it is there, else written")
    parser.add_argument("--text-after", metavar="SECONDS", type=float, default=TEXT_AFTER_S, help="of silence")
    parser.add_argument("--rows", metavar="CSV", type=Path, help="write a row for each turn, way and wait")
    parser.add_argument("--plot", metavar="PNG", type=Path, help="draw the curves")
    given = parser.parse_args()
    turns = turns_in(given.clips, given.turns)
    if not turns:
        sys.exit(f"{given.clips} holds no turns.")
    groups = {
        "dialogue": [turn for turn in turns if turn.kind == "dialogue"],
        "read": [turn for turn in turns if turn.kind != "dialogue"],
        "dialogue and read": turns,
    }
    delays = Delays(text_s=given.text_after)
    for title, chosen in groups.items():
        if chosen:
            Console(width=110).print(_table(title, chosen, delays))
    rows = [row for way in WAYS for wait_s in WAITS_S for row in rows_of(turns, way, wait_s, delays)]
    if given.rows:
        _write(rows, given.rows)
    if given.plot:
        draw_curve(rows, given.plot)


def _table(title: str, turns: Sequence[RecordedTurn], delays: Delays) -> Table:
    table = Table(title=f"{title}: {len(turns)} turns")
    for heading in ("way", "wait", "cut early", "heard", "left", "latency ms, mean", "median", "P95"):
        table.add_column(heading, justify="right")
    for way in WAYS:
        for wait_s in WAITS_S[1::2]:
            point = measured(turns, way, wait_s, delays)
            shares = (f"{value:.1f} %" for value in (point.cut_percent, point.heard_percent, point.left_percent))
            latencies = (f"{value:.0f}" for value in (point.mean_ms, point.median_ms, point.p95_ms))
            table.add_row(way.name, f"{wait_s:.2f} s", *shares, *latencies)
        table.add_section()
    return table


def _write(rows: Sequence[EndpointingRow], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(EndpointingRow)])
        writer.writeheader()
        writer.writerows(map(asdict, rows))


if __name__ == "__main__":
    main()
