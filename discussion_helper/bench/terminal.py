"""A program in a terminal of its own, whose screen nobody looks at."""

import os
import struct
import subprocess
from collections.abc import Mapping, Sequence
from threading import Thread
from types import TracebackType
from typing import Self

__all__ = ["CLOSE_S", "COLUMNS", "INTERRUPT", "ROWS", "Terminal"]

ROWS, COLUMNS = 40, 120
INTERRUPT = b"\x03"
CLOSE_S = 10.0


class Terminal:
    """Runs a command in a pseudo-terminal and reads its screen, so that it never waits for a reader. Unix only."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        self._command = command
        self._environment = {**environment, "TERM": "xterm-256color"}

    def __enter__(self) -> Self:
        import fcntl
        import termios

        self._own, its = os.openpty()
        fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._process = subprocess.Popen(
            self._command, stdin=its, stdout=its, stderr=its, env=self._environment, start_new_session=True
        )
        os.close(its)
        self._screen = Thread(target=self._read, name="bench-terminal", daemon=True)
        self._screen.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        if not self.interrupt():
            self._process.kill()
            self._process.wait()
        self._screen.join(1.0)
        os.close(self._own)

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def interrupt(self) -> bool:
        """Press Ctrl-C and wait for the end. False if it does not come within 10 s. Idempotent."""
        if self.running:
            os.write(self._own, INTERRUPT)
        try:
            self._process.wait(CLOSE_S)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _read(self) -> None:
        try:
            while os.read(self._own, 65_536):
                pass
        except OSError:  # what Linux says at the end
            pass
