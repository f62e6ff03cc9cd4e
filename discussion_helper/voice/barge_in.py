"""When a voice over the agent is an interruption."""

from discussion_helper.errors import SettingError

__all__ = ["OnsetRule"]


class OnsetRule:
    """So much voice in one turn is an interruption. A pure function of what it is given."""

    def __init__(self, *, min_speech_s: float = 0.16) -> None:
        """`min_speech_s`: seconds of voice. Raises SettingError unless it is positive."""
        if not min_speech_s > 0.0:
            raise SettingError(f"min_speech_s: {min_speech_s!r} is no length.", fix="Use seconds above 0.")
        self._min_speech_s = min_speech_s
        self._told = False

    def reset(self) -> None:
        """Forget the turn."""
        self._told = False

    def step(self, voiced_s: float) -> bool:
        """`voiced_s`: seconds of voice in the open turn, 0 when none is open. True once in each turn."""
        if voiced_s < self._min_speech_s:
            self._told = self._told and voiced_s > 0.0
            return False
        told, self._told = self._told, True
        return not told
