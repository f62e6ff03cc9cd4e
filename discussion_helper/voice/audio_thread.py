"""The audio thread: drives the audio work in real time."""

import time
from collections.abc import Callable
from threading import Thread
from typing import Any

from discussion_helper.audio.handover import LoopHandover
from discussion_helper.audio.inbox import Captured, Closed, Inbox
from discussion_helper.voice.audio_work import AudioWork
from discussion_helper.voice.health import Lateness
from discussion_helper.voice.marks import Marks

__all__ = ["JOIN_S", "AudioThread"]

JOIN_S = 0.3
"""The thread ends after the block under way, which takes it a few milliseconds."""


class AudioThread:
    """Takes what is in the inbox, one after the other, from `start()` to `close()`.

    Who is told by the work is told on the event loop it was started on. `clock` is the one of the items' times.
    """

    def __init__(self, inbox: Inbox, work: AudioWork, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._inbox = inbox
        self._work = work
        self._clock = clock
        self.lateness, self.woken, self.loop = Lateness(), Lateness(), Lateness()
        self._thread = Thread(target=self._run, name="audio", daemon=True)

    def start(self, marks: Marks) -> None:
        """Begin. Raises RuntimeError where no event loop runs."""
        self._handover = LoopHandover()
        self._work.begin(self._hand_over, marks)
        self._thread.start()

    def close(self) -> None:
        """End after the block under way. Idempotent, takes at most 0.3 s."""
        self._inbox.close()
        if self.is_alive():
            self._thread.join(JOIN_S)
        self._handover.close()

    def is_alive(self) -> bool:
        """It runs."""
        return self._thread.is_alive()

    def _hand_over(self, fn: Callable[..., object], *args: Any) -> None:
        self._handover.call(self._arrive, self._clock(), fn, args)

    def _arrive(self, left_at_s: float, fn: Callable[..., object], args: tuple[Any, ...]) -> None:
        """On the event loop."""
        self.loop.add(self._clock() - left_at_s)
        fn(*args)

    def _run(self) -> None:
        while not isinstance(item := self._inbox.get(self._work.tick_s), Closed):
            taken_s = self._clock()
            self._work.take(item, taken_s)
            if isinstance(item, Captured) and self._work.hears:
                self.woken.add(taken_s - self._inbox.put_at_s)
                self.lateness.add(self._clock() - self._inbox.put_at_s)
