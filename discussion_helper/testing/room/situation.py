"""The situation in a room, in words: for who has waited in vain."""

from collections.abc import Sequence

from discussion_helper.session import Session
from discussion_helper.testing.room.tape import Mark

__all__ = ["MARKS_TOLD", "ordinal", "situation"]

MARKS_TOLD = 12
"""The last ones."""


def situation(session: Session | None, marks: Sequence[Mark]) -> str:
    """How the session is doing, and what has happened so far."""
    told = [f"{ordinal(it.number)} {it.kind} at {it.at_s:.2f} s" for it in marks[-MARKS_TOLD:]]
    left = ["..."] if len(marks) > MARKS_TOLD else []
    return f"{_state(session)}; marks so far: {', '.join([*left, *told]) or 'none'}"


def _state(session: Session | None) -> str:
    if session is None:
        return "there is no session"
    if not session.started:
        return "the session was not started"
    if session.ended:
        return f"the session has ended ({session.discussion.reason or 'stopped'})"
    return f"the floor: {session.floor.value}"


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th."""
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
