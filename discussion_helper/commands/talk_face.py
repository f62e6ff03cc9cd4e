"""What a talk is shown on."""

from collections.abc import Callable
from typing import Protocol

from discussion_helper.commands.talk_wishes import Wishes
from discussion_helper.events import Event

__all__ = ["Face", "FaceOf"]


class Face(Protocol):
    """What the person sees."""

    def take(self, event: Event) -> None:
        """Follow one event."""
        ...

    def tell(self, text: str) -> None:
        """Say something about the talk."""
        ...

    def note(self, text: str) -> None:
        """Say something that matters for a moment only."""
        ...

    def left_out(self, text: str, why: str) -> None:
        """Tell why a typed turn is not answered."""
        ...

    async def run(self) -> None:
        """Take what the person wants; may return before the talk ends."""
        ...

    async def suspend(self) -> None:
        """Give the terminal back and stop the process; return when it goes on."""
        ...

    def farewell(self) -> list[str]:
        """Lines to leave behind on stderr after the talk."""
        ...


FaceOf = Callable[[Wishes, Callable[[int], None]], Face]
"""Makes a face, from where its wishes go and from what ends the talk with an exit code."""
