"""The terminal while something is drawn on it."""

import io
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, TextIO

from prompt_toolkit.output import Output, create_output

from discussion_helper.commands.wrap import printable

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["can_suspend", "columns", "complain", "stop_job", "terminal_screen"]

_SHOWN = 4096
"""Bytes of what was written to stderr meanwhile that are shown afterwards: the newest."""


def columns() -> int:
    """The width of the terminal."""
    return shutil.get_terminal_size().columns


def complain(text: str, stream: TextIO | None = None) -> None:
    """A line on stderr, or another stream; nobody may be there any more to read it."""
    target = stream or sys.stderr
    if target is None:  # print would take standard output instead, which is the document's
        return
    with suppress(OSError, ValueError):
        print(printable(text), file=target, flush=True)


def can_suspend() -> bool:
    """Whether this system has shells that stop a job, and let it go on."""
    return hasattr(signal, "SIGTSTP")


def stop_job() -> None:
    """Stop this process and those it was started by, such as make, as the terminal itself does on Ctrl-Z."""
    os.kill(0, signal.SIGTSTP)


@contextmanager
def terminal_screen(stream: TextIO) -> Iterator[Output]:
    """Draw on the stream's terminal, with everything else that is printed kept aside until the end."""
    raw = io.BufferedWriter(_Terminal(os.dup(stream.fileno()), "w"))
    with io.TextIOWrapper(raw, encoding=stream.encoding) as screen, _prints_aside():
        yield create_output(stdout=screen)


class _Terminal(io.FileIO):
    """Takes what is drawn also when it was closed, at any moment: the keyboard, and a signal, tell of that."""

    def write(self, data: "ReadableBuffer", /) -> int:
        try:
            return super().write(data)
        except OSError:
            return len(memoryview(data))


@contextmanager
def _prints_aside() -> Iterator[None]:
    """Point stdout and stderr at a file, below Python too: audio libraries written in C complain at any moment."""
    descriptors = [stream.fileno() for stream in (sys.__stdout__, sys.__stderr__) if stream]
    with tempfile.TemporaryFile() as aside, ExitStack() as stack:
        for descriptor in descriptors:
            stack.enter_context(_pointed_at(descriptor, aside.fileno()))
        yield
        stack.close()
        aside.seek(max(0, aside.seek(0, os.SEEK_END) - _SHOWN))
        with suppress(OSError):  # the terminal is gone
            os.write(descriptors[-1], aside.read())


@contextmanager
def _pointed_at(descriptor: int, target: int) -> Iterator[None]:
    real = os.dup(descriptor)
    os.dup2(target, descriptor)
    try:
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os.dup2(real, descriptor)
        os.close(real)
