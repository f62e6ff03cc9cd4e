"""Words: what a recogniser made of a voice over the agent."""

from dataclasses import dataclass

__all__ = ["Words"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What a recogniser made of the open turn so far; `final`: the voice has paused behind it."""

    text: str
    final: bool = False
    voiced_s: float = 0.0
    echo: bool = False
    """They are the agent's own words."""
    score: float = 0.0
    """The share of them that the agent had just said, which that was decided by."""
    refused: str = ""
    """Why there are none."""
    doubt: float = 0.0
    """The recogniser's: probability of no speech, minus the average logarithm of a token's probability."""
    language: str = ""
    """In which they were read; "" = unknown."""
