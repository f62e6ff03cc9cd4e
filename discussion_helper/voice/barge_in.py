"""When a voice over the agent is an interruption."""

from discussion_helper.errors import SettingError

__all__ = ["OWN_SHARE", "ROUNDING_S", "OnsetRule"]

ROUNDING_S = 1e-6
"""Frames of 32 ms that were added up are not to need one more for the sake of the last digit."""
OWN_SHARE = 0.5
"""Of a turn's voice that sounded like the agent's, from which on all of it is the agent's."""


class OnsetRule:
    """So much voice in one turn that is not the agent's own is an interruption. A pure function of what it is given.

    Voice that is the agent's own takes away as much as other voice gives, so that a leak of the echo canceller does
    not add up from what was misjudged of it.
    """

    def __init__(self, *, min_speech_s: float = 0.128) -> None:
        """`min_speech_s`: seconds of voice. Raises SettingError unless it is positive."""
        if not min_speech_s > 0.0:
            raise SettingError(f"min_speech_s: {min_speech_s!r} is no length.", fix="Use seconds above 0.")
        self._min_speech_s = min_speech_s
        self.reset()

    def reset(self) -> None:
        """Forget the turn."""
        self.told = False
        """Whether this turn is an interruption."""
        self.voiced_s = 0.0
        """Seconds of voice in the turn, whoever's."""
        self._own_s = 0.0
        self._others_s = 0.0

    def step(self, voiced_s: float, *, own: bool = False) -> bool:
        """`voiced_s`: seconds of voice in the open turn, 0 when none is open. True once in each turn.

        `own`: what was added since the last step is the agent's own voice.
        """
        if voiced_s == 0.0 or voiced_s < self.voiced_s:
            self.reset()
        grown, self.voiced_s = voiced_s - self.voiced_s, voiced_s
        self._own_s += grown if own else 0.0
        self._others_s = max(0.0, self._others_s + (-grown if own else grown))
        told, self.told = self.told, self.told or self._others_s > self._min_speech_s - ROUNDING_S
        return self.told and not told

    @property
    def is_own(self) -> bool:
        """The turn holds nothing but the agent's own voice."""
        return not self.told and 0.0 < self._own_s >= OWN_SHARE * self.voiced_s
