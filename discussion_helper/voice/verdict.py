"""The verdict: what is to be done about a voice over the agent, and why."""

from dataclasses import dataclass
from enum import Enum

__all__ = ["LATE", "RESPONSE", "STOPPED", "WITHOUT_WORDS", "WORDLESS", "Act", "Verdict"]

RESPONSE = "a listener's response"
"""Why "mm-hm" is ignored."""
STOPPED = "a stop word"
"""Why "stop" is an interruption, whatever else is known."""
WORDLESS = "no words in it"
"""Why who talks on is ignored; words that come of it at last are an interruption all the same."""
LATE = "no words in time"
"""Why the agent goes on although nobody knows yet what was said; the same holds for words that come after that."""
WITHOUT_WORDS = frozenset((WORDLESS, LATE))


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
