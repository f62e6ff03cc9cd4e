"""Duck, then decide: what a voice over the agent is, once there is more of it.

The agent is turned down at the first sign and keeps its place. What follows takes some hundred milliseconds, in which
it is silent: the words of an interruption are heard without it, and it goes on from the same sample after everything
else. The rules, in this order:

1. A stop word is an interruption, whatever else is said.
2. The agent's own voice is none, nor is what holds no voice. A voice of which most was heard before the agent was
   turned down, and that stopped when it was, was the agent's, whatever it sounded like.
3. Words are one: at least `min_words` that are no listener's response, in at least `min_speech_s` of voice. Of a voice
   that goes on there must be 0.8 s, for a recogniser is often wrong about half a word.
4. Nothing but listener's responses is none, once the voice has paused for 0.3 s: the recogniser begins sooner, and who
   goes on may say more. Nor is a sound without words, nor one with words of which the recogniser is not sure
   (`doubt.py`).
5. Who talks on for 2 s is interrupting, unless the recogniser was asked three times and there were no such words. Then
   the agent goes on, and the recogniser is asked again each time there is half as much more: words still interrupt.
   A voice that has paused by then is judged by all of its words.
6. A voice that the eager gate hears all the time and the neural detector does not, a whisper, is asked about once: only
   two words of which the recogniser is very sure are an interruption.
"""

import math

from discussion_helper.bounds import check_number, check_whole
from discussion_helper.policy import LEAST_SPEECH_S, MOST_RESUME_S, MOST_SPEECH_S, MOST_WORDS
from discussion_helper.voice.alarms import PAUSE_S, Alarms
from discussion_helper.voice.barge_in import ROUNDING_S
from discussion_helper.voice.evidence import Evidence
from discussion_helper.voice.judging import Judge
from discussion_helper.voice.lexicon import Lexicon
from discussion_helper.voice.verdict import LATE, RESPONSE, STOPPED, WORDLESS, Act, Verdict
from discussion_helper.voice.words import Words

__all__ = [
    "ASK_AGAIN",
    "ASK_AT_S",
    "GROWN_S",
    "HEARD_SHARE",
    "LEAST_VOICE_S",
    "LONGEST_DOWN_S",
    "LONG_SOUND_S",
    "MOST_DOWN_S",
    "RESPONSE",
    "SETTLED_S",
    "SOUND_S",
    "SUSTAINED_S",
    "UNANSWERED_S",
    "Act",
    "Decider",
    "Evidence",
    "Verdict",
    "Words",
]

