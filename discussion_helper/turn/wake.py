"""A wake word: nothing is heard until somebody says it, and for a while after each reply."""

import math
from collections.abc import Iterator

import numpy as np

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.resample import Resampler
from discussion_helper.turn.attention import Attending, AttentionEvent
from discussion_helper.turn.gate import TurnGate
from discussion_helper.turn.turns import TurnEnded, TurnEvent, TurnSegmenter
from discussion_helper.vad.base import Detector

__all__ = [
    "AUDIBLE_S",
    "FOLLOWS_S",
    "GLUED_S",
    "OWN_S",
    "OWN_SCORE",
    "PAUSE_S",
    "REFRACTORY_S",
    "SEAM_S",
    "TAIL_S",
    "WAIT_S",
    "WORD_S",
    "WakeWord",
]

WAIT_S = 5.0
"""After the word, for somebody to begin."""
REFRACTORY_S = 2.0
"""After the word it is not heard again: one word is heard in up to ten steps."""
SEAM_S, PAUSE_S = 0.45, 0.1
"""The turn begins in the first pause of 0.1 s that begins in the 0.45 s before the word was certain, for that is 40 to
330 ms after its last sound."""
GLUED_S = 0.3
"""Without such a pause, so long before the word was certain: of the word a vowel may be left."""
WORD_S = 1.5
"""A turn whose voice began longer ago than the word lasts does not begin with it: there it is a word among others."""
AUDIBLE_S = 0.15
"""After its last sample the agent still counts as speaking."""
FOLLOWS_S = 0.6
"""After its last sample the reply is over: within it the next clause comes sooner. What was said since is not lost."""
OWN_SCORE = 0.2
"""In what the agent says, from which on it has said the word."""
TAIL_S = 0.4
"""Of silence behind what the agent has said so far, for its word to be certain: that it is up to 330 ms after it."""
OWN_S = 1.2
"""So long it may take until the microphone has heard that: an echo of 0.4 s, late stamps, and the detector's steps."""


class WakeWord:
    """An `Attention` for a word.

    Awake after the word, also over the agent, which it interrupts: the turn is what follows the word. Awake after each
    reply for `follow_up_s`, as long as nobody but the user speaks. Then asleep.
    """

    def __init__(
        self,
        segmenter: TurnSegmenter,
        detector: Detector,
        own: Detector,
        *,
        word: str,
        threshold: float = 0.5,
        follow_up_s: float = 6.0,
    ) -> None:
        """`detector` hears the microphone, `own` what the agent says; each is nobody else's."""
        self._gate = TurnGate(segmenter)
        self._detector, self._own, self._rate = detector, own, detector.rate
        self._word, self._threshold, self._follow_up_s = word, threshold, follow_up_s
        self._pending: Samples = np.zeros(0, np.float32)
        self._own_pending: Samples = np.zeros(0, np.float32)
        self._resampler: Resampler | None = None
        self._agent_until_s = self._own_until_s = self._deaf_until_s = -math.inf
        self._awake_until_s = -math.inf
        self._settled_s = math.inf
        self._spoke = self._called = self._is_told = self._own_goes_on = False

    def press(self, at_s: float) -> None:
        """There is no key."""

    def release(self, at_s: float) -> None:
        """There is no key."""

    def played(self, frame: Frame, at_s: float) -> None:
        """Listen to it as well: a word that the agent says wakes nobody."""
        self._spoke = True
        self._agent_until_s = at_s + frame.duration_s
        if self._resampler is None or self._resampler.source_rate != frame.rate:
            self._resampler = Resampler(frame.rate, self._own.rate)
        self._own_goes_on = True
        self._hear_own(self._resampler.process(frame.samples))

    def _hear_own(self, samples: Samples) -> None:
        self._own_pending = np.concatenate((self._own_pending, samples))
        while len(self._own_pending) >= self._own.frame_samples:
            step, self._own_pending = np.split(self._own_pending, [self._own.frame_samples])
            if self._own.probability(step) >= OWN_SCORE:
                self._own_until_s = self._agent_until_s + OWN_S

    def feed(self, frame: Frame, now_s: float) -> list[AttentionEvent]:
        """Turns while awake, and when that begins and ends."""
        events: list[AttentionEvent] = [*self._gate.feed(frame)]
        if not self._is_told:
            self._is_told = True
            events.append(Attending("asleep", self._word))
        if any(isinstance(event, TurnEnded) for event in events):
            self._called = False
            self._awake_until_s = now_s + self._follow_up_s
        score = self._scored(frame.samples)
        if score >= self._threshold and now_s >= self._deaf_until_s:
            return [*events, *self._wake(score, frame.end, now_s)]
        if now_s >= self._settled_s:
            return [*events, *self._seam(frame.end)]
        return [*events, *self._follow(frame.end, now_s)]

    def finish(self) -> list[AttentionEvent]:
        """Asleep: the microphone was closed."""
        was_open = self._gate.is_open
        self._settled_s = math.inf
        return [*self._gate.shut(), Attending("asleep", "the microphone was closed")] if was_open else []

    def _scored(self, samples: Samples) -> float:
        """The detector's last word, where a step was completed; else 0.0."""
        self._pending = np.concatenate((self._pending, samples))
        score = 0.0
        while len(self._pending) >= self._detector.frame_samples:
            step, self._pending = np.split(self._pending, [self._detector.frame_samples])
            score = self._detector.probability(step)
        return score

    def _wake(self, score: float, now: int, now_s: float) -> list[AttentionEvent]:
        self._deaf_until_s = now_s + REFRACTORY_S
        if self._own_goes_on:  # where a reply ends with the word, nothing comes behind it that would make it certain
            self._own_goes_on = False
            self._hear_own(np.zeros(round(TAIL_S * self._own.rate), np.float32))
        if now_s <= self._own_until_s:
            return [Attending("refused", "the agent's own voice", score)]
        if self._gate.voiced_for(now) > WORD_S * self._rate:
            return []
        self._called = True
        self._awake_until_s = now_s + WAIT_S
        self._settled_s = now_s + PAUSE_S
        return [*self._gate.open(now, held=True), Attending("awake", self._word, score, calls=True)]

    def _seam(self, now: int) -> list[TurnEvent]:
        """Begin the turn where the word ends, now that what follows it is there."""
        self._settled_s = math.inf
        pause = self._gate.pause(SEAM_S + PAUSE_S, least_s=PAUSE_S)
        glued = now - round((PAUSE_S + GLUED_S) * self._rate)
        return self._gate.open(glued if pause is None else pause, held=True)

    def _follow(self, now: int, now_s: float) -> Iterator[AttentionEvent]:
        """The window opens behind the agent, and shuts before it and after a while, but for a turn that goes on."""
        is_over = now_s >= self._agent_until_s + FOLLOWS_S
        if self._spoke and is_over and self._follow_up_s:
            self._spoke = False
            self._awake_until_s = max(self._awake_until_s, now_s + self._follow_up_s)
            if not self._gate.is_open:
                since_s = now_s - self._agent_until_s - AUDIBLE_S
                yield from self._gate.open(now - round(since_s * self._rate), held=False)
                yield Attending("awake", "follow-up")
        elif self._gate.is_open and not self._gate.voiced_s:
            over_agent = now_s < self._agent_until_s + AUDIBLE_S and not self._called
            if over_agent or now_s >= self._awake_until_s:
                self._called = False
                yield from self._gate.shut()
                yield Attending("asleep", "the agent speaks" if over_agent else self._word)
