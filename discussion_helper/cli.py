"""The command `discussion-helper`.

Little is imported here, and the rest where Ctrl-C can be taken already.
"""

import errno
import os
import sys

TYPE_CHECKING = False  # the name that type checkers know; `typing` would take longer than all else here
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from types import FrameType
    from typing import NoReturn

__all__ = ["BROKEN_PIPE", "INTERRUPTED", "NOTHING_SAID", "entry", "main"]

INTERRUPTED = 130
"""What shells report for a program that Ctrl-C ended: 128 + SIGINT."""
BROKEN_PIPE = 141
"""The same for one whose reader went away: 128 + SIGPIPE."""
NOTHING_SAID = b'{"utterances": [], "timings": [], "interruption_rate": 0.0}\n'
"""The document of a talk that Ctrl-C ended before it began. Ready made, since anything may be half imported then."""

_NOT_WRITTEN = (errno.EPIPE, errno.EIO, errno.EBADF, errno.EFBIG, errno.ENOSPC)
"""What standard output fails with when nobody reads it, or a disk is full."""


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
            code = code or _not_written(error)
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
            return int(arguments.run(arguments))
        except DiscussionError as error:
            from discussion_helper.command_line import told

            print("discussion-helper:", told(error, arguments), file=sys.stderr)
            return 1
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        if error.errno not in _NOT_WRITTEN:
            raise
        return _not_written(error)


def _not_written(error: OSError) -> int:
    """The exit code where standard output takes nothing more; why, unless it is that nobody reads on."""
    if error.errno == errno.EPIPE:
        return BROKEN_PIPE
    from contextlib import suppress

    with suppress(OSError):
        print(f"discussion-helper: The output could not be written: {error.strerror}.", file=sys.stderr)
    return 1


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
