"""The evidence: what was heard up to now while the agent speaks."""

from dataclasses import dataclass

__all__ = ["Evidence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was heard up to now. Times in seconds, `at_s` on any clock that runs evenly."""

    at_s: float
    audible: bool
    """The agent is heard, or would be if it were not turned down."""
    eager: bool
    """The duck rule says yes."""
    voiced_s: float
    """Of voice in the open turn, whoever's; 0.0 when none is open."""
    others_s: float
    """Of it, what is not the agent's own."""
    own: bool
    """So far it is the agent's own voice."""
    quiet_s: float
    """Since the last voice."""
