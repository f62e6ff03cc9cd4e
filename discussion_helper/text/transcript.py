"""A thread as the transcript that every session has."""

from collections.abc import Sequence
from datetime import datetime

from discussion_helper.text.state import Turn
from discussion_helper.text.threads.base import Thread
from discussion_helper.types import Conversation, Floor, Speaker, TurnTiming, Utterance

__all__ = ["transcript_of"]


def transcript_of(thread: Thread, *, floor: Floor, timings: Sequence[TurnTiming], since: datetime) -> Conversation:
    """What user and agent said, in order; times count from `since`, what was said before it is at 0."""
    told = (turn for turn in thread.state.turns if turn.role in ("user", "assistant") and turn.text)
    return Conversation([_utterance_of(turn, since) for turn in told], floor, list(timings))


def _utterance_of(turn: Turn, since: datetime) -> Utterance:
    at_s = max(0.0, (turn.at - since).total_seconds())
    speaker: Speaker = "user" if turn.role == "user" else "agent"
    return Utterance(speaker, turn.text, at_s, at_s, interrupted=turn.interrupted, said=turn.said)
