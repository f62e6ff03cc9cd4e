"""Duck, then decide: what a voice over the agent is, once there is more of it.

The agent is turned down at the first sign and keeps its place. What follows takes some hundred milliseconds, in which
it is silent: the words of an interruption are heard without it, and it goes on from the same sample after everything
else. The rules, in this order:

1. A stop word is an interruption, whatever else is said.
2. The agent's own voice is none, nor is what holds no voice.
3. Words are one: at least `min_words` that are no listener's response, in at least `min_speech_s` of voice. What is
   still being said needs two words, or 0.8 s of voice, for a recogniser is often wrong about half a word.
4. Nothing but listener's responses is none, once the voice has paused. Nor is a sound without words.
5. Who talks on for 2 s is interrupting, unless the recogniser found no words in it, three times.
"""

import math
from dataclasses import dataclass
from enum import Enum

from discussion_helper.errors import SettingError
from discussion_helper.voice.barge_in import ROUNDING_S
from discussion_helper.voice.lexicon import Lexicon

__all__ = [
    "ASK_AT_S",
    "CALM_S",
    "FALSE_ALARMS",
    "GROWN_S",
    "LEAST_VOICE_S",
    "LONG_S",
    "LONG_SOUND_S",
    "MOST_DOUBT",
    "MOST_DOUBT_OF_STOP",
    "PAUSE_S",
    "RESPONSE",
    "SOUND_S",
    "SURE_S",
    "SUSTAINED_S",
    "WITHIN_S",
    "Act",
    "Decider",
    "Evidence",
    "Verdict",
    "Words",
]

SOUND_S = 0.35
"""After so long without a voice it was a sound. The neural detector has 38 to 72 ms to hear a voice, and a voice that
stops for a consonant is back in 0.15 s."""
ASK_AT_S = (0.4, 0.9, 1.4)
"""Seconds of voice after which the recogniser is asked, while it goes on: one word, three, five."""
RESPONSE = "a listener's response"
"""Why "mm-hm" is ignored."""
SUSTAINED_S = 2.0
"""Nobody says "mm-hm" for so long."""
SURE_S = 0.8
PAUSE_S = 0.15
LONG_SOUND_S = 0.8
"""The same for one that goes on: a talker who is soft, or whom the echo covers, is a voice to the detector by then."""
LEAST_VOICE_S = 0.1
"""Less is no word; such a turn is not recognised."""
MOST_DOUBT, MOST_DOUBT_OF_STOP = 1.1, 1.3
"""Of words that cut the agent off. Measured with tiny.en: of 18 short sounds of meetings (mm-hm, laughs, coughs, yeah)
seven gave words that cut, such as "No." for a cough (1.56), "Okay, man." for a laugh (1.79), "No way for it." for a hum
(1.25) and "just wait" (1.17); one is below, in which somebody else does speak. Eleven commands of a word or two, spoken
by Piper at -28 dBFS, are from 0.4 to 1.08 ("Stop." 0.9, "Wait." 1.1). Of 15 people cut off after 0.9 s four are above.
Who says more than a second is believed whatever the doubt."""
LONG_S = 1.4
GROWN_S = 0.3
"""Of a voice that was ignored, and then goes on: more than a second "mm-hm"."""
CALM_S = 0.3
"""What made a false alarm must have been away for so long before it can make the next."""
FALSE_ALARMS, WITHIN_S = 3, 10.0
"""After so many of them in that time only a voice for which the neural detector stands turns the agent down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was heard up to now. Times in seconds, `at_s` on any clock that runs evenly."""

    at_s: float
    audible: bool
    """The agent is heard, or would be if it were not turned down."""
    eager: bool
    """The duck rule says yes."""
    voiced_s: float
    """Of voice in the open turn, whoever's; 0.0 when none is open."""
    others_s: float
    """Of it, what is not the agent's own."""
    own: bool
    """So far it is the agent's own voice."""
    quiet_s: float
    """Since the last voice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """What a recogniser made of the open turn so far; `final`: the voice has paused behind it."""

    text: str
    final: bool = False
    voiced_s: float = 0.0
    echo: bool = False
    """They are the agent's own words."""
    refused: str = ""
    """Why there are none."""
    doubt: float = 0.0
    """The recogniser's: probability of no speech, minus the average logarithm of a token's probability."""


