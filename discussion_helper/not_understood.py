"""Not understood: what is said and told where a user's turn would end in silence."""

from collections.abc import Callable
from typing import Literal

from discussion_helper.record import Record

__all__ = ["IN_A_ROW", "SLOW_S", "Kind", "NotUnderstood"]

Kind = Literal["unclear", "unanswered"]
"""No words were recognised of what somebody said; the responder has nothing to say to what they said."""

IN_A_ROW = 2
"""So often it is said until something is understood again: whoever goes on is not talking with the agent, or a
television is."""
SLOW_S = 2.0
"""After so long it is told that a reply is waited for."""


class NotUnderstood:
    """Every such turn is told as a `decision`; those that are to be said aloud are said IN_A_ROW times at most."""

    def __init__(self, record: Record, text: Callable[[Kind], str], *, aloud: bool) -> None:
        """`text` gives what is said, "" = nothing. `aloud`: whether anything is."""
        self._record = record
        self._text = text
        self._aloud = aloud
        self._said = 0

    def understood(self) -> None:
        """A turn was, and has its answer."""
        self._said = 0

    def text(self, kind: Kind, why: str) -> str:
        """What to say of it, "" = nothing; it is told in any case."""
        text = self._text(kind) if self._aloud and self._said < IN_A_ROW else ""
        self._said += bool(text)
        self._record.tell("decision", {"what": kind, "why": why, **({"said": text} if text else {})})
        return text

    def tell_slow(self) -> None:
        """A reply has not begun after SLOW_S."""
        self._record.tell("decision", {"what": "waiting", "why": f"the reply has not begun within {SLOW_S:g} s"})
