"""The command `discussion-helper`.

Little is imported here, and the rest where Ctrl-C can be taken already.
"""

import os
import sys

TYPE_CHECKING = False  # the name that type checkers know; `typing` would take longer than all else here
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from types import FrameType
    from typing import NoReturn

__all__ = ["INTERRUPTED", "NOTHING_SAID", "entry", "main"]

INTERRUPTED = 130
"""What shells report for a program that Ctrl-C ended: 128 + SIGINT."""
NOTHING_SAID = b'{"utterances": [], "timings": [], "interruption_rate": 0.0}\n'
"""The document of a talk that Ctrl-C ended before it began. Ready made, since anything may be half imported then."""


def entry() -> "NoReturn":
    """Run one command and leave the process.

    At once, without the interpreter's own end: a model that still computes in a native thread when its library is
    torn down aborts the process (`terminate called without an active exception`). Whatever must be closed was closed
    by the command; what was printed is flushed here.
    """
    try:
        import signal

        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _leave)
    except KeyboardInterrupt:
        _leave()
    _fill_gaps()
    try:
        code = main()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        code = INTERRUPTED
    except SystemExit as left:  # the command line's own end: --help, or a wrong usage
        code = left.code if isinstance(left.code, int) else 0
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            from discussion_helper.commands import stdout

            lost = stdout.code_for(error)
            code = lost if code in (0, 1) else code  # another one says how the person ended it
        except (AttributeError, ValueError):  # closed: before the start, or since
            continue
    os._exit(code)


def main(argv: "Sequence[str] | None" = None) -> int:
    """Run one command; its exit code. What is wrong with input or machine is one line on stderr and a 1."""
    try:
        from discussion_helper.command_line import parse
        from discussion_helper.errors import DiscussionError

        arguments = parse(sys.argv[1:] if argv is None else argv)
        try:
            _begin(arguments)
            if getattr(arguments, "prints", True):
                from discussion_helper.commands import stdout

                stdout.check()
            return int(arguments.run(arguments))
        except DiscussionError as error:
            from discussion_helper.command_line import told
            from discussion_helper.failures import is_interruption

            if is_interruption(error):
                return INTERRUPTED
            print("discussion-helper:", told(error, arguments), file=sys.stderr)
            return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        from discussion_helper.commands import stdout

        if not stdout.is_lost(error):
            raise
        return stdout.code_for(error)


def _fill_gaps() -> None:
    """Put nothing in the place of standard streams that were closed before the start.

    Otherwise the next file that is opened, a recording maybe, would take what libraries print there; and what Python
    prints for stderr would go to stdout.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # it takes the lowest number that is free
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - as long as the process


def _begin(arguments: "argparse.Namespace") -> None:
    """From here Ctrl-C is the command's to clean up after; one that takes signals itself says from when."""
    import signal

    if signal.getsignal(signal.SIGINT) is _leave and not getattr(arguments, "takes_signals", False):
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(number: int = 0, frame: "FrameType | None" = None) -> None:  # noqa: ARG001 - as handlers are called
    """Ctrl-C before the command is at work: an exception in the middle of any import would not always arrive."""
    if sys.argv[1:2] == ["talk"] and "--json" in sys.argv:
        try:
            os.write(1, NOTHING_SAID)
        finally:  # whether anybody wants it or not
            os._exit(INTERRUPTED)
    os._exit(INTERRUPTED)
