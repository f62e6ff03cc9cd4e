"""The port of a playback: what writes replies, and what turns them down, know no more of it."""

from typing import Protocol

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.playback import Position

__all__ = ["Player"]


class Player(Protocol):
    """Replies on their way to a loudspeaker, wherever that is. Each is a generation; generations only grow.

    `Playback` says what its methods promise.
    """

    @property
    def rate(self) -> int:
        """Hertz of the samples that are written."""
        ...

    def write(self, generation: int, samples: Samples) -> int | None:
        """Append samples to a reply; the index after the last one, or None for a dead reply."""
        ...

    @property
    def room(self) -> int:
        """Samples that can be written now."""
        ...

    def pending(self, generation: int) -> int:
        """Samples of that reply that are still to be played."""
        ...

    @property
    def idle(self) -> bool:
        """Nothing is left to play."""
        ...

    @property
    def position(self) -> Position:
        """How far the reply is that was played last."""
        ...

    @property
    def is_cut(self) -> bool:
        """The reply that was played last was halted before its end."""
        ...

    def halt(self, generation: int) -> Position:
        """Discard that reply and every earlier one, for good; how much of it was played."""
        ...

    def set_ramp(self, seconds: float) -> None:
        """How long a pause takes to lead down, and going on after it to lead up."""
        ...

    def pause(self, generation: int) -> None:
        """Fall silent within the ramp and keep the place, as long as that reply or an earlier one is next."""
        ...

    def resume(self) -> None:
        """Go on from the sample after the last one that was played."""
        ...

    def hold(self, on: bool) -> None:
        """While on, a reply that has not begun does not, for 500 ms at most."""
        ...
