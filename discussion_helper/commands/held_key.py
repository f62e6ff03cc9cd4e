"""A key that is held, in a terminal, which tells of presses and repeats and never of a release."""

from asyncio import TimerHandle, get_running_loop
from collections.abc import Callable

from discussion_helper.clock import now

__all__ = ["FIRST_REPEAT_S", "LET_GO_S", "REPEAT_S", "HeldKey"]

FIRST_REPEAT_S = 0.8
"""After a press the first repeat has come by then: systems wait for 0.25 to 0.66 s."""
REPEAT_S = 0.15
"""The next repeat comes sooner: they are 25 to 60 ms apart, and a network may hold one up."""
LET_GO_S = 0.25
"""After so long without a repeat a key that repeated is up."""


class HeldKey:
    """Held, it is down until the repeats end. Tapped, it is down until it is tapped again.

    Which of the two it is shows at the third stroke; a second one that comes as soon as a repeat might is taken for the
    second tap when there is no third within 0.15 s. For the event loop's thread, on asyncio.
    """

    def __init__(self, change: Callable[[bool], object]) -> None:
        """`change` is told True when it goes down, False when it comes up."""
        self._change = change
        self._down = self._repeats = False
        self._began_s = 0.0
        self._timer: TimerHandle | None = None

    def strike(self) -> None:
        """The terminal tells of it, for whatever reason."""
        if not self._down:
            self._down, self._began_s = True, now()
            self._change(True)
        elif self._timer is not None:  # the second repeat, or a later one
            self._repeats = True
            self._come_up_in(LET_GO_S)
        elif now() - self._began_s <= FIRST_REPEAT_S:
            self._come_up_in(REPEAT_S)
        else:
            self._come_up()

    def reset(self) -> None:
        """It is up already; nobody is told."""
        self._cancel()
        self._down = self._repeats = False

    def _come_up_in(self, seconds: float) -> None:
        self._cancel()
        self._timer = get_running_loop().call_later(seconds, self._come_up)

    def _come_up(self) -> None:
        self.reset()
        self._change(False)

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
