"""Choose how long to wait for what sounds complete and was not read, without the conversation that it is measured on.

    python -m benchmarks.endpointing_choice [--clips FOLDER] [--turns FILE] [--text-after SECONDS]

For each conversation `Patience.unread` is chosen on all the others: the one that costs least, where one percent of
turns cut off early is worth so many ms of latency, dialogue and read speech counting half each. The figures of all
conversations together, each with what was chosen without it, are what a stranger may expect of this number; beside them
stand the figures of the choice that has seen them all. Only the number is held out: that there is such a rule, and
where the other thresholds lie, was decided with all clips in view.

Measured with a usual wait of 0.5 s and a text that is there after 0.3 s. Up to 8 ms for one percent nothing is gained
by waiting longer: 1.0, and 16.7 % of the dialogue cut off at 498 ms. From 12 ms on it is 1.3: 9.5 % of the dialogue at
552 ms and 5.1 % of what is read at 653 ms, in sample and held out. Held out with 8 ms it is 11.9 % of the dialogue at
551 ms, for without some conversations 1.3 is chosen. 1.3 is where the cuts end, 4 ms behind the longest pause that it
outlasts; the default of 1.4 costs 19 ms more in the dialogue and keeps 50 ms away from it.
Options as `benchmarks.endpointing`.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median

from rich.console import Console
from rich.table import Table

from discussion_helper.bench.endpointing import TEXT_AFTER_S, Delays, latency_ms, turns_in
from discussion_helper.bench.recorded_turns import RecordedTurn
from discussion_helper.turn.policy_endpointer import Patience, PolicyEndpointer

__all__ = ["chosen", "latencies_of", "left_out", "main"]

CHOICES = (1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6)
WORTH_MS = (4, 6, 8, 12, 16)
"""What one percent of turns cut off may cost; silence alone pays some 12 between 0.5 and 0.65 s."""
WAIT_S = 0.5

Latencies = dict[float, list[float | None]]
"""By choice: of each turn, None where it is cut off."""


def main() -> None:
    """Read the command line, choose, print what came of it."""
    parser = argparse.ArgumentParser(prog="benchmarks.endpointing_choice", description="Choose a wait, held out.")
    parser.add_argument("--clips", metavar="FOLDER", type=Path, default=Path("audio"), help="clips (default: audio)")
    parser.add_argument("--turns", metavar="FILE", type=Path, help="what was heard: read if it is there, else written")
    parser.add_argument("--text-after", metavar="SECONDS", type=float, default=TEXT_AFTER_S, help="of silence")
    given = parser.parse_args()
    turns = turns_in(given.clips, given.turns)
    found = latencies_of(turns, Delays(text_s=given.text_after))
    table = Table(title=f"{len(turns)} turns of {len({turn.conversation for turn in turns})} conversations")
    for heading in ("1 % is worth", "chosen", "dialogue", "read", "chosen without it", "dialogue", "read"):
        table.add_column(heading, justify="right")
    for worth_ms in WORTH_MS:
        best, (choices, latencies) = chosen(turns, found, worth_ms), left_out(turns, found, worth_ms)
        seen = _told(turns, found[best]), _told(turns, latencies)
        spread = f"{min(choices.values())} to {max(choices.values())}"
        table.add_row(f"{worth_ms} ms", str(best), *seen[0], spread, *seen[1])
    Console(width=120).print(table)


def latencies_of(turns: Sequence[RecordedTurn], delays: Delays) -> Latencies:
    """Of every turn with every choice."""
    found = {}
    for unread in CHOICES:
        endpointer = PolicyEndpointer(silence_s=WAIT_S, patience=Patience(unread=unread))
        found[unread] = [latency_ms(turn, endpointer, delays) for turn in turns]
    return found


def chosen(turns: Sequence[RecordedTurn], found: Latencies, worth_ms: float, without: str = "") -> float:
    """What costs least on all turns but those of the conversation `without`."""
    return min(CHOICES, key=lambda choice: _cost(turns, found[choice], worth_ms, without))


def left_out(
    turns: Sequence[RecordedTurn], found: Latencies, worth_ms: float
) -> tuple[dict[str, float], list[float | None]]:
    """By conversation what was chosen without it, and the latencies of all turns with it."""
    choices = {one: chosen(turns, found, worth_ms, one) for one in {turn.conversation for turn in turns}}
    return choices, [found[choices[turn.conversation]][at] for at, turn in enumerate(turns)]


def _cost(turns: Sequence[RecordedTurn], latencies: Sequence[float | None], worth_ms: float, without: str) -> float:
    kinds: dict[str, list[float | None]] = {}
    for turn, latency in zip(turns, latencies, strict=True):
        if turn.conversation != without:
            kinds.setdefault(turn.kind, []).append(latency)
    return fmean(_mean_ms(each) + worth_ms * _cut_percent(each) for each in kinds.values())


def _told(turns: Sequence[RecordedTurn], latencies: Sequence[float | None]) -> list[str]:
    told = []
    for kind in ("dialogue", "read"):
        each = [latency for turn, latency in zip(turns, latencies, strict=True) if turn.kind == kind]
        kept = [latency for latency in each if latency is not None]
        told.append(f"{_cut_percent(each):.1f} % {_mean_ms(each):.0f} / {median(kept):.0f} ms" if kept else "")
    return told


def _cut_percent(latencies: Sequence[float | None]) -> float:
    return 100.0 * sum(latency is None for latency in latencies) / len(latencies)


def _mean_ms(latencies: Sequence[float | None]) -> float:
    return fmean([latency for latency in latencies if latency is not None] or [0.0])


if __name__ == "__main__":
    main()
