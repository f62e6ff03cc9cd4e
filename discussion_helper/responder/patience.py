"""Patience with a model that streams: how long each silence may last, and what to call one that lasted longer."""

from dataclasses import dataclass, fields

from discussion_helper.clock import now
from discussion_helper.errors import SettingError

__all__ = ["Limits", "Patience"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds: from the request to the first text or reasoning, between two pieces of either, and from the request,

    or a piece of text, to the next text when the model reasons. Raises SettingError for one that is not positive.
    """

    first_token_s: float
    between_s: float
    thinking_s: float

    def __post_init__(self) -> None:
        for limit in fields(self):
            if not getattr(self, limit.name) > 0:
                raise SettingError(f"{limit.name} is {getattr(self, limit.name)}.", fix="Give seconds above 0.")


class Patience:
    """For one request, from now on. Tell it of progress when whoever listens is ready for more: their time is free."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._since = now()
        self._begun = False
        self._reasoned = False  # since then
        self.deadline = self._since + limits.first_token_s
        """By when the next piece is to be there; on the clock of `now`."""

    def said(self) -> None:
        """A piece of the answer came."""
        self._since, self._begun, self._reasoned = now(), True, False
        self.deadline = self._since + self._limits.between_s

    def thought(self) -> None:
        """A piece of reasoning came, which is no answer yet."""
        self._reasoned = True
        self.deadline = min(now() + self._limits.between_s, self._since + self._limits.thinking_s)

    def silence(self) -> str:
        """What to say of a silence that reached the deadline, after the host's name."""
        if self._reasoned and now() >= self._since + self._limits.thinking_s:
            return f"has been thinking for {self._limits.thinking_s:g} s without saying anything"
        if self._reasoned:
            return f"stopped while thinking, for {self._limits.between_s:g} s"
        if self._begun:
            return f"stopped in the middle of the reply, for {self._limits.between_s:g} s"
        return f"has not begun to answer within {self._limits.first_token_s:g} s"
