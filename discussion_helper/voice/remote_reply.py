"""One reply on its way to a client: written, sent, played; kept until it was played."""

from collections import deque

import numpy as np

from discussion_helper.audio.frames import Samples

__all__ = ["RemoteReply"]


class RemoteReply:
    """Counts samples from the reply's start: `played` <= `sent` <= `written`."""

    __slots__ = ("_chunks", "_first", "generation", "held_s", "played", "sent", "written")

    def __init__(self, generation: int) -> None:
        self.generation = generation
        self.written = self.sent = self.played = 0
        self.held_s: float | None = None
        """Since when it is kept from beginning; None: it was not."""
        self._chunks: deque[Samples] = deque()
        self._first = 0

    def append(self, chunk: Samples) -> None:
        """More of it was written."""
        self._chunks.append(chunk)
        self.written += len(chunk)

    def read(self, start: int, end: int) -> Samples:
        """A copy of the samples from `start` to `end`, which were not played yet."""
        pieces, at = [np.zeros(0, np.float32)], self._first
        for chunk in self._chunks:
            if at >= end:
                break
            pieces.append(chunk[max(0, start - at) : end - at])
            at += len(chunk)
        return np.concatenate(pieces)

    def play(self, until: int) -> Samples:
        """It was played that far; what was played of it by that."""
        samples = self.read(self.played, until)
        self.played = until
        self.sent = max(self.sent, until)
        while self._chunks and self._first + len(self._chunks[0]) <= until:
            self._first += len(self._chunks.popleft())
        return samples

    def discard(self) -> None:
        """It is dead: nothing of it is kept, and how much was written of it is still known."""
        self._chunks.clear()
