"""When what is heard may become a turn: the port of turn policies, and the usual one."""

from dataclasses import dataclass
from typing import Literal, Protocol

from discussion_helper.audio.frames import Frame
from discussion_helper.turn.turns import TurnEvent, TurnSegmenter

__all__ = ["Attending", "Attention", "AttentionEvent", "AttentionState", "Listens"]

AttentionState = Literal["awake", "asleep", "pressed", "released", "refused"]
"""A wake word's, a key's, and what a wake word that the agent said itself comes to."""


@dataclass(frozen=True, slots=True)
class Attending:
    """From here on what is heard may become a turn, or may not any more."""

    state: AttentionState
    why: str
    score: float = 0.0
    """Of the wake word."""
    calls: bool = False
    """Somebody wants the floor: a reply in progress is over."""


AttentionEvent = TurnEvent | Attending


class Attention(Protocol):
    """For the audio thread alone. A function of the frames and of what it is told, by its times.

    Times are in seconds on the clock of the devices. What follows from a call comes with the next frame.
    """

    def feed(self, frame: Frame, now_s: float) -> list[AttentionEvent]:
        """What follows from the next frame at 16 kHz, of which the last sample was heard at `now_s`."""
        ...

    def played(self, frame: Frame, at_s: float) -> None:
        """The agent says this from `at_s` on."""
        ...

    def press(self, at_s: float) -> None:
        """The key went down."""
        ...

    def release(self, at_s: float) -> None:
        """It came up."""
        ...

    def finish(self) -> list[AttentionEvent]:
        """Nothing more is heard: an open turn ends."""
        ...


class Listens:
    """Always: every voice may be a turn."""

    def __init__(self, segmenter: TurnSegmenter) -> None:
        self._segmenter = segmenter

    def feed(self, frame: Frame, now_s: float) -> list[AttentionEvent]:  # noqa: ARG002 - as the port has it
        """Whatever the segmenter finds."""
        return [*self._segmenter.feed(frame)]

    def played(self, frame: Frame, at_s: float) -> None:
        """No matter."""

    def press(self, at_s: float) -> None:
        """There is no key."""

    def release(self, at_s: float) -> None:
        """There is no key."""

    def finish(self) -> list[AttentionEvent]:
        """End an open turn."""
        return [*self._segmenter.flush()]
