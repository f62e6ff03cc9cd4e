"""The audio work of a room: it takes what is in the inbox when the room says so, on no thread."""

import math

from discussion_helper.audio.handover import LoopHandover
from discussion_helper.audio.inbox import Captured, Closed, Inbox
from discussion_helper.voice.audio_work import AudioWork
from discussion_helper.voice.health import Lateness
from discussion_helper.voice.marks import Marks

__all__ = ["SteppedWork"]


class SteppedWork:
    """A `Driver`. It takes no time."""

    def __init__(self, inbox: Inbox, work: AudioWork) -> None:
        self.lateness, self.woken, self.loop = Lateness(), Lateness(), Lateness()
        self._inbox = inbox
        self._work = work
        self._taken_s = 0.0
        self._alive = False

    def start(self, marks: Marks) -> None:
        """Begin."""
        self._handover = LoopHandover()
        self._work.begin(self._handover.call, marks)
        self._alive = True

    def close(self) -> None:
        """Take what is there, and end. Idempotent."""
        self._inbox.close()
        self.step(self._taken_s)
        self._handover.close()

    def is_alive(self) -> bool:
        """It takes items still."""
        return self._alive

    def due_s(self, now: float) -> float:
        """When it has something to do, on the clock of the items."""
        if not self._alive:
            return math.inf
        if self._inbox.waiting:
            return now
        tick_s = self._work.tick_s
        return math.inf if tick_s is None else self._taken_s + tick_s

    def step(self, now: float) -> None:
        """Take all there is, or notice that nothing came."""
        if not self._inbox.waiting:
            self._work.take(None, now)
        while self._alive and self._inbox.waiting:
            item = self._inbox.get()
            if isinstance(item, Closed):
                self._alive = False
                break
            self._work.take(item, now)
            if isinstance(item, Captured) and self._work.hears:
                self.lateness.add(now - self._inbox.put_at_s)
                self.woken.add(now - self._inbox.put_at_s)
        self._taken_s = now
