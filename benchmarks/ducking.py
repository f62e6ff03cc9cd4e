"""Measure the duck rule in sample time: how soon people turn the agent down, and how often it turns itself down.

    python -m benchmarks.ducking [--quick] [--clips FOLDER] [--plot FILE]

The agent is the default voice at -22 dBFS, the people are the recorded clips at -24 dBFS, the room is simulated
(reverberation 0.25 s, noise at -70 dBFS); the canceller, the gates and the prediction of the echo are the real ones. No
device is needed and nothing waits. Each block is measured once; then every candidate for `OVER_DB` judges the same
blocks. Times are in ms from a clip's first voice at the microphone. The agent alone: with steady echoes of 0 to -26 dB,
20 to 400 ms away, speaking with gaps and without, and with echoes that are switched on, turned up or moved.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import anyio
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.barge_in import Mark, agent_voice, laid, rooms, starting_at
from discussion_helper.audio.analysis import percentile
from discussion_helper.audio.clips import load_clips
from discussion_helper.audio.echo import EchoPath
from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Played
from discussion_helper.audio.resample import Resampler
from discussion_helper.models import Store, load_manifest
from discussion_helper.testing.room import Echo
from discussion_helper.testing.sample_room import RATE, SampleRoom
from discussion_helper.vad.webrtc import WebRtcDetector
from discussion_helper.voice.ducking import OVER_DB, Block, DuckRule

__all__ = ["main"]

CANDIDATES = (4.0, 6.0, 8.0, 10.0, 12.0)
ECHOES = (Echo(0.0, None), Echo(0.0, -20.0, 0.05), Echo(0.0, -10.0, 0.1), Echo(0.0, 0.0, 0.05))
PEOPLE_DBFS = -24.0
LONGEST_S = 8.0
SELF_S = 20.0
APART_S = 1.0
"""Blocks for which the rule says yes within this are one alarm."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What the rule gets in every 10 ms, and where clips begin and end."""

    name: str
    blocks: list[Block]
    marks: list[Mark]


