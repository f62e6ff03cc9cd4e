"""The audio thread: what devices deliver becomes what was heard, and a microphone that falls silent is noticed."""

import time
from collections.abc import Callable
from threading import Thread

from discussion_helper.audio.handover import LoopHandover
from discussion_helper.audio.inbox import Call, Captured, Closed, DeviceLost, Inbox, Item, Played
from discussion_helper.voice.health import Lateness
from discussion_helper.voice.hearing import Hearing, Note
from discussion_helper.voice.marks import Marks

__all__ = ["FIRST_S", "JOIN_S", "STALL_S", "TICK_S", "AudioThread"]

JOIN_S = 0.3
"""The thread ends after the block under way, which takes it a few milliseconds."""
STALL_S = 1.0
"""A microphone that was delivering and then delivers nothing for so long is lost, though its stream says nothing."""
FIRST_S = 5.0
"""For the first block: a headset that has to change its profile takes a second or two."""
TICK_S = 0.25
"""How often a microphone that delivers nothing is looked at; of a longer wait no more counts, for then the machine
slept and the microphone with it."""


class AudioThread:
    """Takes what is in the inbox, one after the other, from `start()` to `close()`.

    `noted`, `lost` and `failed` are called on the event loop it was started on: with what was heard, with a device that
    went away or a microphone that stalls, and with an error of the thread's own, after which it goes on.
    """

    def __init__(
        self,
        inbox: Inbox,
        *,
        noted: Callable[[Note], object],
        lost: Callable[[DeviceLost], object],
        failed: Callable[[Exception], object],
    ) -> None:
        self._inbox = inbox
        self._noted, self._lost, self._failed = noted, lost, failed
        self._hearing: Hearing | None = None
        self._microphone = ""
        self._silent_s = 0.0
        self._limit_s = 0.0
        self.lateness = Lateness()
        self._thread = Thread(target=self._run, name="audio", daemon=True)

    def start(self, marks: Marks) -> None:
        """Begin. Raises RuntimeError where no event loop runs."""
        self._handover = LoopHandover()
        self._marks = marks
        self._thread.start()

    def listen(self, hearing: Hearing, microphone: str) -> None:
        """From now on this hears what the microphone of that name delivers. From any thread."""
        self._inbox.put(Call(lambda: self._change(hearing, microphone)))

    def listen_no_more(self) -> None:
        """The microphone is closed: a turn that is open ends. From any thread."""
        self._inbox.put(Call(lambda: self._change(None, "")))

    def close(self) -> None:
        """End after the block under way. Idempotent, takes at most 0.3 s."""
        self._inbox.close()
        if self.is_alive():
            self._thread.join(JOIN_S)
        self._handover.close()

    def is_alive(self) -> bool:
        """It runs."""
        return self._thread.is_alive()

    # -- on the thread

    def _run(self) -> None:
        before = time.monotonic()
        while not isinstance(item := self._inbox.get(TICK_S if self._microphone else None), Closed):
            now = time.monotonic()
            try:
                self._watch(item, now - before)
                if item is not None:
                    self._take(item)
            except Exception as failure:  # told to the loop, which ends the talk; the thread must live to be joined
                self._handover.call(self._failed, failure)
            before = now

    def _watch(self, item: Item | None, passed_s: float) -> None:
        """Whether the microphone still delivers."""
        if isinstance(item, Captured):
            self._silent_s, self._limit_s = 0.0, STALL_S
            return
        self._silent_s += min(passed_s, TICK_S)
        if self._microphone and self._silent_s >= self._limit_s:
            self._take(DeviceLost("capture", f'"{self._microphone}" delivers nothing any more'))

    def _take(self, item: Item) -> None:
        match item:
            case Captured():
                if self._hearing is not None:
                    self._tell(self._hearing.captured(item))
                    self.lateness.add(time.monotonic() - self._inbox.put_at_s)
            case Played():
                if self._hearing is not None:
                    self._hearing.played(item)
                if self._marks.is_passed_by(item):
                    position = item.position
                    self._handover.call(self._marks.pass_all, position.generation, position.samples, item.at_s)
            case DeviceLost():
                if item.which == "capture":
                    self._microphone = ""
                self._handover.call(self._lost, item)
            case Call():
                item.fn()

    def _change(self, hearing: Hearing | None, microphone: str) -> None:
        if self._hearing is not None:
            self._tell(self._hearing.finish())
        self._hearing, self._microphone = hearing, microphone
        self._silent_s, self._limit_s = 0.0, FIRST_S

    def _tell(self, notes: list[Note]) -> None:
        for note in notes:
            self._handover.call(self._noted, note)
