"""The verdict: what is to be done about a voice over the agent, and why."""

from dataclasses import dataclass
from enum import Enum

__all__ = ["RESPONSE", "STOPPED", "WORDLESS", "Act", "Verdict"]

RESPONSE = "a listener's response"
"""Why "mm-hm" is ignored."""
STOPPED = "a stop word"
"""Why "stop" is an interruption, whatever else is known."""
WORDLESS = "no words in it"
"""Why who talks on is ignored; words that come of it at last are an interruption all the same."""


class Act(Enum):
    """What is to be done."""

    DUCK = "duck"
    ASK = "ask"
    """Have the open turn recognised as it stands."""
    INTERRUPT = "interruption"
    RESUME = "ignored"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One of the acts, and why."""

    act: Act
    why: str = ""
