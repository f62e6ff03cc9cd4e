"""One connection of a client, as a session sees it."""

from collections.abc import Callable
from typing import Any

from discussion_helper.audio.frames import Frame
from discussion_helper.audio.inbox import Captured
from discussion_helper.voice.remote_clock import RemoteClock
from discussion_helper.voice.remote_devices import RemoteSource
from discussion_helper.voice.remote_messages import FrameError, Sound

__all__ = ["SLACK_S", "RemoteClient", "RemoteEars"]

SLACK_S = 5.0
"""So much sound may come at once beyond the time that has passed: what a network held back."""


class RemoteEars:
    """The microphone of a connection: blocks in order, no more of them than time has passed, on our clock."""

    def __init__(self, rate: int, began_s: float) -> None:
        """`began_s`: when the client said hello."""
        self.clock = RemoteClock()
        self._rate = rate
        self._began_s = began_s
        self._expected = 0

    def captured(self, sound: Sound, now: float) -> Captured:
        """The block, as it arrived. Raises FrameError for one that is old, or far too early."""
        end = sound.sample + len(sound.samples)
        if sound.sample < self._expected:
            what = f"sample: {sound.sample} is behind {self._expected}, which is next."
            raise FrameError("order", what, fix="Send blocks in their order, each once.")
        if end > (now - self._began_s + SLACK_S) * self._rate:
            what = f"sample: {sound.sample} is ahead of the time since the hello."
            raise FrameError("late", what, fix="Send blocks as they are heard, at the rate of the hello.")
        self._expected = end
        self.clock.arrived(sound.at + len(sound.samples) / self._rate, now)
        return Captured(Frame(sound.samples, self._rate, sound.sample), self.clock.of(sound.at, now))


class RemoteClient:
    """Who said hello. `send` is given what is to be sent and does not wait; `taken` is told that it lost its place."""

    def __init__(
        self, name: str, rate: int, began_s: float, *, send: Callable[[Any], object], taken: Callable[[], object]
    ) -> None:
        self.name = name
        self.rate = rate
        self.send = send
        self.taken = taken
        self.is_muted = False
        self.source: RemoteSource | None = None
        """Its microphone as a device, once it was opened."""
        self.ears = RemoteEars(rate, began_s)
