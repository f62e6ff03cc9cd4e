"""How a talk is ended by the person at it: keys and signals, one exit code, and a limit."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

import anyio
from anyio.abc import TaskStatus

__all__ = ["EXIT_LIMIT_S", "INTERRUPTED", "Ending", "ExitSoon", "LastResort"]

INTERRUPTED = 128 + signal.SIGINT
"""What shells report for a program that Ctrl-C ended."""
EXIT_LIMIT_S = 1.4
"""From the wish to end to the end of the process. A session takes a second at most to stop; models that are loading can
hold up the signal for another half, and the whole is to take two."""


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

    def __init__(self, last_words: Callable[[], None]) -> None:
        """`last_words` are said from another thread, before."""
        self._last_words = last_words

    def arm(self, code: int) -> None:
        """Start the clock."""
        clock = threading.Timer(EXIT_LIMIT_S, self._exit, (code,))
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
