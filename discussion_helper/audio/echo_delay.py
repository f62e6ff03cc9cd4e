"""The echo's delay: how much later than its reference an echo comes that the canceller does not find."""

__all__ = ["ALIKE", "FAR", "LEFT", "LOUD", "NEAR", "OVER", "RECENT", "SEARCHED", "EchoDelay"]

LOUD = 2e-6
"""-57 dBFS: a softer echo is answered by nobody."""
LEFT = 0.25
"""Of the power, what the canceller leaves (-6 dB) where it has not found the echo."""
OVER = 2.0
"""Of the power that was expected, what the microphone hears (3 dB more) where the echo is not expected either."""
SEARCHED = 20
"""Blocks of 10 ms in which it was left, after which it is looked for. A search takes 2 to 3 ms."""
RECENT = 200
"""So many blocks after something was played its echo can be heard."""
ALIKE = 80
"""Samples by which two delays that were found may differ: 5 ms, a period of a high voice."""
FAR = 0.42
"""Seconds. What is later than that the canceller does not find; see `reference.LEAD_S`. Before that a delayed reference
costs more, while the canceller learns anew, than it gains."""
NEAR = 0.05
"""How late it is then: a device that stumbles moves it by some 10 ms."""


class EchoDelay:
    """Says when to look for the echo, and where the reference has to be for what was found. Counts in blocks of 10 ms.

    A delay counts once it was found twice in a row: with somebody who talks over the agent, what is found is elsewhere
    each time.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget what was found."""
        self._since_played = RECENT
        self._found: int | None = None
        self._begin()

    def played(self) -> None:
        """The loudspeaker got something."""
        self._since_played = 0

    def is_due(self, near: float, left: float, expected: float) -> bool:
        """Whether the echo is to be looked for. Mean squares of the next block: of the microphone, of what the
        canceller leaves of it, and the one that was expected.
        """
        self._since_played += 1
        if near < LOUD or self._since_played > RECENT:
            return False
        self._loud += 1
        self._near += near
        self._left += left
        self._expected += expected
        if self._loud < SEARCHED:
            return False
        missed = self._left >= LEFT * self._near or self._near >= OVER * self._expected
        self._begin()
        return missed

    def _begin(self) -> None:
        self._loud = 0
        self._near = 0.0
        self._left = 0.0
        self._expected = 0.0

    def delay_for(self, found: int | None, delay: int) -> int:
        """The delay of the reference to use from now on, in samples at 16 kHz.

        `found`: how late the echo is for a reference without delay, None = it was not found; `delay`: the one so far.
        """
        before, self._found = self._found, found
        if found is None or before is None or abs(found - before) > ALIKE:
            return delay
        if 0 <= found - delay <= FAR * 16_000:
            return delay
        self._found = None
        return max(0, found - round(NEAR * 16_000))
