"""What a remote client and a session say to each other, as values: frames up and down, and what is wrong with one."""

from dataclasses import dataclass

from discussion_helper.audio.frames import Samples
from discussion_helper.errors import DiscussionError

__all__ = [
    "MOST_RATE",
    "NAME_LENGTH",
    "RATE",
    "STATES",
    "Bye",
    "Down",
    "FrameError",
    "Held",
    "Hello",
    "Mute",
    "Pause",
    "Play",
    "Pong",
    "Progress",
    "Prompt",
    "Resume",
    "Sound",
    "Stop",
    "Up",
]

RATE = 48_000
"""Hertz before a client has named its own; what browsers mostly have."""
MOST_RATE = 96_000
NAME_LENGTH = 100
"""Characters of a client's name."""
STATES = ("playing", "paused", "done", "stopped")
"""Of a reply at the client's loudspeaker."""


class FrameError(DiscussionError):
    """A frame is wrong, and thrown away. `code` says how: "form", "field", "order" or "late"."""

    def __init__(self, code: str, what: str, *, fix: str) -> None:
        super().__init__(what, fix=fix)
        self.code = code


@dataclass(frozen=True, slots=True)
class Hello:
    """The first frame. `rate`: hertz of both directions. `take`: take the microphone from who has it."""

    rate: int
    take: bool = False
    name: str = ""


@dataclass(frozen=True, slots=True)
class Sound:
    """A block of the microphone.

    `sample`: index of its first one since the hello. `at`: when that was at the microphone, on the client's clock.
    """

    seq: int
    sample: int
    at: float
    samples: Samples


@dataclass(frozen=True, slots=True)
class Prompt:
    """The client hears somebody begin to speak, about at that sample of its microphone."""

    sample: int


@dataclass(frozen=True, slots=True)
class Progress:
    """The client's loudspeaker has played `sample` samples of that reply, the last one at `at` on its clock."""

    reply: int
    sample: int
    at: float
    state: str


@dataclass(frozen=True, slots=True)
class Mute:
    """The client closed its microphone, or opened it again."""

    on: bool


@dataclass(frozen=True, slots=True)
class Pong:
    """The answer to a ping of that number."""

    n: int


@dataclass(frozen=True, slots=True)
class Bye:
    """The client leaves for good."""


Up = Hello | Sound | Prompt | Progress | Mute | Pong | Bye


@dataclass(frozen=True, slots=True)
class Play:
    """Samples of a reply, the first one at the index `sample` of it. `last`: there are no more of it so far."""

    reply: int
    sample: int
    samples: Samples
    last: bool


@dataclass(frozen=True, slots=True)
class Pause:
    """Lead that reply down to silence within the ramp, and keep its place."""

    reply: int
    ramp_s: float


@dataclass(frozen=True, slots=True)
class Resume:
    """Go on with that reply from the sample after the last one played."""

    reply: int
    ramp_s: float


@dataclass(frozen=True, slots=True)
class Stop:
    """That reply and all before it are dead."""

    reply: int


@dataclass(frozen=True, slots=True)
class Held:
    """Somebody beside the client muted the session, or opened its microphone again."""

    on: bool


Down = Play | Pause | Resume | Stop | Held