def main() -> None:
    """Measure, print the tables, draw the curve."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a small part of it")
    parser.add_argument("--clips", type=Path, default=Path("audio"), help="folder of the recorded clips")
    parser.add_argument("--plot", type=Path, help="draw the curve there, as PNG")
    given = parser.parse_args()
    agent = anyio.run(agent_voice, Store().path_of(load_manifest().model("joe-medium")))
    every = 4 if given.quick else 1
    people = list(_people(agent, given.clips, every))
    alone = list(_alone(agent, every))
    Console().print(_table(people, alone))
    if given.plot:
        _draw(given.plot, people, alone)


# -- measuring


def _people(agent: Samples, folder: Path, every: int) -> Iterator[Heard]:
    clips = [clip for clip in load_clips(folder) if clip.kind == "speech" and clip.duration_s <= LONGEST_S]
    paths = [clip.path for clip in clips if "whisper" not in clip.path.name][::every]
    said, marks = laid(paths, PEOPLE_DBFS)
    for echo in ECHOES:
        name = "none" if echo.gain_db is None else f"{echo.gain_db:.0f} dB, {1e3 * echo.delay_s:.0f} ms"
        yield Heard(name, _blocks(SampleRoom(echoes=(echo,)), starting_at(agent, 0.0, len(said)), said), marks)


def _alone(agent: Samples, every: int) -> Iterator[Heard]:
    silent = np.zeros(round(SELF_S * RATE), np.float32)
    for gain_db in (0.0, -10.0, -20.0, -26.0):
        for delay_s in (0.02, 0.1, 0.4)[::every]:
            room = SampleRoom(echoes=(Echo(0.0, gain_db, delay_s),))
            yield Heard("steady", _blocks(room, starting_at(agent, 0.0, len(silent)), silent), [])
            yield Heard("steady", _blocks(room, _with_gaps(agent, len(silent)), silent), [])
    for name, found in rooms().items():
        for room in found[::every] if "to -20 dB" not in name else ():
            yield Heard("changing", _blocks(room, starting_at(agent, 0.0, len(silent)), silent), [])


def _with_gaps(agent: Samples, count: int) -> Samples:
    """Replies of 1 to 4 s, 0.3 to 3 s apart."""
    random, out, at = np.random.default_rng(5), np.zeros(count, np.float32), RATE // 2
    while at < count:
        length, start = (
            round(random.uniform(1.0, 4.0) * RATE),
            round(random.uniform(0.0, 1.0) * (len(agent) - 4 * RATE)),
        )
        piece = agent[start : start + length][: count - at]
        out[at : at + len(piece)] = piece
        at += len(piece) + round(random.uniform(0.3, 3.0) * RATE)
    return out


def _blocks(room: SampleRoom, played: Samples, said: Samples) -> list[Block]:
    path, resampler = EchoPath(), Resampler(RATE, 16_000)
    gate, clean_gate = WebRtcDetector(mode=2), WebRtcDetector(mode=3)
    pending, start, blocks = np.zeros(0, np.float32), 0, list[Block]()
    for item in room.items(played, said):
        if isinstance(item, Played):
            path.feed(item)
            continue
        pending = np.concatenate((pending, resampler.process(item.frame.samples)))
        while len(pending) >= 160:
            near, pending = pending[:160], pending[160:]
            clean = path.clean(near, item.at_s - item.frame.start_s + start / 16_000, start)
            start += 160
            blocks.append(
                Block(
                    near_db=path.near_db,
                    expected_db=path.expected_db,
                    clean_db=10.0 * float(np.log10(float(clean @ clean) / 160 + 1e-12)),
                    voiced=gate.probability(near) >= 0.5,
                    clean_voiced=clean_gate.probability(clean) >= 0.5,
                )
            )
    return blocks


# -- judging


def _alarms(blocks: Sequence[Block], over_db: float) -> list[float]:
    """When the rule says yes, in seconds."""
    rule = DuckRule(over_db=over_db)
    return [number / 100 for number, block in enumerate(blocks, 1) if rule.step(block)]


def _delays_ms(heard: Heard, over_db: float) -> list[float]:
    alarms = _alarms(heard.blocks, over_db)
    firsts = (next((at for at in alarms if mark.start_s - 0.05 < at < mark.end_s), None) for mark in heard.marks)
    return [1e3 * (first - mark.start_s) for first, mark in zip(firsts, heard.marks, strict=True) if first is not None]


def _false_a_minute(alone: Sequence[Heard], name: str, over_db: float) -> float:
    here = [heard.blocks for heard in alone if heard.name == name]
    alarms = [_alarms(blocks, over_db) for blocks in here]
    apart = sum(sum(b - a > APART_S for a, b in zip([-APART_S - 1, *found], found, strict=False)) for found in alarms)
    return apart / (sum(map(len, here)) / 6000)


def _table(people: Sequence[Heard], alone: Sequence[Heard]) -> Table:
    table = Table(
        title=f"people at {PEOPLE_DBFS:.0f} dBFS turn the agent down, ms, median / P95; false alarms a minute"
    )
    for column in ("over, dB", *(f"echo {heard.name}" for heard in people), "false, steady", "false, changing"):
        table.add_column(column)
    for over_db in CANDIDATES:
        cells = []
        for heard in people:
            delays = _delays_ms(heard, over_db)
            missed = len(heard.marks) - len(delays)
            cells.append(f"{median(delays):.0f} / {percentile(delays, 95):.0f}" + (f", {missed} missed" * bool(missed)))
        false = (f"{_false_a_minute(alone, name, over_db):.2f}" for name in ("steady", "changing"))
        table.add_row(f"{over_db:g}" + " *" * (over_db == OVER_DB), *cells, *false)
    return table


def _draw(path: Path, people: Sequence[Heard], alone: Sequence[Heard]) -> None:
    """P95 over false alarms, a curve for each echo; the default is marked."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7.0, 4.5), layout="constrained")
    false = [_false_a_minute(alone, "changing", over_db) for over_db in CANDIDATES]
    for heard in people:
        late = [percentile(_delays_ms(heard, over_db), 95) for over_db in CANDIDATES]
        (line,) = axes.plot(false, late, marker="o", label=f"echo {heard.name}")
        at = CANDIDATES.index(OVER_DB)
        axes.plot(false[at], late[at], marker="o", markersize=13, fillstyle="none", color=line.get_color())
    for x in dict.fromkeys(false):
        named = ", ".join(f"{over_db:g}" for at, over_db in zip(false, CANDIDATES, strict=True) if at == x)
        axes.annotate(f"{named} dB", (x, 1.0), xycoords=("data", "axes fraction"), ha="center", va="bottom")
    axes.set_xlabel("turned down without cause, a minute of speech with echoes that change")
    axes.set_ylabel("turned down for people, P95, ms")
    axes.set_yscale("log")
    axes.legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
