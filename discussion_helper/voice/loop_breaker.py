"""The last resort against an agent that talks with itself."""

from collections.abc import Iterable

from discussion_helper.voice.echo_text import is_fragment, overlap_of

__all__ = ["IN_A_ROW", "LOOP_SHARE", "LoopBreaker"]

IN_A_ROW = 3
"""So many turns one after the other, and it is no chance."""
LOOP_SHARE = 0.5
"""Of the agent's own words in a turn: a recogniser that hears a bad echo gets half of them."""


class LoopBreaker:
    """Counts turns that are the agent's own words.

    One that was known by its sound was not answered: it is part of no loop. A word or three of the agent's may be
    somebody's answer to it, or the pieces that an agent hears of itself which is cut off by its own echo: they count,
    and nothing but other words begins anew.
    """

    def __init__(self) -> None:
        self._count = 0
        self.tripped = False
        """It has said so; it does so once."""

    def turn(self, text: str, spoken: Iterable[str], *, own: bool = False) -> bool:
        """One more turn; True at one too many. `own`: its sound was the agent's. No words count as nothing."""
        if own or not text.strip():
            return False
        self._count = self._count + 1 if _is_agents(text, tuple(spoken)) else 0
        tripped, self.tripped = self.tripped, self.tripped or self._count >= IN_A_ROW
        return self.tripped and not tripped

    def is_loop(self, text: str, spoken: Iterable[str]) -> bool:
        """Once it has said so, what is half of the agent's own words, or a piece of them, is not answered any more."""
        return self.tripped and _is_agents(text, tuple(spoken))

    def reset(self) -> None:
        """Another microphone, or another place."""
        self._count, self.tripped = 0, False


def _is_agents(text: str, spoken: Iterable[str]) -> bool:
    return overlap_of(text, spoken) >= LOOP_SHARE or is_fragment(text, spoken)
