"""Standard output: one for the command alone, and what it means when it takes nothing."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["BROKEN_PIPE", "check", "code_for", "console", "is_lost", "kept"]

BROKEN_PIPE = 141
"""What shells report for a program whose reader went away: 128 + SIGPIPE."""

_NOT_WRITTEN = (errno.EPIPE, errno.EIO, errno.EBADF, errno.EFBIG, errno.ENOSPC)
"""What standard output fails with when nobody reads it, it is closed, or a disk is full."""


def check() -> None:
    """Raises OSError where it was closed before the start: `print` would say nothing, and the work be for nobody."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def is_lost(error: OSError) -> bool:
    """Whether it says that standard output takes nothing more."""
    return error.errno in _NOT_WRITTEN


def code_for(error: OSError) -> int:
    """The exit code where it takes nothing more; tells why, unless it is that nobody reads on."""
    if error.errno == errno.EPIPE:
        return BROKEN_PIPE
    if sys.stderr is not None:  # print would take standard output instead
        with suppress(OSError, ValueError):
            print(f"discussion-helper: The output could not be written: {error.strerror}.", file=sys.stderr, flush=True)
    return 1


@contextmanager
def kept() -> Iterator[TextIO]:
    """Standard output for the command alone: what libraries print there goes to stderr meanwhile.

    Raises OSError where there is none.
    """
    check()
    try:
        own = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):  # not real ones
        yield sys.stdout
        return
    try:
        yield own
    finally:
        sys.stdout.flush()
        os.dup2(own.fileno(), sys.stdout.fileno())
        with suppress(OSError):  # what could not be written, and was told
            own.close()


def console(*, width: int | None = None) -> "Console":
    """For tables, on standard output. It raises BrokenPipeError as `print` does, instead of ending the process."""
    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))

    return Output(width=width)
