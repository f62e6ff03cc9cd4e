"""The alarms of the eager gate: which of them count, for it is often wrong."""

__all__ = ["CALM_S", "FALSE_ALARMS", "PAUSE_S", "WITHIN_S", "Alarms"]

CALM_S = 0.3
"""What made a false alarm must have been away for so long before it can make the next."""
FALSE_ALARMS, WITHIN_S = 3, 10.0
"""After so many of them in that time only a voice for which the neural detector stands turns the agent down."""
PAUSE_S = 0.15
"""A sound that was away for longer is over."""


class Alarms:
    """A pure function of what the gate says, 10 ms each."""

    def __init__(self) -> None:
        self._heard_s = -1e9
        self._false: list[float] = []
        self.steps = self.heard = 0
        """Since the last `begin`: in all, and those in which the gate heard a voice."""

    def begin(self) -> None:
        """An alarm was raised."""
        self.steps = self.heard = 0

    def follow(self, at_s: float, *, eager: bool) -> None:
        """The next 10 ms after an alarm."""
        self.steps, self.heard = self.steps + 1, self.heard + eager
        if eager:
            self._heard_s = at_s

    def is_raised(self, at_s: float, *, eager: bool) -> bool:
        """The next 10 ms while there is none. What is heard all the time alarms once."""
        calm_s = at_s - self._heard_s
        if eager:
            self._heard_s = at_s
        self._false = [false_s for false_s in self._false if at_s - false_s < WITHIN_S]
        return eager and calm_s > CALM_S and len(self._false) < FALSE_ALARMS

    def goes_on(self, at_s: float) -> bool:
        """The sound has not stopped."""
        return at_s - self._heard_s <= PAUSE_S

    def was_false(self, at_s: float) -> None:
        """The last alarm was for nothing."""
        self._false.append(at_s)
