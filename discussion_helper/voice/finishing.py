"""Whether the user has finished: what that is judged by is gathered here, and their pauses are learned."""

from collections.abc import Iterator

import numpy as np

from discussion_helper.audio.inbox import Played
from discussion_helper.turn.attention import AttentionEvent
from discussion_helper.turn.completeness import Completeness
from discussion_helper.turn.pauses import LONGEST_S, PauseModel
from discussion_helper.turn.turns import TurnEnded, TurnPaused, TurnResumed, TurnSegmenter, TurnStarted
from discussion_helper.voice.not_understood import ECHO_S
from discussion_helper.voice.notes import ProsodyWanted
from discussion_helper.voice.scored import Scored
from discussion_helper.voice.words import Words

__all__ = ["ASK_S", "HEARD_S", "SETTLED", "Finishing"]

ASK_S = (0.2, 0.45, 0.8)
"""After so much silence the prosody is judged, and judged again: with more silence some scores get better."""
SETTLED = 0.8
"""It is not judged again behind such a score: of 101 recorded turns no other is cut off then, the wait is 616 ms for
622 (with 0.7 to 0.9; with 0.6 it is longer), and the reply made ready meanwhile has the processor for itself (a clause
takes 100 ms, beside a judge 140)."""
HEARD_S = 8.0
"""Of a turn; what was before is not judged."""
_RATE = 16_000
_AUDIBLE = 1e-3
"""-60 dBFS: what the agent plays below it is silence."""


class Finishing:
    """For the audio thread alone. A function of what it is told, in its order.

    A pause is learned from where the user went on in the same turn, or in a turn that follows within 3 s, which means
    that the first was ended too early. What the agent said in between makes a pause no pause, unless the turn is opened
    again for it.
    """

    def __init__(
        self, segmenter: TurnSegmenter, *, language: str | None = None, pauses: PauseModel | None = None
    ) -> None:
        """`language`: of the words; "auto" or None = the one that they were read in. `pauses` is told what is learned;
        None = nothing is.
        """
        self._segmenter = segmenter
        self._completeness = None if language in (None, "auto") else Completeness(language)
        self._pauses = pauses
        self._asked_until, self._asked = -1, 0
        self._paused = False
        self._gap_from: int | None = None
        self._spoken_over_s: float | None = None
        self._agent_until_s = float("-inf")

    def played(self, item: Played) -> None:
        """The loudspeaker got a block."""
        if np.abs(item.frame.samples).max(initial=0.0) >= _AUDIBLE:
            self._agent_until_s = item.at_s + len(item.frame.samples) / item.frame.rate

    def agent_until(self, zero_s: float) -> int:
        """Up to which sample the agent is heard, with its latest echo; `zero_s` as in `heard`."""
        return round(max(0.0, self._agent_until_s + ECHO_S - zero_s) * _RATE)

    def words(self, words: Words) -> None:
        """What was read of the open turn so far."""
        judge = self._completeness or Completeness(words.language)
        self._segmenter.reads(words.voiced_s, judge.of(words.text, doubt=words.doubt) if words.text else None)

    def scored(self, scored: Scored) -> None:
        """How complete it sounds."""
        self._segmenter.sounds(scored.until, scored.score)
        if scored.until == self._asked_until and scored.score >= SETTLED:
            self._asked = len(ASK_S)

    def reopened(self) -> None:
        """The turn before the newest one was opened again for it, although the agent had begun to answer."""
        if self._spoken_over_s is not None:
            self._learn(self._spoken_over_s)
        self._spoken_over_s = None

    def heard(self, event: AttentionEvent, zero_s: float) -> None:
        """Something about a turn; `zero_s`: when sample 0 was heard, on the clock of what is played."""
        match event:
            case TurnStarted():
                self._goes_on(self._segmenter.onset, zero_s, anew=True)
            case TurnPaused():
                self._paused, self._gap_from = True, self._segmenter.voiced_until
            case TurnResumed(at):
                self._paused = False
                self._goes_on(at, zero_s, anew=False)
            case TurnEnded(limit=limit):
                self._paused = False
                self._gap_from = None if limit else self._segmenter.voiced_until

    def wanted(self) -> Iterator[ProsodyWanted]:
        """What is to be judged after this block."""
        silence_s, until = self._segmenter.silence_s, self._segmenter.voiced_until
        if not self._paused:
            return
        if until != self._asked_until:
            self._asked_until, self._asked = until, 0
        if self._asked < len(ASK_S) and silence_s >= ASK_S[self._asked]:
            self._asked += 1
            turn = self._segmenter.so_far(whole=True)
            if turn is not None:
                samples = turn.samples[-round(HEARD_S * _RATE) :]
                yield ProsodyWanted(samples, turn.end - len(samples), turn.end, until)

    def _goes_on(self, at: int, zero_s: float, *, anew: bool) -> None:
        begun, self._gap_from, self._spoken_over_s = self._gap_from, None, None
        if begun is None:
            return
        gap_s = (at - begun) / _RATE
        if self._agent_until_s <= zero_s + begun / _RATE:
            self._learn(gap_s)
        elif anew:
            self._spoken_over_s = gap_s

    def _learn(self, pause_s: float) -> None:
        if self._pauses is not None and pause_s <= LONGEST_S:
            self._pauses.learn(pause_s)
