"""`discussion-helper bench`: measure the delays of a talk with virtual devices."""

import argparse
import os
import sys
from collections.abc import Collection
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from discussion_helper.commands import stdout
from discussion_helper.commands.json_text import json_text
from discussion_helper.errors import AudioFileError, DeviceError, DiscussionError, SettingError

if TYPE_CHECKING:
    from discussion_helper.bench.results import Results
    from discussion_helper.bench.suite import Amounts, Plan

__all__ = [
    "CLIPS_VARIABLE",
    "DESCRIPTION",
    "EXTRA",
    "IN_PROCESS",
    "LEAST_BARGE_INS",
    "LEAST_NOISES",
    "LEAST_TURNS",
    "ON_DEVICES",
    "RUNS",
    "add_parser",
    "run",
]

ON_DEVICES = ("start", "idle", "turns", "barge-ins", "noises", "echo")
IN_PROCESS = ("recognition", "onsets", "one-word", "no-speech", "endpointing")
RUNS = (*ON_DEVICES, *IN_PROCESS)
EXTRA = ("jiwer", "matplotlib", "psutil")
LEAST_TURNS = 20
LEAST_BARGE_INS = 15
"""Fewer say nothing about a 95th percentile."""
LEAST_NOISES = 15
"""Fewer say nothing about a share of a few in a hundred."""
CLIPS_VARIABLE = "DISCUSSION_HELPER_CLIPS"
DESCRIPTION = """\
Hold a real talk between recorded people and this machine, through a virtual microphone and loudspeaker, and measure it
from outside: delays, interruptions, echo, cost. Then measure parts of it in sample time: word errors, first words,
one-word answers, turns where nobody speaks, and early ends of turns against their latency. Takes half an hour, on Linux
with PulseAudio, and wants the machine for itself; the parts alone run anywhere (--only). A table goes to stdout, every
row as CSV and plots to the output folder.
"""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Register the command."""
    parser = subparsers.add_parser("bench", help="measure the delays of a talk", description=DESCRIPTION)
    parser.add_argument(
        "--clips", type=Path, metavar="FOLDER", help="the recorded clips (default: the project's audio)"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("out", "bench"),
        metavar="FOLDER",
        help="for the results (default: %(default)s)",
    )
    parser.add_argument("--turns", type=int, metavar="N", help=f"turns, {LEAST_TURNS} or more")
    parser.add_argument("--barge-ins", type=int, metavar="N", help=f"barge-ins, {LEAST_BARGE_INS} or more")
    parser.add_argument("--noises", type=int, metavar="N", help=f"sounds over replies, {LEAST_NOISES} or more")
    parser.add_argument("--only", nargs="+", choices=RUNS, metavar="RUN", help=f"measure only: {', '.join(RUNS)}")
    parser.add_argument("--quick", action="store_true", help="a few of each, to see that it works: no figures to quote")
    parser.add_argument("--recordings", action="store_true", help="keep what both devices carried, as FLAC")
    parser.add_argument("--json", action="store_true", help="the summary as one JSON document instead of the table")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure; 1 when something could not be measured. Raises DiscussionError when nothing can."""
    _check_machine(arguments.only or RUNS)
    _check_models()
    from discussion_helper.bench.progress import Progress
    from discussion_helper.bench.suite import run_suite

    plan = _plan(arguments)
    results = run_suite(plan, Progress())
    _show(results, plan.output, as_json=arguments.json)
    return 1 if results.problems else 0


def _check_machine(runs: Collection[str]) -> None:
    if not sys.platform.startswith("linux") and not set(runs).isdisjoint(ON_DEVICES):
        fix = f"Run it on Linux, in a container or a virtual machine, or with --only {' '.join(IN_PROCESS)}."
        raise DeviceError("The bench needs virtual devices, which there are only for Linux.", fix=fix)
    missing = [name for name in EXTRA if find_spec(name) is None]
    if missing:
        fix = 'In a checkout: make bench. With a wheel: pip install "FILE.whl[bench]".'
        raise DiscussionError(f"The bench needs {', '.join(missing)}.", fix=fix)


def _check_models() -> None:
    from discussion_helper.choices import choose
    from discussion_helper.settings import Settings

    choose(Settings())


def _plan(arguments: argparse.Namespace) -> "Plan":
    from discussion_helper.bench.suite import Plan

    amounts, output = _amounts(arguments), Path(arguments.output)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingError(
            f"--output: {output}: {error.strerror}.", fix="Name a folder that can be written to."
        ) from error
    wanted = arguments.only or RUNS
    return Plan(
        clips=arguments.clips or _clips_folder(),
        output=output,
        runs=[name for name in RUNS if name in wanted],
        amounts=amounts,
        keep=arguments.recordings,
    )


def _amounts(arguments: argparse.Namespace) -> "Amounts":
    from discussion_helper.bench.suite import Amounts

    few = {"turns": 4, "barge_ins": 3, "noises": 3, "replies": 1, "onsets": 3, "words": 2}
    quick = Amounts(starts=1, idle_s=5.0, minutes=1.0, recordings=4, **few)
    amounts = quick if arguments.quick else Amounts()
    for name, least in (("turns", LEAST_TURNS), ("barge_ins", LEAST_BARGE_INS), ("noises", LEAST_NOISES)):
        asked = getattr(arguments, name)
        if asked is None:
            continue
        if asked < (1 if arguments.quick else least):
            raise SettingError(
                f"--{name.replace('_', '-')}: {asked} are too few.", fix=f"Use {least} or more, or --quick."
            )
        amounts = replace(amounts, **{name: asked})
    return amounts


def _clips_folder() -> Path:
    import discussion_helper

    chosen = os.environ.get(CLIPS_VARIABLE)
    folder = Path(chosen).expanduser() if chosen else Path(discussion_helper.__file__).parents[1] / "audio"
    if not chosen and not folder.exists():
        fix = "Name a checkout's folder audio with --clips FOLDER."
        raise AudioFileError("An installed copy has no clips to measure with.", fix=fix)
    return folder


def _show(results: "Results", output: Path, *, as_json: bool) -> None:
    from discussion_helper.bench.curve_plot import draw_curve
    from discussion_helper.bench.plot import draw
    from discussion_helper.bench.report import document, lists, rows_in, table

    files = rows_in(results, output)
    text = json_text(document(results), indent=2)
    (output / "summary.json").write_text(f"{text}\n", encoding="utf-8")
    files += [*draw(results, output / "bench.png"), *draw_curve(results.endpointing, output / "endpointing.png")]
    if as_json:
        print(text, flush=True)
        return
    console = stdout.console(width=None if sys.stdout.isatty() else 120)
    console.print(table(results))
    for what, names in lists(results).items():
        console.print(f"{what}: {', '.join(names)}", highlight=False, markup=False)
    console.print(f"in {output}: {', '.join(path.name for path in files)}", highlight=False, markup=False)
