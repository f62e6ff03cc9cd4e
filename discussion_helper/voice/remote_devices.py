"""A client's microphone and loudspeaker as devices of the audio engine."""

from discussion_helper.audio.frames import Frame
from discussion_helper.audio.inbox import Captured, Inbox
from discussion_helper.audio.player import Player

__all__ = ["RemoteSink", "RemoteSource"]


class RemoteSource:
    """A `Source`: blocks that came over the network go to the inbox, counted from the first one since it was opened."""

    def __init__(self, name: str, rate: int, inbox: Inbox) -> None:
        self.name = name
        self.rate = rate
        self._inbox = inbox
        self._is_open = True
        self._first: int | None = None
        self._overflows = 0

    @property
    def overflows(self) -> int:
        """Blocks that the inbox did not take."""
        return self._overflows

    def take(self, captured: Captured) -> None:
        """A block, never an older one than before; nothing once it is closed."""
        if not self._is_open:
            return
        frame = captured.frame
        self._first = frame.start if self._first is None else self._first
        moved = Frame(frame.samples, frame.rate, frame.start - self._first)
        self._overflows += not self._inbox.put(Captured(moved, captured.at_s))

    def close(self) -> None:
        """Take nothing more."""
        self._is_open = False


class RemoteSink:
    """A `Sink`: clients come and go behind it."""

    name = "remote"
    underflows = 0

    def __init__(self, playback: Player) -> None:
        self.playback = playback
        self.rate = playback.rate

    def close(self) -> None:
        """Nothing is held."""
