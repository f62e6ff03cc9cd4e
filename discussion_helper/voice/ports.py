"""What the audio engine stands between: open devices on one side, who hears on the other."""

from collections.abc import Callable
from typing import Protocol, TypeVar

from discussion_helper.audio.player import Player
from discussion_helper.voice.deciding import Words
from discussion_helper.voice.health import Lateness
from discussion_helper.voice.marks import Marks
from discussion_helper.voice.notes import Note

__all__ = ["Device", "Driver", "Ears", "Microphone", "Runner", "Sink", "Source"]

T = TypeVar("T")


class Device(Protocol):
    """An open device."""

    name: str
    rate: int

    def close(self) -> None:
        """Release it; idempotent, bounded."""
        ...


class Source(Device, Protocol):
    """An open microphone."""

    @property
    def overflows(self) -> int:
        """Times that samples were lost because nobody took them."""
        ...


class Sink(Device, Protocol):
    """An open loudspeaker."""

    @property
    def playback(self) -> Player:
        """Where what it plays is written."""
        ...

    @property
    def underflows(self) -> int:
        """Blocks that came too late to be played in time."""
        ...


class Ears(Protocol):
    """Who is told, on the event loop, of what was heard."""

    def noted(self, note: Note) -> None:
        """Something was heard."""
        ...

    def device(self, which: str, state: str, **more: str) -> None:
        """The "microphone" or the "loudspeaker" is "lost", or "open" again."""
        ...

    def lost(self, error: Exception) -> None:
        """The talk is over: nothing more can be heard, or said."""
        ...


class Driver(Protocol):
    """Lets the audio work take what is in the inbox, in order."""

    lateness: Lateness
    """Of blocks of the microphone, to the end of the work on them."""
    woken: Lateness
    """Of the same, to its beginning."""
    loop: Lateness
    """Of what is handed over to the event loop."""

    def start(self, marks: Marks) -> None:
        """Begin, on the event loop that is told what comes of it."""
        ...

    def close(self) -> None:
        """End; blocks, bounded, idempotent."""
        ...

    def is_alive(self) -> bool:
        """It takes items still."""
        ...


class Runner(Protocol):
    """Runs what blocks, off the event loop."""

    async def __call__(self, fn: Callable[[], T], /) -> T:
        """What `fn()` returns, or raises."""
        ...


class Microphone(Protocol):
    """What the listener needs of the audio engine."""

    async def open_microphone(self, ears: Ears) -> str:
        """Open it; its name."""
        ...

    async def close_microphone(self) -> None:
        """Close it; idempotent."""
        ...

    def go_half_duplex(self) -> None:
        """From now on only a loud voice is heard over the agent."""
        ...

    def words(self, words: Words) -> None:
        """What a recogniser made of the turn that is open, for deciding about an interruption."""
        ...

    def key(self, *, down: bool, at_s: float) -> None:
        """The key of push to talk went down, or came up, at `at_s` on the clock of the event loop."""
        ...

    @property
    def speaking(self) -> bool:
        """Something of a reply is still to be played."""
        ...