SOUND_S = 0.35
"""After so long without a voice it was a sound. The neural detector has 38 to 72 ms to hear a voice, and a voice that
stops for a consonant is back in 0.15 s."""
LONG_SOUND_S = 0.8
"""The same for one that goes on: a talker who is soft, or whom the echo covers, is a voice to the detector by then."""
HEARD_SHARE = 0.6
"""Of such a sound, in which the eager gate must have heard a voice for the recogniser to be asked about it."""
UNANSWERED_S = 0.8
"""So long the answer to that is waited for."""
ASK_AT_S = (0.4, 0.9, 1.4)
"""Seconds of voice after which the recogniser is asked, while it goes on: one word, three, five."""
MOST_DOWN_S = 1.9
"""So long it is turned down for a voice that goes on, if the recogniser was asked twice and had nothing that is even
likely, though the third answer may come afterwards; or three times, and had what is likely and no more."""
LONGEST_DOWN_S = 2.0
"""So long at most for one that has paused, and of which three answers had nothing: its last words may be under way."""
ASK_AGAIN = 1.5
"""Times as much voice as when it was found to hold no words: then the recogniser is asked once more, and so on."""
SETTLED_S = 0.3
"""Of a pause in which a voice is dismissed. Between two words of one phrase there are up to 0.25 s ("four ... queen of
clubs", "five ... five"), and the recogniser has read the first of them 0.15 s after it, often wrongly."""
SUSTAINED_S = 2.0
"""Nobody says "mm-hm" for so long."""
LEAST_VOICE_S = 0.1
"""Less is no word; such a turn is not recognised."""
GROWN_S = 0.3
"""Of a voice that was ignored, and then goes on: more than a second "mm-hm"."""


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

        `min_words` 0: enough voice decides, and nobody is asked for words. All three are in the bounds of a policy's.
        Raises SettingError.
        """
        check_number("min_speech_s", min_speech_s, LEAST_SPEECH_S, MOST_SPEECH_S, unit="seconds")
        check_whole("min_words", min_words, 0, MOST_WORDS)
        check_number("resume_after_s", resume_after_s, 0.0, MOST_RESUME_S, unit="seconds")
        self._judge = Judge(lexicon, min_speech_s=min_speech_s, min_words=min_words)
        self._min_speech_s = min_speech_s
        self._min_words = min_words
        self._resume_after_s = resume_after_s
        self.ducked_at_s: float | None = None
        """Since when the agent is turned down; None = it is not."""
        self.decided: Verdict | None = None
        """About the voice that is open, or the last one."""
        self.unheard = False
        """It is a voice that the neural detector does not hear."""
        self._asked = 0
        self._unheard_at_s: float | None = None
        self._unsettled: Verdict | None = None
        """Why it is none, if the pause lasts in which that was read."""
        self._released = self._opens = self._dismissed = False
        self._voiced_s = self._others_s = self._ignored_s = self._quiet_s = 0.0
        self._beside_s = self._alone_s = self._grown_s = 0.0
        self._ask_at_s = math.inf
        self._alarms = Alarms()

    def step(self, evidence: Evidence) -> Verdict | None:
        """The next 10 ms."""
        self._follow_turn(evidence)
        self._quiet_s = evidence.quiet_s
        if self.ducked_at_s is not None:
            return self._decide(evidence, evidence.at_s - self.ducked_at_s)
        if self._released:
            return None
        if evidence.audible and self._is_alarming(evidence):
            self._begin(evidence)
            return Verdict(Act.DUCK)
        return self._listening_on(evidence) if evidence.audible and math.isinf(self._ignored_s) else None

    def words(self, words: Words, *, at_s: float) -> Verdict | None:
        """What was recognised of the open turn, or of a voice that is none to the neural detector."""
        if self.ducked_at_s is None and self._dismissed:
            return self._late_words(words, at_s)
        if self.ducked_at_s is None or self.decided is not None:
            return None
        unheard = self._unheard_at_s is not None and self._others_s < LEAST_VOICE_S
        verdict = self._judge.judged(words, unheard=unheard)
        if unheard:
            self.unheard = self._opens = verdict is not None and verdict.act is Act.INTERRUPT
            verdict = verdict if self.unheard else Verdict(Act.RESUME, "no voice")
        if verdict is None:
            return self._dismiss(at_s) if self._is_wordless(at_s) else None
        if words.final and verdict.why != STOPPED and self._stopped_with_it():
            verdict = Verdict(Act.RESUME, "the agent's own voice")
        if verdict.act is Act.RESUME and self._quiet_s < SETTLED_S:
            self._unsettled = verdict
            return None
        return self._conclude(verdict.act, verdict.why, at_s)

    def release(self) -> None:
        """Nothing is turned down any more. What was decided holds until its turn ends, and turns nothing down again."""
        self.ducked_at_s = None
        self._released = self._voiced_s > 0.0

    def forget(self) -> None:
        """The reply is over, or another has begun, which may be turned down by who speaks still."""
        self.release()
        self._released = self._dismissed = False
        self._ignored_s = 0.0

    # -- when it is turned down

    def _begin(self, evidence: Evidence) -> None:
        self.ducked_at_s, self.decided, self._unheard_at_s, self._unsettled = evidence.at_s, None, None, None
        self.unheard = self._opens = False
        self._asked = 0
        self._judge.reset()
        self._alarms.begin()
        self._others_s = evidence.others_s
        self._beside_s, self._alone_s = self._beside_s - self._grown_s, self._grown_s

    def _is_alarming(self, evidence: Evidence) -> bool:
        voice = evidence.others_s - self._ignored_s > (GROWN_S if self._ignored_s else self._min_speech_s) - ROUNDING_S
        raised = self._alarms.is_raised(evidence.at_s, eager=evidence.eager)
        return (voice or raised) and not math.isinf(self._ignored_s)

    def _follow_turn(self, evidence: Evidence) -> None:
        """Another turn has begun where there is less voice than before, or some after none: it is not decided yet."""
        self._grown_s = max(0.0, evidence.voiced_s - self._voiced_s)
        if evidence.voiced_s < self._voiced_s or evidence.voiced_s > 0.0 == self._voiced_s:
            self._ignored_s = 0.0
            self._released = False
            if evidence.voiced_s > 0.0:
                self._begin_turn()
        self._voiced_s = evidence.voiced_s
        if self.ducked_at_s is not None:
            self._alone_s += self._grown_s
        else:
            self._grown_s *= evidence.audible
            self._beside_s += self._grown_s
        if self.ducked_at_s is not None:
            self._alarms.follow(evidence.at_s, eager=evidence.eager)

    def _begin_turn(self) -> None:
        """A voice that was decided about is another one's, but for a whisper, whose turn opens behind that."""
        if self.decided is not None and not self._opens:
            self.ducked_at_s = self.decided = None
        self._opens = self._dismissed = False
        self._beside_s = self._alone_s = 0.0

    def _stopped_with_it(self) -> bool:
        """There is no more voice since the agent was turned down than its echo takes to end, and there was more before.

        Of a voice that was ignored before, all that was heard then was beside the agent.
        """
        return not self._ignored_s and self._alone_s < SOUND_S and self._beside_s > self._alone_s + LEAST_VOICE_S

    def _decide(self, evidence: Evidence, since_s: float) -> Verdict | None:
        if self.decided is not None:
            return None
        if self._grown_s:
            self._unsettled = None
        if self._unsettled is not None and (evidence.quiet_s >= SETTLED_S or since_s >= MOST_DOWN_S):
            return self._conclude(self._unsettled.act, self._unsettled.why, evidence.at_s)
        self._others_s = max(self._others_s, evidence.others_s)  # also when the turn has ended before it is decided
        if self._min_words == 0 and evidence.others_s > self._min_speech_s - ROUNDING_S:
            return self._conclude(Act.INTERRUPT, "voice", evidence.at_s)
        # Turned down, it makes no more echo: what goes on is somebody else.
        if evidence.own and since_s >= (SOUND_S if evidence.quiet_s >= PAUSE_S else LONG_SOUND_S):
            return self._conclude(Act.RESUME, "the agent's own voice", evidence.at_s)
        if not evidence.own and self._others_s < LEAST_VOICE_S:
            return self._without_voice(evidence.at_s, since_s)
        if evidence.quiet_s >= self._resume_after_s and since_s >= self._resume_after_s:
            # The recogniser is late, and its words count all the same; who waits for less than a pause wants none.
            self._dismissed = self._resume_after_s >= SETTLED_S
            return self._conclude(Act.RESUME, LATE, evidence.at_s)
        return self._dismiss(evidence.at_s) if self._is_wordless(evidence.at_s) else self._going_on(evidence)

    def _without_voice(self, at_s: float, since_s: float) -> Verdict | None:
        """A sound; the neural detector hears some voices late, or never, that the eager gate hears all the time."""
        if self._unheard_at_s is not None:
            late = at_s - self._unheard_at_s >= UNANSWERED_S
            return self._conclude(Act.RESUME, "no voice", at_s) if late else None
        goes_on = self._alarms.goes_on(at_s)
        if since_s < (LONG_SOUND_S if goes_on else SOUND_S):
            return None
        if goes_on and self._min_words > 0 and self._alarms.heard >= HEARD_SHARE * self._alarms.steps:
            self._unheard_at_s = at_s
            return Verdict(Act.ASK)
        return self._conclude(Act.RESUME, "no voice", at_s)

    def _going_on(self, evidence: Evidence) -> Verdict | None:
        if evidence.others_s - self._ignored_s >= SUSTAINED_S:
            return self._conclude(Act.INTERRUPT, "sustained speech", evidence.at_s)
        due = self._asked < len(ASK_AT_S) and evidence.others_s - self._ignored_s >= ASK_AT_S[self._asked] - ROUNDING_S
        if not due:
            return None
        self._asked += 1
        return Verdict(Act.ASK)

    def _is_wordless(self, at_s: float) -> bool:
        """A voice that goes on, of which no answer had words that are believed, also where the third one is late.

        Words that are nearly believed are waited for: people pause, and then there is an answer about all of it.
        """
        if self.ducked_at_s is None:
            return False
        since_s, denied = at_s - self.ducked_at_s, self._judge.denied
        if self._quiet_s >= PAUSE_S:
            return denied >= len(ASK_AT_S) and since_s >= LONGEST_DOWN_S
        if self._judge.is_likely:
            return denied >= len(ASK_AT_S) and since_s >= MOST_DOWN_S
        return denied >= len(ASK_AT_S) - (since_s >= MOST_DOWN_S)

    def _dismiss(self, at_s: float) -> Verdict:
        """For the rest of the turn it turns the agent down no more: it would again and again."""
        verdict = self._conclude(Act.RESUME, WORDLESS, at_s)
        self._ignored_s, self._dismissed = math.inf, True
        self._ask_at_s = ASK_AGAIN * self._others_s
        return verdict

    def _listening_on(self, evidence: Evidence) -> Verdict | None:
        if evidence.others_s < self._ask_at_s:
            return None
        self._ask_at_s *= ASK_AGAIN
        return Verdict(Act.ASK)

    def _late_words(self, words: Words, at_s: float) -> Verdict | None:
        """Also the last ones, which may come when the turn is over."""
        self._dismissed = not words.final
        verdict = self._judge.judged(words)
        if verdict is None or verdict.act is not Act.INTERRUPT:
            return None
        self.ducked_at_s = at_s
        return self._conclude(verdict.act, verdict.why, at_s)

    def _conclude(self, act: Act, why: str, at_s: float) -> Verdict:
        self.decided = Verdict(act, why)
        if act is Act.RESUME:
            self.ducked_at_s = None
            self._ignored_s = self._voiced_s
            self._alarms.was_false(at_s)
        return self.decided
