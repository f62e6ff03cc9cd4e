"""Marks in a reply: the event loop waits at one until the loudspeaker has got that far."""

from dataclasses import dataclass, field

import anyio

from discussion_helper.audio.inbox import Played
from discussion_helper.audio.player import Player
from discussion_helper.clock import now

__all__ = ["Mark", "Marks"]


@dataclass(slots=True, eq=False)
class Mark:
    """`reached` is set once more than `samples` samples of the reply were handed over, or never will be.

    `at_s` is when that sample was at the DAC, on the clock of `time.monotonic`; None until then.
    """

    generation: int
    samples: int
    reached: anyio.Event = field(default_factory=anyio.Event)
    at_s: float | None = None


class Marks:
    """Set on the event loop, passed on the audio thread.

    The two share one tuple, replaced whole: the next place anybody waits for. The audio thread compares each
    block with it and hands over only when it is passed, so that a reply wakes the loop a few times and not
    a hundred times a second.
    """

    def __init__(self, playback: Player) -> None:
        self.playback = playback
        self._marks: list[Mark] = []
        self._next: tuple[int, int] | None = None
        self._passed = anyio.Event()

    def set(self, generation: int, samples: int) -> Mark:
        """Wait for more than `samples` samples of that reply. For the event loop's thread."""
        mark = Mark(generation, samples)
        self._marks.append(mark)
        self._aim()
        position = self.playback.position  # it may have been passed while it was being set
        if (position.generation, position.samples) > (generation, samples):
            self.pass_all(position.generation, position.samples, now())
        return mark

    def is_passed_by(self, played: Played) -> bool:
        """Whether a block gets to a mark; each mark says so once. For the audio thread."""
        aim = self._next
        if aim is None or (played.position.generation, played.position.samples) <= aim:
            return False
        self._next = None
        return True

    def pass_all(self, generation: int, samples: int, at_s: float | None) -> None:
        """Release what waits for this place or an earlier one. For the event loop's thread."""
        for mark in [m for m in self._marks if (m.generation, m.samples) < (generation, samples)]:
            mark.at_s = at_s
            self._release(mark)
        self._aim()

    async def passed(self) -> None:
        """Return when the next mark is passed, or released. For the event loop's thread."""
        await self._passed.wait()

    def release_all(self) -> None:
        """Nobody waits any more: the reply was halted. For the event loop's thread."""
        for mark in tuple(self._marks):
            self._release(mark)
        self._aim()

    def _release(self, mark: Mark) -> None:
        self._marks.remove(mark)
        mark.reached.set()
        passed, self._passed = self._passed, anyio.Event()
        passed.set()

    def _aim(self) -> None:
        self._next = min(((m.generation, m.samples) for m in self._marks), default=None)
