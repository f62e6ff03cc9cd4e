"""Measure the end of a turn: how many turns are cut off early, against how long the others wait.

    python -m benchmarks.endpointing [--clips FOLDER] [--turns FILE] [--rows CSV] [--plot PNG]

FOLDER holds clips with a manifest.csv (default: audio): each clip of one speaker is one turn, and so is, of a meeting
with timed words, what one person says while nobody else speaks. The detectors, the judge of prosody, the recogniser and
the rules are those of a talk; nothing waits: what is heard at each pause is found once (`--turns` keeps it), and then
every rule is asked every 10 ms what it would do. A score comes 60 ms after it was asked for, a text 250 ms after a talk
begins to read, or after as much silence as `--text-after` says.

A turn is cut off early when its end is decided while its speaker still goes on. The latency is from the last voiced
sample to the decision, the mean over the turns that are not cut. Three ways: silence alone; Smart Turn alone, that is
after so much silence if it says 0.5 or more, else after 3 s; and the policy of a talk, of which the usual wait varies.
Whose pauses are learned waits otherwise still: these clips have a few turns of each person.

A turn that was cut off is taken back when its speaker goes on. It is `heard` where something of the reply was audible
by then, 0.45 s after the decision (what recognition, the first clause and its first sample take, median of the bench),
and `left` where it stays cut: its speaker went on later than that, and more than 1.2 s after the end. Nobody is less
patient here for having heard the agent begin, and a turn may be cut off and taken back more than once.

Measured on 101 turns, 42 of them of dialogue (meetings and acted scenes, of which 12 are in a language without words
to judge by), in virtual time, with the text after 0.35 s; cut off early and latency in ms, with the waits that come
closest to these latencies. The policy's default is a wait of 0.5 s, the column in the middle.

               dialogue                            read                    all
silence        26.2 % 459   23.8 % 551  14.3 % 659  10.2 % 564  6.8 % 635  16.8 % 525  13.9 % 604
Smart Turn     28.6 % 454   21.4 % 544  19.0 % 702   6.8 % 765             12.9 % 682
policy         21.4 % 470    9.5 % 585   7.1 % 686   3.4 % 578  3.4 % 685   5.9 % 581   5.0 % 685

With the default 0.5 s 2.4 % of the dialogue is heard and 2.4 % left, one turn of 42, and 2.0 and 1.0 % of all. Of
silence alone with the same wait 4.8 % of the dialogue is heard, of Smart Turn too. With the text after 0.45 s as much
is cut off, and the latencies are 604 and 601 ms. The median of what is read is 576 ms, and 606 with the later text, of
which 4 turns of 55 wait longer than they did without the rule of what was not read.

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

from rich.console import Console
from rich.table import Table

from benchmarks.endpointing_turns import RATE, Pause, RecordedTurn, read_turns, recordings_in, save_turns, turns_of
from discussion_helper.audio.analysis import percentile
from discussion_helper.models import Store, load_manifest
from discussion_helper.policy import Policy
from discussion_helper.tuning import Tuning
from discussion_helper.turn.endpointing import Endpointer, OpenTurn, SilenceEndpointer, Verdict
from discussion_helper.turn.evidence import Evidence
from discussion_helper.turn.policy_endpointer import PolicyEndpointer
from discussion_helper.turn.smart_turn import SMART_TURN_MODEL, SmartTurn
from discussion_helper.voice.finishing import ASK_S

__all__ = ["MEASURED", "Delays", "Point", "SmartTurnAlone", "Way", "latency_ms", "main", "measured", "turns_in"]

WAITS_S = tuple(step / 20 for step in range(5, 25))
STEP_S = 0.01
LONGEST_S = 4.0
"""No way waits longer."""
SCORE_S, TEXT_S = 0.06, 0.25
"""From when a score is asked for, and from when reading begins."""
EARLY_S = Tuning().endpoint_early_s
"""Of silence, after which a talk begins to read the turn."""
TEXT_AFTER_S = EARLY_S + TEXT_S
REPLY_S = 0.45
"""From the end of a turn to the first audible sample of the reply."""
TOLERANCE = round(0.02 * RATE)
"""An end that is decided so shortly before the last voiced sample cuts nothing off."""


@dataclass(frozen=True, slots=True)
class Delays:
    """When something is known: a score so long after it was asked for, a text after so much silence."""

    score_s: float = SCORE_S
    text_s: float = TEXT_AFTER_S


MEASURED = Delays()


class SmartTurnAlone:
    """As it is published: asked once, after the silence; what it calls unfinished is waited for for 3 s."""

    def __init__(self, silence_s: float) -> None:
        self._silence_s = silence_s

    def verdict(self, turn: OpenTurn) -> Verdict:
        """END or GO_ON."""
        score = turn.evidence.prosody_at(turn.voiced_until)
        finished = score is not None and score >= 0.5
        return Verdict.END if turn.silence_s >= (self._silence_s if finished else 3.0) else Verdict.GO_ON


@dataclass(frozen=True, slots=True)
class Way:
    """To end turns, by how long it waits."""

    name: str
    endpointer: Callable[[float], Endpointer]


WAYS = (
    Way("silence", lambda wait_s: SilenceEndpointer(silence_s=wait_s, early_s=min(EARLY_S, wait_s))),
    Way("Smart Turn", SmartTurnAlone),
    Way("policy", lambda wait_s: PolicyEndpointer(silence_s=wait_s, early_s=min(EARLY_S, wait_s))),
)


@dataclass(frozen=True, slots=True)
class Point:
    """What a way comes to with one wait: shares of turns in percent, and latencies in ms."""

    way: str
    wait_s: float
    cut_percent: float
    heard_percent: float
    left_percent: float
    mean_ms: float
    median_ms: float
    p95_ms: float


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
    if given.rows:
        _write(turns, given.rows, delays)
    if given.plot:
        _draw({title: chosen for title, chosen in groups.items() if chosen}, given.plot, delays)


def turns_in(folder: Path, kept: Path | None) -> list[RecordedTurn]:
    """What is heard in the clips of a folder; read from the file `kept` where it is there, else written to it."""
    if kept is not None and kept.exists():
        return read_turns(kept)
    prosody = SmartTurn(Store().path_of(load_manifest().model(SMART_TURN_MODEL)))
    turns = turns_of(recordings_in(folder), prosody)
    if kept is not None:
        save_turns(turns, kept)
    return turns


def measured(turns: Sequence[RecordedTurn], way: Way, wait_s: float, delays: Delays = MEASURED) -> Point:
    """Over these turns."""
    endpointer = way.endpointer(wait_s)
    latencies = [latency_ms(turn, endpointer, delays) for turn in turns]
    kept = [latency for latency in latencies if latency is not None] or [float("nan")]
    undone = [_undone(turn, endpointer, delays) for turn in turns]
    cut, heard, left = (
        100.0 * sum(several) / len(turns)
        for several in ([latency is None for latency in latencies], *zip(*undone, strict=True))
    )
    return Point(way.name, wait_s, cut, heard, left, fmean(kept), median(kept), percentile(kept, 95))


def latency_ms(turn: RecordedTurn, endpointer: Endpointer, delays: Delays) -> float | None:
    """From the last voiced sample to the end of the turn; None where it is cut off."""
    for pause in turn.pauses:
        decided = _decided(turn, pause, endpointer, delays)
        if decided is not None:
            return None if _is_cut(turn, pause, decided) else 1e3 * (decided - turn.end) / RATE
    return None


def _is_cut(turn: RecordedTurn, pause: Pause, decided: int) -> bool:
    return pause.gap_s >= 0.0 and decided < turn.end - TOLERANCE


def _undone(turn: RecordedTurn, endpointer: Endpointer, delays: Delays) -> tuple[bool, bool]:
    """Whether something of a reply was heard before its speaker went on, and whether the turn stays cut."""
    heard = left = False
    for pause in turn.pauses:
        decided = _decided(turn, pause, endpointer, delays)
        if decided is not None and _is_cut(turn, pause, decided):
            after_s = pause.gap_s - (decided - pause.until) / RATE
            heard = heard or after_s > REPLY_S
            left = left or after_s > max(REPLY_S, Policy().reopen_s)
    return heard, left


def _decided(turn: RecordedTurn, pause: Pause, endpointer: Endpointer, delays: Delays) -> int | None:
    """The sample at which the turn is ended in this pause."""
    silence_s = 0.1
    while silence_s < (pause.gap_s if pause.gap_s >= 0.0 else LONGEST_S):
        now = pause.until + round(silence_s * RATE)
        evidence = _evidence(pause, silence_s, delays)
        view = OpenTurn(turn.started, pause.until, now, pause.voiced_s, evidence=evidence)
        if endpointer.verdict(view) is Verdict.END:
            return now
        silence_s += STEP_S
    return None


def _evidence(pause: Pause, silence_s: float, delays: Delays) -> Evidence:
    """What is known after so much silence."""
    asked = zip(ASK_S, pause.scores, strict=False)
    known = [score for ask_s, score in asked if silence_s >= ask_s + delays.score_s - 1e-9]
    read = pause.complete >= 0.0 and silence_s >= delays.text_s - 1e-9
    score, complete = known[-1] if known else None, pause.complete if read else None
    return Evidence(score, pause.until, complete, pause.until)


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


def _write(turns: Sequence[RecordedTurn], path: Path, delays: Delays) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("turn", "kind", "conversation", "way", "wait_s", "latency_ms", "heard", "left"))
        for way in WAYS:
            for wait_s in WAITS_S:
                endpointer = way.endpointer(wait_s)
                for turn in turns:
                    latency = latency_ms(turn, endpointer, delays)
                    told = "" if latency is None else f"{latency:.0f}"
                    undone = map(int, _undone(turn, endpointer, delays))
                    rows.writerow((turn.name, turn.kind, turn.conversation, way.name, wait_s, told, *undone))


def _draw(groups: dict[str, list[RecordedTurn]], path: Path, delays: Delays) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.0 * len(groups), 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, (title, turns) in zip(figure.subplots(1, len(groups), squeeze=False)[0], groups.items(), strict=True):
        for way, colour in zip(WAYS, ("#888888", "#c0762b", "#3b6ea5"), strict=True):
            points = [measured(turns, way, wait_s, delays) for wait_s in WAITS_S]
            means, cuts = [point.mean_ms for point in points], [point.cut_percent for point in points]
            axes.plot(means, cuts, marker="o", markersize=3, color=colour, label=way.name)
        axes.axvline(600, color="#cccccc", linewidth=1, zorder=0)
        axes.axhline(10, color="#cccccc", linewidth=1, zorder=0)
        axes.set(title=f"{title} ({len(turns)} turns)", xlabel="latency after the last voiced sample in ms, mean")
        axes.set(ylabel="turns cut off early in %", xlim=(100, 1300), ylim=(0, 60))
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
