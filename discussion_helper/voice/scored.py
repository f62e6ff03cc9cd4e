"""Scores: what a judge of prosody made of a turn."""

from dataclasses import dataclass

__all__ = ["Scored"]


@dataclass(frozen=True, slots=True)
class Scored:
    """The open turn sounds complete with this probability, as far as it had gone at its last voice before `until`."""

    until: int
    score: float
