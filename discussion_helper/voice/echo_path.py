"""The echo path, as the hearing wants it."""

from typing import Protocol

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Played

__all__ = ["EchoPath"]


class EchoPath(Protocol):
    """Takes what the loudspeaker played out of what the microphone heard."""

    near_db: float
    """Level of the last block of the microphone, as it came, in dBFS."""
    expected_db: float
    """Level to expect in that block if nobody spoke."""

    def feed(self, played: Played) -> None:
        """The loudspeaker got this."""
        ...

    def clean(self, near: Samples, at_s: float, start: int) -> Samples:
        """The 10 ms of the microphone from sample `start` at 16 kHz, there at `at_s`, without the echo."""
        ...

    def is_own_voice(self) -> bool:
        """Whether what was cleaned last still is the loudspeaker's sound. Takes milliseconds."""
        ...

    def leaks(self) -> bool:
        """Whether the same is so while it learns an echo that it has just found; False at once where it does not."""
        ...
