"""How far the bench is, for whoever waits for it."""

import sys
from typing import TextIO

__all__ = ["Progress"]


class Progress:
    """One line a step on stderr, so that stdout holds the result alone."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr

    def say(self, text: str) -> None:
        """A line."""
        print(text, file=self._stream, flush=True)

    def step(self, run: str, number: int, count: int, text: str) -> None:
        """The `number`-th of `count` steps is done."""
        self.say(f"{run} {number}/{count}  {text}")
