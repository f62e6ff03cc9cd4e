"""The curve: turns that are cut off early against how long the others wait, in three ways."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from discussion_helper.bench.endpointing import EndpointingRow, Point, point_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["COLOURS", "draw_curve"]

COLOURS = {"silence": "#888888", "Smart Turn": "#c0762b", "policy": "#3b6ea5"}
_GOAL_MS, _GOAL_PERCENT = 600, 10


def draw_curve(rows: Sequence[EndpointingRow], path: Path) -> list[Path]:
    """Draw it as a PNG, for dialogue, for what was read and for all; the files that were written, none of no rows."""
    kinds = {
        "dialogue": [row for row in rows if row.kind == "dialogue"],
        "read": [row for row in rows if row.kind != "dialogue"],
    }
    groups = {title: some for title, some in kinds.items() if some}
    if not groups:
        return []
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    if len(groups) > 1:
        groups["dialogue and read"] = list(rows)
    figure = Figure(figsize=(5.0 * len(groups), 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, (title, some) in zip(figure.subplots(1, len(groups), squeeze=False)[0], groups.items(), strict=True):
        _draw(axes, f"{title} ({len({row.turn for row in some})} turns)", some)
    figure.savefig(path, dpi=110)
    return [path]


def _draw(axes: "Axes", title: str, rows: Sequence[EndpointingRow]) -> None:
    for way, colour in COLOURS.items():
        points = _points([row for row in rows if row.way == way])
        means, cuts = [point.mean_ms for point in points], [point.cut_percent for point in points]
        axes.plot(means, cuts, marker="o", markersize=3, color=colour, label=way)
    axes.axvline(_GOAL_MS, color="#cccccc", linewidth=1, zorder=0)
    axes.axhline(_GOAL_PERCENT, color="#cccccc", linewidth=1, zorder=0)
    axes.set(title=title, xlabel="latency after the last voiced sample in ms, mean")
    axes.set(ylabel="turns cut off early in %", xlim=(100, 1300), ylim=(0, 60))
    axes.grid(alpha=0.3)
    axes.legend()


def _points(rows: Sequence[EndpointingRow]) -> list[Point]:
    return [point_of([row for row in rows if row.wait_s == wait_s]) for wait_s in sorted({row.wait_s for row in rows})]
