"""The command `discussion-helper`."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import NoReturn

from discussion_helper.commands import bench, devices, doctor, models, rehearse, talk
from discussion_helper.errors import DiscussionError

__all__ = ["BROKEN_PIPE", "COMMANDS", "INTERRUPTED", "entry", "main"]

COMMANDS = (talk, rehearse, devices, models, doctor, bench)
INTERRUPTED = 130
"""What shells report for a program that Ctrl-C ended: 128 + SIGINT."""
BROKEN_PIPE = 141
"""The same for one whose reader went away: 128 + SIGPIPE."""


def entry() -> NoReturn:
    """Run one command and leave the process.

    At once, without the interpreter's own end: a model that still computes in a native thread when its library is
    torn down aborts the process (`terminate called without an active exception`). Whatever must be closed was closed
    by the command; what was printed is flushed here.
    """
    code = main()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):  # the reader went away
            code = code or BROKEN_PIPE
        except AttributeError:  # closed before the start: there is no stream
            continue
    os._exit(code)


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
    except BrokenPipeError:
        return BROKEN_PIPE


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="discussion-helper", description="Talk to a machine: it listens, answers, speaks, and can be interrupted."
    )
    parser.add_argument("--version", action="version", version=f"discussion-helper {version('discussion_helper')}")
    subparsers = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add_parser(subparsers)
    return parser
