"""The tests in two parts, side by side in each: those on virtual time or none, then those in real time.

    .venv/bin/python scripts/run_tests.py -n 2 -m "not slow" [other arguments of pytest]

Those marked `devices` play and record in real time, and those marked `timed` measure milliseconds. They mostly wait,
and do so side by side; beside what computes all the time they would hear its holes and see its delays. -n says how
many run side by side; of -n and -m the last one counts.
"""

import argparse
import re
import signal
import subprocess
import sys
from collections.abc import Sequence

import pytest

__all__ = ["main", "parts"]

REAL_TIME = "(devices or timed)"
_TOGETHER = re.compile(r"-([hlqsvx]+)([mn].*)", re.DOTALL)


def parts(arguments: Sequence[str]) -> list[list[str]]:
    """What pytest is given, one time after another."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-n", default="2")
    parser.add_argument("-m", default="")
    ours, others = parser.parse_known_args(_apart(arguments))
    marks = f"({ours.m}) and " if ours.m else ""
    return [
        ["-n", ours.n, "--dist", "worksteal", "-m", f"{marks}not {REAL_TIME}", *others],
        ["-n", ours.n, "--dist", "loadfile", "--no-loadscope-reorder", "-m", f"{marks}{REAL_TIME}", *others],
    ]


def _apart(arguments: Sequence[str]) -> list[str]:
    """-qm slow as -q -m slow: pytest takes letters together, and the last marks would count in both parts."""
    found = list[str]()
    for argument in arguments:
        letters = _TOGETHER.fullmatch(argument) if found[-1:] != ["-k"] else None
        found += [argument] if letters is None else [f"-{letters[1]}", f"-{letters[2]}"]
    return found


def _ran(part: Sequence[str]) -> int:
    """pytest's exit status. Ctrl-C reaches it too, and it clears up in its own time."""
    with subprocess.Popen([sys.executable, "-m", "pytest", *part]) as tests:
        while True:
            try:
                return tests.wait()
            except KeyboardInterrupt:
                continue


def main(arguments: Sequence[str]) -> int:
    """Run both parts, unless the first was interrupted or makes no sense. That one of them is empty is no failure."""
    empty = pytest.ExitCode.NO_TESTS_COLLECTED
    codes = list[int]()
    for part in parts(arguments):
        codes.append(_ran(part))
        if codes[-1] not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, empty):
            return codes[-1]
    if set(codes) == {empty}:  # pytest-xdist does not pass on what was wrong with the arguments
        print("No test was run: is there such a file, and does a name fit -k and a mark fit -m?", file=sys.stderr)
    return max((code for code in codes if code != empty), default=empty)


if __name__ == "__main__":
    # A shell that starts this in the background has it ignore Ctrl-C, and what tests send it to would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(main(sys.argv[1:]))
