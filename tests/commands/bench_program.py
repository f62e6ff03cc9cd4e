"""`bench` without its measuring, as a program: what a run found is made up, and shown as ever."""

import math
import sys

from discussion_helper import cli
from discussion_helper.bench import plot, suite
from discussion_helper.bench.progress import Progress
from discussion_helper.bench.results import Results
from discussion_helper.bench.suite import Plan
from discussion_helper.commands import bench


def found(plan: Plan, progress: Progress) -> Results:
    return Results(peaks_mb={"turns\x1b\x7f\u2028": math.nan if "--json" in sys.argv else 100.0})


if __name__ == "__main__":
    bench._check_machine = lambda runs: None
    bench._check_models = lambda: None
    suite.run_suite = found
    plot.draw = lambda results, path: []
    sys.argv[1:] = ["bench", *sys.argv[1:]]
    cli.entry()
