"""The plot: delays turn by turn, interruptions, recognition, and what went wrong."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discussion_helper.audio.analysis import percentile
from discussion_helper.bench.results import Results
from discussion_helper.bench.turns_run import TurnRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "AXIS_IN",
    "BAD",
    "GOAL",
    "GOALS_MS",
    "LATE",
    "OTHERS",
    "OTHER_MS",
    "OTHER_STOP_MS",
    "OURS",
    "REST",
    "STAGES",
    "STOP_GOALS_MS",
    "Panel",
    "draw",
]

STAGES = (
    ("endpoint_ms", "end of turn", "#8fb4d9"),
    ("recognise_ms", "recognise", "#3b6ea5"),
    ("think_ms", "think", "#e0a458"),
    ("speak_ms", "speak", "#7ba05b"),
)
LATE = ("last voice noticed", "#b8a9c9")
REST = ("device and the rest", "#c9c9c9")
OURS, OTHERS, GOAL, BAD = "#3b6ea5", "#a33b3b", "#4a4a4a", "#c0504d"
GOALS_MS = (700, 1200)
OTHER_MS = (1419, 3491)
STOP_GOALS_MS = (250, 350)
OTHER_STOP_MS = (314, 368)
AXIS_IN = 0.5
"""Inches that the numbers and the label below an axis take."""

Panel = Callable[["Axes", Results], None]


def draw(results: Results, path: Path) -> list[Path]:
    """Draw what was measured as a PNG; the files that were written, none if there is nothing to draw."""
    turns = bool(_timed(results.turns.rows))
    panels = _small_panels(results)
    if not turns and not panels:
        return []
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(
        figsize=(13.5 if turns and panels else 8.0, _height(results, len(panels), turns)), layout="constrained"
    )
    FigureCanvasAgg(figure)
    grid = figure.add_gridspec(
        max(2 if turns else 1, len(panels)),
        2 if turns and panels else 1,
        width_ratios=[3, 2][: 1 + (turns and bool(panels))],
    )
    if turns:
        _draw_turns(figure.add_subplot(grid[:, 0]), results)
    for row, panel in enumerate(panels):
        panel(figure.add_subplot(grid[row, -1]), results)
    machine = results.machine
    figure.suptitle(
        f"A talk, measured through virtual devices: {machine.cores} cores, load {machine.load:g} before", fontsize=11
    )
    figure.savefig(path, dpi=110)
    return [path]


def _small_panels(results: Results) -> list[Panel]:
    found: list[Panel] = []
    if any(one.row.stop_ms is not None for one in results.barge_ins):
        found.append(_draw_barge_ins)
    if results.recognition:
        found.append(_draw_recognition)
    if results.turns.rows or results.barge_ins or results.noises or results.echo:
        found.append(_draw_failures)
    return found


def _height(results: Results, panels: int, turns: bool) -> float:
    return max(3.6 * panels, 2.8 + 0.24 * len(results.turns.rows) if turns else 0.0, 4.0)


def _timed(rows: Sequence[TurnRow]) -> list[TurnRow]:
    return sorted(
        (row for row in rows if row.voice_to_voice_ms is not None), key=lambda row: row.voice_to_voice_ms or 0.0
    )


def _draw_turns(axes: "Axes", results: Results) -> None:
    rows = _timed(results.turns.rows)
    places = range(len(rows))
    # A talk that noticed the last voice late begins to count late, one that missed a last consonant too early.
    left = [row.voice_end_ms or 0.0 for row in rows]
    axes.barh(places, [max(0.0, end) for end in left], color=LATE[1], label=LATE[0], height=0.75)
    for name, label, colour in STAGES:
        widths = [getattr(row, name) or 0.0 for row in rows]
        axes.barh(places, widths, left=left, color=colour, label=label, height=0.75)
        left = [a + b for a, b in zip(left, widths, strict=True)]
    totals = [row.voice_to_voice_ms or 0.0 for row in rows]
    rests = [max(0.0, total - stages) for total, stages in zip(totals, left, strict=True)]
    axes.barh(places, rests, left=left, color=REST[1], label=REST[0], height=0.75)
    axes.plot(totals, places, "k|", markersize=9, markeredgewidth=1.6, label="first audible sample")
    axes.set_yticks(places, [f"{_short(row.clip)}{' *' * (row.early or row.spoke_over)}" for row in rows], fontsize=7)
    axes.set_ylim(-0.8, len(rows) - 0.2)
    whole = [row.voice_to_voice_ms or 0.0 for row in rows if not row.early and not row.spoke_over]
    _mark(axes, [percentile(whole, 50), percentile(whole, 95)], ("median", "P95"), "black", "-")
    _mark(axes, GOALS_MS, ("goal, median", "goal, P95"), GOAL, ":")
    _mark(axes, OTHER_MS[:1], ("pipecat 1.14.0, median",), OTHERS, "--")
    axes.set_xlim(min(0.0, *(row.voice_end_ms or 0.0 for row in rows)), 1.12 * max(*totals, OTHER_MS[0]))
    axes.set_xlabel("ms from the user's last voiced sample (* turn cut off early: not in median and P95)")
    axes.set_title(f"Voice to voice, {len(whole)} turns", fontsize=10)
    _explain(axes, columns=4)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_barge_ins(axes: "Axes", results: Results) -> None:
    rows = [one.row for one in results.barge_ins if one.row.stop_ms is not None]
    for name, label, marker in (("turned_down_ms", "20 dB down", "v"), ("stop_ms", "silent", "o")):
        values = sorted(getattr(row, name) for row in rows)
        shares = [(place + 1) / len(values) for place in range(len(values))]
        axes.plot(
            values,
            shares,
            marker=marker,
            markersize=4,
            drawstyle="steps-post",
            linewidth=1.2,
            color=OURS if marker == "o" else "#e0a458",
            label=label,
        )
    stops = [row.stop_ms or 0.0 for row in rows]
    _mark(axes, [percentile(stops, 50), percentile(stops, 95)], ("median", "P95"), "black", "-")
    _mark(axes, STOP_GOALS_MS, ("goal, median", "goal, P95"), GOAL, ":")
    _mark(axes, OTHER_STOP_MS[:1], ("pipecat, median",), OTHERS, "--")
    axes.set_xlim(left=min(0.0, *stops))
    axes.set_ylim(0.0, 1.05)
    axes.set_xlabel("ms from the first voiced sample at the microphone")
    axes.set_ylabel("share of barge-ins")
    axes.set_title(f"Interrupted, {len(rows)} of {len(results.barge_ins)} barge-ins", fontsize=10)
    _explain(axes, columns=3)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_recognition(axes: "Axes", results: Results) -> None:
    rows, words = results.recognition, sum(row.words for row in results.recognition)
    for name, label, colour in (("ours", "this project", OURS), ("stock", "30 s window", OTHERS)):
        errors = 100.0 * sum(getattr(row, f"{name}_errors") for row in rows) / max(1, words)
        times = [getattr(row, f"{name}_ms") for row in rows]
        axes.scatter(
            [row.seconds for row in rows], times, s=14, color=colour, label=f"{label}: {errors:.1f} % of words wrong"
        )
        axes.axhline(percentile(times, 50), color=colour, linewidth=0.8, linestyle="--")
    axes.set_xlim(left=0.0)
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel("s of the clip")
    axes.set_ylabel("ms to recognise it")
    axes.set_title(f"Recognition, {len(rows)} clips (dashed: medians)", fontsize=10)
    _explain(axes, columns=2)
    axes.spines[["top", "right"]].set_visible(False)


def _draw_failures(axes: "Axes", results: Results) -> None:
    kinds: list[tuple[str, list[bool]]] = [
        ("turns cut off early", [row.early for row in results.turns.rows]),
        ("turns without an answer", [not row.answered for row in results.turns.rows]),
        ("barge-ins not heard", [not one.row.interrupted for one in results.barge_ins]),
        ("replies lost to noise", [row.lost for row in results.noises if row.kind != "backchannel"]),
        ("replies lost to short sounds", [row.lost for row in results.noises if row.kind == "backchannel"]),
        ("replies cut by their echo", [row.interruptions > 0 for row in results.echo]),
    ]
    known = [(label, found) for label, found in kinds if found][::-1]
    shares = [100.0 * sum(found) / len(found) for _, found in known]
    axes.barh(range(len(known)), shares, color=BAD, height=0.6)
    for place, (share, (_, found)) in enumerate(zip(shares, known, strict=True)):
        axes.text(share + 1.0, place, f"{sum(found)} of {len(found)}", va="center", fontsize=8)
    axes.set_yticks(range(len(known)), [label for label, _ in known], fontsize=8)
    axes.set_xlim(0.0, max(25.0, 1.2 * max(shares)))
    axes.set_xticks([tick for tick in range(0, 101, 5 if max(shares) < 25.0 else 20) if tick <= axes.get_xlim()[1]])
    axes.set_xlabel("% of those tried")
    axes.set_title("What went wrong", fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)


def _mark(axes: "Axes", values: Sequence[float], labels: Sequence[str], colour: str, style: str) -> None:
    for place, (value, label) in enumerate(zip(values, labels, strict=True)):
        options: dict[str, Any] = {"color": colour, "linestyle": style, "linewidth": 1.0 if place else 1.6}
        axes.axvline(value, label=f"{label} {value:.0f} ms", **options)


def _explain(axes: "Axes", *, columns: int) -> None:
    """The legend, below the axes: inside it would lie over what it explains."""
    from matplotlib.transforms import ScaledTranslation

    below = axes.transAxes + ScaledTranslation(0.0, -AXIS_IN, axes.figure.dpi_scale_trans)
    axes.legend(
        fontsize=7,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=below,
        ncols=columns,
        frameon=False,
        borderaxespad=0.0,
    )


def _short(name: str) -> str:
    return name.rpartition(".")[0][:30]
