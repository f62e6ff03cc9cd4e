"""The audio thread and the two devices it stands between."""

import logging
import time
from collections.abc import Callable
from threading import Thread
from types import TracebackType
from typing import Protocol, Self

import anyio

from discussion_helper.audio.handover import LoopHandover
from discussion_helper.audio.inbox import Call, Captured, Closed, DeviceLost, Inbox, Item, Played
from discussion_helper.audio.playback import Playback
from discussion_helper.errors import DeviceError
from discussion_helper.voice.hearing import Hearing, Note
from discussion_helper.voice.marks import Marks

__all__ = ["JOIN_S", "AudioEngine", "Ears", "Sink", "Source"]

_log = logging.getLogger(__name__)

JOIN_S = 0.3
"""The thread ends after the block under way, which takes it a few milliseconds."""


class Source(Protocol):
    """An open microphone, or an open loudspeaker."""

    name: str
    rate: int

    def close(self) -> None:
        """Release it; idempotent, bounded."""
        ...


class Sink(Source, Protocol):
    """An open loudspeaker."""

    playback: Playback


class Ears(Protocol):
    """Who is told, on the event loop, of what was heard."""

    def noted(self, note: Note) -> None:
        """Something was heard."""
        ...

    def lost(self, error: Exception) -> None:
        """The talk is over: nothing more can be heard, or said."""
        ...


class AudioEngine:
    """Entered, it has an open loudspeaker, an audio thread, and a microphone to open. Left, nothing of them is there.

    The microphone and the loudspeaker are also closed one by one, by the parts that own them.
    """

    def __init__(
        self,
        *,
        inbox: Inbox,
        open_capture: Callable[[], Source],
        open_playback: Callable[[], Sink],
        hearing: Callable[[int], Hearing],
    ) -> None:
        """`inbox`: what the devices feed. `hearing` makes what listens, from the microphone's rate."""
        self._open_capture = open_capture
        self._open_playback = open_playback
        self._make_hearing = hearing
        self._inbox = inbox
        self._hearing: Hearing | None = None
        self._capture: Source | None = None
        self._sink: Sink | None = None
        self._ears: Ears | None = None
        self._on_lost: Callable[[Exception], None] = _log.error
        self._thread = Thread(target=self._run, name="audio", daemon=True)
        self.late_s = 0.0
        """The longest the audio thread was behind the microphone."""

    async def __aenter__(self) -> Self:
        self._handover = LoopHandover()
        self._sink = await anyio.to_thread.run_sync(self._open_playback)
        self.marks = Marks(self._sink.playback)
        self._thread.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with anyio.CancelScope(shield=True):
            await self.close_microphone()
            await self.close_loudspeaker()

    @property
    def playback(self) -> Playback:
        """Where the voice writes."""
        assert self._sink is not None
        return self._sink.playback

    @property
    def dropped(self) -> int:
        """Blocks that the audio thread was too slow to take."""
        return self._inbox.dropped

    def on_loudspeaker_lost(self, tell: Callable[[Exception], None]) -> None:
        """Who is told, on the event loop, when the loudspeaker goes away."""
        self._on_lost = tell

    # -- the devices

    async def open_microphone(self, ears: Ears) -> str:
        """Open it and tell `ears` of what is heard; its name. Raises DeviceError."""
        self._ears = ears
        self._capture = await anyio.to_thread.run_sync(self._open_capture)
        hearing = self._make_hearing(self._capture.rate)
        self._inbox.put(Call(lambda: self._listen(hearing)))
        return self._capture.name

    async def close_microphone(self) -> None:
        """Close it; a turn that is open ends. Idempotent."""
        capture, self._capture = self._capture, None
        if capture is not None:
            await anyio.to_thread.run_sync(capture.close)
            self._inbox.put(Call(lambda: self._listen(None)))

    async def close_loudspeaker(self) -> None:
        """Close it, and end the audio thread. Idempotent."""
        sink, self._sink = self._sink, None
        if sink is not None:
            await anyio.to_thread.run_sync(sink.close)
            self._inbox.close()
            await anyio.to_thread.run_sync(self._thread.join, JOIN_S)
            self._handover.close()

    # -- the audio thread

    def _run(self) -> None:
        while not isinstance(item := self._inbox.get(), Closed):
            try:
                if item is not None:
                    self._take(item)
            except Exception as failure:  # told to the loop, which ends the talk; the thread must live to be joined
                self._handover.call(self._fail, failure)

    def _take(self, item: Item) -> None:
        match item:
            case Captured():
                if self._hearing is not None:
                    self._tell(self._hearing.captured(item))
                    self.late_s = max(self.late_s, time.monotonic() - item.at_s)
            case Played():
                if self._hearing is not None:
                    self._hearing.played(item)
                if self.marks.is_passed_by(item):
                    self._handover.call(self.marks.pass_all, item.position.generation, item.position.samples, item.at_s)
            case DeviceLost():
                self._handover.call(self._lost, item)
            case Call():
                item.fn()

    def _listen(self, hearing: Hearing | None) -> None:
        if self._hearing is not None:
            self._tell(self._hearing.finish())
        self._hearing = hearing

    def _tell(self, notes: list[Note]) -> None:
        for note in notes:
            self._handover.call(self._noted, note)

    # -- back on the event loop

    def _noted(self, note: Note) -> None:
        if self._ears is not None:
            self._ears.noted(note)

    def _lost(self, item: DeviceLost) -> None:
        error = DeviceError(f"{item.reason.rstrip('.')}.", fix=item.fix)
        if item.which == "playback":
            self._fail(error)
        elif self._ears is not None:
            self._ears.lost(error)

    def _fail(self, failure: Exception) -> None:
        """The voice stops, and the listener, which is waited for at any time, ends the talk."""
        self._on_lost(failure)
        if self._ears is not None:
            self._ears.lost(failure)