class Act(Enum):
    """What is to be done."""

    DUCK = "duck"
    ASK = "ask"
    """Have the open turn recognised as it stands."""
    INTERRUPT = "interruption"
    RESUME = "ignored"


@dataclass(frozen=True, slots=True)
class Verdict:
    """One of the acts, and why."""

    act: Act
    why: str = ""


class Decider:
    """Follows what is heard over the agent. A pure function of what it is given: a recording is decided alike."""

    def __init__(
        self,
        lexicon: Lexicon,
        *,
        min_speech_s: float = 0.128,
        min_words: int = 1,
        resume_after_s: float = 1.5,
    ) -> None:
        """`resume_after_s`: so long after the last voice the words are waited for.

        `min_words` 0: enough voice decides, and nobody is asked for words. Raises SettingError unless `min_speech_s` is
        positive.
        """
        if not min_speech_s > 0.0:
            raise SettingError(f"min_speech_s: {min_speech_s!r} is no length.", fix="Use seconds above 0.")
        self._lexicon = lexicon
        self._min_speech_s = min_speech_s
        self._min_words = min_words
        self._resume_after_s = resume_after_s
        self.ducked_at_s: float | None = None
        """Since when the agent is turned down; None = it is not."""
        self.decided: Verdict | None = None
        """About the voice that is open, or the last one."""
        self._asked = self._denied = 0
        self._voiced_s = self._others_s = self._ignored_s = 0.0
        self._noisy_s = -1e9
        self._alarms: list[float] = []

    def step(self, evidence: Evidence) -> Verdict | None:
        """The next 10 ms."""
        self._follow_turn(evidence)
        if self.ducked_at_s is not None:
            return self._decide(evidence, evidence.at_s - self.ducked_at_s)
        if evidence.audible and self._is_alarming(evidence):
            self.ducked_at_s, self.decided = evidence.at_s, None
            self._asked = self._denied = 0
            self._others_s = evidence.others_s
            return Verdict(Act.DUCK)
        return None

    def words(self, words: Words, *, at_s: float) -> Verdict | None:
        """What was recognised of the open turn."""
        if self.ducked_at_s is None or self.decided is not None:
            return None
        if not words.echo and self._stops(words):
            return self._conclude(Act.INTERRUPT, "a stop word", at_s)
        if words.echo or not words.text or self._lexicon.is_backchannel(words.text):
            return self._no_turn(words, at_s)
        if words.doubt > MOST_DOUBT and words.voiced_s < LONG_S:
            return self._conclude(Act.RESUME, "too little to be sure of the words", at_s) if words.final else None
        counted = self._lexicon.count(words.text)
        sure = words.final or counted >= 2 or words.voiced_s >= SURE_S
        if counted >= self._min_words and sure and words.voiced_s > self._min_speech_s - ROUNDING_S:
            return self._conclude(Act.INTERRUPT, "words", at_s)
        return self._conclude(Act.RESUME, "too few words", at_s) if words.final else None

    def _stops(self, words: Words) -> bool:
        alone = self._lexicon.only_stops(words.text)
        return self._lexicon.stops(words.text) and words.doubt <= (MOST_DOUBT_OF_STOP if alone else MOST_DOUBT)

    def _no_turn(self, words: Words, at_s: float) -> Verdict | None:
        self._denied += 1
        if not words.final:
            return None
        why = "the agent's own words" if words.echo else RESPONSE if words.text else words.refused
        return self._conclude(Act.RESUME, why or "no words", at_s)

    def forget(self) -> None:
        """The reply is over, or another has begun: nothing is turned down."""
        self.ducked_at_s = self.decided = None
        self._ignored_s = 0.0

    # -- when it is turned down

    def _is_alarming(self, evidence: Evidence) -> bool:
        voice = evidence.others_s - self._ignored_s > (GROWN_S if self._ignored_s else self._min_speech_s) - ROUNDING_S
        return voice or self._is_eager(evidence)

    def _is_eager(self, evidence: Evidence) -> bool:
        """What is heard all the time alarms once."""
        calm_s = evidence.at_s - self._noisy_s
        if evidence.eager:
            self._noisy_s = evidence.at_s
        self._alarms = [at_s for at_s in self._alarms if evidence.at_s - at_s < WITHIN_S]
        return evidence.eager and calm_s > CALM_S and len(self._alarms) < FALSE_ALARMS

    def _follow_turn(self, evidence: Evidence) -> None:
        """Another turn has begun where there is less voice than before, or some after none."""
        if evidence.voiced_s < self._voiced_s or evidence.voiced_s > 0.0 == self._voiced_s:
            self._ignored_s = 0.0
            self.decided = self.decided if self.ducked_at_s is not None else None
        self._voiced_s = evidence.voiced_s
        if evidence.eager and self.ducked_at_s is not None:
            self._noisy_s = evidence.at_s

    # -- what it is

    def _decide(self, evidence: Evidence, since_s: float) -> Verdict | None:
        if self.decided is not None:
            return None
        self._others_s = max(self._others_s, evidence.others_s)  # also when the turn has ended before it is decided
        if self._min_words == 0 and evidence.others_s > self._min_speech_s - ROUNDING_S:
            return self._conclude(Act.INTERRUPT, "voice", evidence.at_s)
        # Turned down, it makes no more echo: what goes on is somebody else.
        if evidence.own and since_s >= (SOUND_S if evidence.quiet_s >= PAUSE_S else LONG_SOUND_S):
            return self._conclude(Act.RESUME, "the agent's own voice", evidence.at_s)
        if not evidence.own and self._others_s < LEAST_VOICE_S and self._is_over(evidence.at_s, since_s):
            return self._conclude(Act.RESUME, "no voice", evidence.at_s)
        if evidence.quiet_s >= self._resume_after_s and since_s >= self._resume_after_s:
            return self._conclude(Act.RESUME, "no words in time", evidence.at_s)
        return self._going_on(evidence)

    def _is_over(self, at_s: float, since_s: float) -> bool:
        """A sound; the neural detector hears some voices late that the eager gate hears all the time."""
        return since_s >= (SOUND_S if at_s - self._noisy_s > PAUSE_S else LONG_SOUND_S)

    def _going_on(self, evidence: Evidence) -> Verdict | None:
        if evidence.others_s - self._ignored_s >= SUSTAINED_S:
            if self._denied >= len(ASK_AT_S):
                return self._dismiss(evidence.at_s)
            return self._conclude(Act.INTERRUPT, "sustained speech", evidence.at_s)
        due = self._asked < len(ASK_AT_S) and evidence.others_s - self._ignored_s >= ASK_AT_S[self._asked] - ROUNDING_S
        if not due:
            return None
        self._asked += 1
        return Verdict(Act.ASK)

    def _dismiss(self, at_s: float) -> Verdict:
        """For the rest of the turn: it would turn the agent down again and again."""
        verdict = self._conclude(Act.RESUME, "no words in it", at_s)
        self._ignored_s = math.inf
        return verdict

    def _conclude(self, act: Act, why: str, at_s: float) -> Verdict:
        self.decided = Verdict(act, why)
        if act is Act.RESUME:
            self.ducked_at_s = None
            self._ignored_s = self._voiced_s
            self._alarms.append(at_s)
        return self.decided
