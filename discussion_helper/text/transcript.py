"""A thread as the transcript that every session has."""

from collections import deque
from collections.abc import Collection, Iterator
from datetime import UTC, datetime

from discussion_helper.text.outputs import Phase
from discussion_helper.text.state import Turn
from discussion_helper.text.threads.base import Thread
from discussion_helper.text.watching import floor_in
from discussion_helper.types import Conversation, Floor, Speaker, TurnTiming, Utterance

__all__ = ["TIMINGS_KEPT", "Transcript"]

TIMINGS_KEPT = 1000
"""Newest timings in a transcript."""


class Transcript:
    """What a thread does not hold of it: who has the floor, when it began, how long the model took."""

    __slots__ = ("_asked_s", "_since", "_timings", "floor")

    def __init__(self) -> None:
        self._since = datetime.now(UTC)
        self._timings: deque[TurnTiming] = deque(maxlen=TIMINGS_KEPT)
        self._asked_s = 0.0
        self.floor = Floor.LISTENING

    def note(self, phase: Phase, at_s: float) -> None:
        """An event has come to this phase."""
        self.floor = floor_in(phase) or self.floor
        if phase == "submitted":
            self._asked_s = at_s
        elif phase == "streaming":
            self._timings.append(TurnTiming(think_s=at_s - self._asked_s))

    @property
    def thinking_since_s(self) -> float | None:
        """When the model was asked that has not begun to answer; None where none is."""
        return self._asked_s if self.floor is Floor.THINKING else None

    def of(self, thread: Thread, floor: Floor, untold: Collection[int] = ()) -> Conversation:
        """What user and agent said, in order; times count from its beginning, what was said before it is at 0.

        Without turns of the thread of these identities, of which watchers were not told.
        """
        return Conversation(list(self.utterances_of(thread, untold)), floor, list(self._timings))

    def utterances_of(self, thread: Thread, untold: Collection[int] = ()) -> Iterator[Utterance]:
        """The same turns, one after the other: who wants the first one need not make all."""
        turns = (turn for turn in thread.state.turns if id(turn) not in untold)
        told = (turn for turn in turns if turn.role in ("user", "assistant") and turn.text)
        return map(self._utterance_of, told)

    def _utterance_of(self, turn: Turn) -> Utterance:
        at_s = max(0.0, (turn.at - self._since).total_seconds())
        speaker: Speaker = "user" if turn.role == "user" else "agent"
        return Utterance(speaker, turn.text, at_s, at_s, interrupted=turn.interrupted, said=turn.said)
