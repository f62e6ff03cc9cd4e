"""Scoring: a thread in which the prosody of turns is judged, beside the audio thread and the event loop."""

import logging
from collections.abc import Callable
from threading import Condition, Thread
from typing import Protocol

from discussion_helper.failures import told
from discussion_helper.turn.prosody import Prosody
from discussion_helper.voice.notes import ProsodyWanted
from discussion_helper.voice.scored import Scored

__all__ = ["JOIN_S", "Answers", "Scorer", "ScoringThread", "judged"]

JOIN_S = 0.3
"""One score takes 45 ms; a busy machine takes longer, and nothing is lost with a thread that is left to its end."""

Answers = Callable[[Scored], object]
"""May be called from any thread, and must not wait."""

_log = logging.getLogger(__name__)


class Scorer(Protocol):
    """Has turns judged, somewhere else."""

    def start(self, answers: Answers) -> None:
        """Begin; every score is given to `answers`."""
        ...

    def ask(self, wanted: ProsodyWanted) -> None:
        """Have this judged. For the audio thread: it never waits. An answer may never come."""
        ...

    def close(self) -> None:
        """End; blocks, bounded, idempotent."""
        ...


class ScoringThread:
    """A `Scorer`. One turn is judged at a time and one waits; a newer one takes its place, for the voice went on.

    A judge that fails is not asked again, which is logged once: turns end by the rest of what is known.
    """

    def __init__(self, prosody: Prosody) -> None:
        self._prosody: Prosody | None = prosody
        self._waiting: ProsodyWanted | None = None
        self._closed = False
        self._changed = Condition()
        self._thread = Thread(target=self._run, name="prosody", daemon=True)

    def start(self, answers: Answers) -> None:
        """Begin."""
        self._answers = answers
        self._thread.start()

    def ask(self, wanted: ProsodyWanted) -> None:
        """The lock is held for an assignment only."""
        with self._changed:
            self._waiting = wanted
            self._changed.notify()

    def close(self) -> None:
        """End after the score under way; takes 0.3 s at most."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(JOIN_S)

    def _run(self) -> None:
        while (wanted := self._next()) is not None:
            if self._prosody is not None:
                self._judge(self._prosody, wanted)

    def _next(self) -> ProsodyWanted | None:
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._waiting is not None)
            wanted, self._waiting = self._waiting, None
            return None if self._closed else wanted

    def _judge(self, prosody: Prosody, wanted: ProsodyWanted) -> None:
        scored = judged(prosody, wanted)
        if scored is None:
            self._prosody = None
        else:
            self._answers(scored)


def judged(prosody: Prosody, wanted: ProsodyWanted) -> Scored | None:
    """What a judge makes of it; None, which is logged, where it fails or gives what is no probability."""
    try:
        score = float(prosody.score(wanted.samples))
        if not 0.0 <= score <= 1.0:
            raise ValueError(f"{score} is no probability")
    except BaseException as error:  # whatever a model raises: nothing waits for this thread's end
        _log.warning("How turns sound is not judged any more: %s: %s", type(error).__name__, told(error))
        return None
    return Scored(wanted.until, score)
