"""Pauses of the garbage collector, which stops all threads."""

import gc
import time
from types import TracebackType
from typing import Self

__all__ = ["Pauses"]


class Pauses:
    """The garbage collector's while it is entered: generation and length of each, in seconds."""

    def __init__(self) -> None:
        self.found: list[tuple[int, float]] = []
        self._began = 0.0

    def __enter__(self) -> Self:
        gc.callbacks.append(self._told)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        gc.callbacks.remove(self._told)

    def _told(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._began = time.perf_counter()
        else:
            self.found.append((info["generation"], time.perf_counter() - self._began))

    def take(self) -> list[tuple[int, float]]:
        """Those since the last call."""
        taken, self.found = self.found, []
        return taken
