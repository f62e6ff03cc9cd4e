"""How a command is ended by the person at it: keys and signals, one exit code, and a limit."""

import faulthandler
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Protocol

import anyio
from anyio.abc import TaskStatus

__all__ = [
    "EXIT_LIMIT_S",
    "HANGUP",
    "HARD_LIMIT_S",
    "INTERRUPTED",
    "SILENT_LIMIT_S",
    "Ending",
    "ExitSoon",
    "LastResort",
]

INTERRUPTED = 128 + signal.SIGINT
"""What shells report for a program that Ctrl-C ended."""
HANGUP = 129
"""The same for one whose terminal was closed: 128 + SIGHUP, which Windows does not have."""
EXIT_LIMIT_S = 1.0
"""From the wish to end to the end of the process, which is to come within two seconds of the key. A session takes that
long at most to stop."""
SILENT_LIMIT_S = 0.3
"""The same before the first turn: models may be loading, whose libraries hold the interpreter's lock, so that nobody
sees the key, for 0.4 s, and for 1 to 2 s on a busy machine (measured). A session without a turn stops in 0.1 s."""
HARD_LIMIT_S = 1.4
"""From the wish to an end without a word, with code 1: a library keeps that lock, or nobody reads what is printed."""


class LastResort(Protocol):
    """What makes sure that the process ends."""

    def arm(self, code: int) -> None:
        """End with `code`, soon, whatever happens."""
        ...

    def disarm(self) -> None:
        """The loop is over: a signal has nothing more to ask for."""
        ...


class ExitSoon:
    """Ends the process after EXIT_LIMIT_S, for a thread that is loading a model cannot be stopped otherwise.

    The system then closes the devices.
    """

    def __init__(self, last_words: Callable[[], None], *, silent: Callable[[], bool]) -> None:
        """`last_words` are said from another thread, before. `silent`: whether there was no turn yet."""
        self._last_words = last_words
        self._silent = silent

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Until the event loop takes the signals, Ctrl-C ends the process at once: there is nothing to close yet.

        Where it takes none (Windows), Ctrl-C stays what it is to Python.
        """
        before = signal.getsignal(signal.SIGINT)
        ours = threading.current_thread() is threading.main_thread() and before is not signal.SIG_IGN
        if ours:
            signal.signal(signal.SIGINT, signal.default_int_handler if sys.platform == "win32" else self._on_signal)
        try:
            yield
        finally:
            if ours and signal.getsignal(signal.SIGINT) == self._on_signal:
                signal.signal(signal.SIGINT, signal.default_int_handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - as signal handlers are called
        self._exit(128 + number)

    def arm(self, code: int) -> None:
        """Start the clock."""
        limit_s = SILENT_LIMIT_S if self._silent() else EXIT_LIMIT_S
        with suppress(OSError):  # no file is free
            nowhere = os.open(os.devnull, os.O_WRONLY)
            faulthandler.dump_traceback_later(HARD_LIMIT_S, exit=True, file=nowhere)  # needs no lock
        clock = threading.Timer(limit_s, self._exit, (code,))
        clock.daemon = True
        clock.start()

    def disarm(self) -> None:
        """Ignore signals from here: the end is under way, and the clock runs."""
        for number in _signals():
            signal.signal(number, signal.SIG_IGN)

    def _exit(self, code: int) -> None:
        self._last_words()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


class Ending:
    """The first wish to end counts: it gives the exit code and cancels `scope`. Later ones change nothing."""

    def __init__(self, last_resort: LastResort) -> None:
        self.code: int | None = None
        """The exit code that was asked for; None as long as nobody asked."""
        self.scope = anyio.CancelScope()
        self._last_resort = last_resort

    def begin(self, code: int) -> None:
        """End the talk. For the event loop's thread."""
        if self.code is None:
            self.code = code
            self._last_resort.arm(code)
            self.scope.cancel()

    async def watch_signals(self, *, task_status: TaskStatus[None]) -> None:
        """End on Ctrl-C and when the system asks; runs until it is cancelled.

        Where the event loop takes no signals (Windows), Ctrl-C cancels the main task instead.
        """
        try:
            with anyio.open_signal_receiver(*_signals()) as received:
                task_status.started()
                async for number in received:
                    self.begin(128 + number)
        except NotImplementedError:
            task_status.started()
        finally:
            if self.code is not None:
                self._last_resort.disarm()


def _signals() -> list[signal.Signals]:
    names = ("SIGINT", "SIGTERM", "SIGHUP")  # the last one: the terminal was closed; not on Windows
    return [getattr(signal, name) for name in names if hasattr(signal, name)]
