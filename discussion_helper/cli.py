"""The command `discussion-helper`."""

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version

from discussion_helper.commands import bench, devices, doctor, models, rehearse, talk
from discussion_helper.errors import DiscussionError

__all__ = ["COMMANDS", "INTERRUPTED", "main"]

COMMANDS = (talk, rehearse, devices, models, doctor, bench)
INTERRUPTED = 130
"""What shells report for a program that Ctrl-C ended: 128 + SIGINT."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit code. What is wrong with input or machine is one line on stderr and a 1."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except DiscussionError as error:
        # An endpoint's text may be in it, and no control character of that is for this terminal.
        print("discussion-helper:", "".join(c if c.isprintable() else " " for c in str(error)), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="discussion-helper", description="Talk to a machine: it listens, answers, speaks, and can be interrupted."
    )
    parser.add_argument("--version", action="version", version=f"discussion-helper {version('discussion_helper')}")
    subparsers = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_parser(subparsers)
    return parser
