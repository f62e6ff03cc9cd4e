"""The user while the agent speaks: turned down, asked about, decided."""

import math
from collections.abc import Callable

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Played
from discussion_helper.vad.base import Detector
from discussion_helper.voice.deciding import Decider, Evidence
from discussion_helper.voice.ducking import DuckRule, Gates
from discussion_helper.voice.notes import Decided, Ducked, Note, Onset, Resumed
from discussion_helper.voice.verdict import Act, Verdict
from discussion_helper.voice.words import Words

__all__ = ["ACT_WITHIN_S", "AUDIBLE_S", "HALF_DUPLEX", "LOUD_DB", "Overlap"]

AUDIBLE_S = 0.15
"""After its last sample the agent still counts as speaking: within a reply the next clause follows sooner."""
ACT_WITHIN_S = 1.0
"""A reply that was to be interrupted and that nobody stopped by then goes on, for it would never end else."""
LOUD_DB = 12.0
"""In half duplex only who is so far above the expected echo is heard over the agent."""
HALF_DUPLEX = "half duplex"
"""Why everything else that is heard over it is ignored."""
_SILENT = -120.0


class Overlap:
    """For the audio thread alone. A function of the blocks, their times and the words.

    What it turns down is the reply that was heard last; another reply makes it forget.
    """

    def __init__(self, decider: Decider, *, gate: Detector, clean_gate: Detector, rule: DuckRule | None = None) -> None:
        """`gate` says yes easily, `clean_gate` does not; both hear 10 ms at 16 kHz. `rule`: one of your own tuning."""
        self._decider = decider
        self._gates = Gates(gate, clean_gate)
        self._rule = rule or DuckRule()
        self.half_duplex = False
        """Nothing less than a loud voice is heard over the agent."""
        self._generation = -1
        self._agent_from_s = self._agent_until_s = -1e9
        self._eager = self._prompted = False
        self._level = self._over = _SILENT
        self._voiced_s = 0.0
        self._act_until_s = math.inf
        self._ducked_at_s = self._heard_at_s = 0.0
        self._wants_words = False
        self._turned_down = self._is_cut = False
        self._unheard_from_s: float | None = None

    @property
    def ducked_at_s(self) -> float:
        """When the agent was last turned down."""
        return self._ducked_at_s

    @property
    def active(self) -> bool:
        """The agent is turned down."""
        return self._turned_down

    @property
    def undecided(self) -> bool:
        """What turned it down is not known yet."""
        return self._turned_down and not self._interrupted

    @property
    def unheard_from_s(self) -> float | None:
        """Since when somebody speaks over the agent whom the neural detector does not hear; None = nobody does."""
        return self._unheard_from_s

    @property
    def eager(self) -> bool:
        """The duck rule heard somebody in the last block."""
        return self._eager

    def turn_ended(self) -> None:
        """So has the turn of somebody whom the neural detector does not hear."""
        self._unheard_from_s = None

    @property
    def decided(self) -> Verdict | None:
        """What the open voice is, or the last one."""
        return self._decider.decided

    def is_audible(self, at_s: float) -> bool:
        """The agent speaks, or would if it were not turned down; one that was interrupted does not."""
        return self.undecided or (not self._is_cut and at_s < self._agent_until_s + AUDIBLE_S)

    def played(self, item: Played) -> None:
        """The loudspeaker got a block."""
        if item.position.generation != self._generation:
            self._generation = item.position.generation
            self._turned_down = self._is_cut = False
            self._act_until_s = math.inf
            self._decider.forget()
        if item.at_s > self._agent_until_s + AUDIBLE_S:
            self._agent_from_s = item.at_s
        self._agent_until_s = item.at_s + item.frame.duration_s

    def go_half_duplex(self) -> None:
        """The agent hears itself, whatever is done about it."""
        self.half_duplex = True
        self._rule = DuckRule(over_db=LOUD_DB, left=False)

    def prompt(self) -> None:
        """Somebody nearer to the user hears a voice begin: in the next block the duck rule counts as if it did."""
        self._prompted = not self.half_duplex

    def overlapped(self, started_at_s: float, voiced_until_s: float) -> bool:
        """Whether the agent was heard at some time between the two."""
        return started_at_s < self._agent_until_s and self._agent_from_s < voiced_until_s

    def block(
        self, near: Samples, clean: Samples, *, near_db: float, expected_db: float, leaks: Callable[[], bool]
    ) -> None:
        """The next 10 ms of the microphone, as it came and without the echo.

        `leaks`: asked where somebody is heard, whether it is the agent in an echo that is still being learnt: for that
        it is not turned down.
        """
        block = self._gates.block(near, clean, near_db=near_db, expected_db=expected_db)
        heard, self._prompted = self._prompted, False
        self._eager = (self._rule.step(block) and (self.undecided or not leaks())) or heard
        if near_db > self._level:
            self._level, self._over = near_db, block.over_db

    def step(self, at_s: float, *, voiced_s: float, others_s: float, own: bool, quiet_s: float) -> list[Note]:
        """What is to be done after that block; the arguments are those of `Evidence`."""
        self._voiced_s = voiced_s
        self._heard_at_s = at_s if self._eager else self._heard_at_s
        evidence = Evidence(
            at_s=at_s,
            audible=self.is_audible(at_s),
            eager=self._eager,
            voiced_s=voiced_s,
            others_s=0.0 if self.half_duplex and not self._turned_down else others_s,
            own=own,
            quiet_s=quiet_s,
        )
        verdict = self._decider.step(evidence)
        if verdict is None and self._turned_down and at_s > self._act_until_s:
            self._turned_down = False
            self._act_until_s = math.inf
            self._decider.release()
            return [Resumed(at_s)]
        return [] if verdict is None else self._carried_out(verdict, at_s)

    def words(self, words: Words, at_s: float) -> list[Note]:
        """What was recognised of the open turn."""
        verdict = self._decider.words(words, at_s=at_s)
        if verdict is None:
            return []
        late = not self._turned_down and verdict.act is Act.INTERRUPT
        level, over = self._level, self._over
        ducked = self._carried_out(Verdict(Act.DUCK), at_s) if late else []
        if late:
            self._level, self._over = level, over  # of what was said before, for there is nothing yet since then
        return [*ducked, *self._carried_out(verdict, at_s, words)]

    def finish(self, at_s: float) -> list[Note]:
        """Nothing more is heard: there is nothing to decide."""
        if not self.undecided:
            return []
        self._turned_down = False
        self._decider.forget()
        return [Resumed(at_s)]

    def cut(self, generation: int, at_s: float) -> list[Note]:
        """That reply was stopped, and those before it: there is nothing left to be interrupted."""
        if generation < self._generation:
            return []
        self._is_cut = True
        return self.finish(at_s)

    @property
    def wants_words(self) -> bool:
        """Once after it was decided to ask."""
        wanted, self._wants_words = self._wants_words, False
        return wanted

    @property
    def _interrupted(self) -> bool:
        """It was decided to stop the reply, and there is time left for it."""
        return not math.isinf(self._act_until_s)

    def _carried_out(self, verdict: Verdict, at_s: float, words: Words | None = None) -> list[Note]:
        match verdict.act:
            case Act.ASK:
                self._wants_words = True
                return []
            case Act.DUCK:
                self._turned_down, self._ducked_at_s = True, at_s
                if not self._voiced_s:
                    self._unheard_from_s = None  # whoever it was has gone: their turn never opened
                self._act_until_s = math.inf
                self._level = self._over = _SILENT
                return [Ducked(at_s, self._generation)]
            case Act.INTERRUPT:
                self._act_until_s = at_s + ACT_WITHIN_S
                self._unheard_from_s = self._ducked_at_s if self._decider.unheard else None
                return [self._told(verdict, at_s, words), Onset(at_s, self._voiced_s)]
        self._turned_down = False
        return [Resumed(at_s), self._told(verdict, at_s, words)]

    def _told(self, verdict: Verdict, at_s: float, words: Words | None) -> Decided:
        return Decided(
            at_s=at_s,
            started_at_s=self._ducked_at_s,
            voiced_until_s=max(self._ducked_at_s, self._heard_at_s),
            what=verdict.act.value,
            why=verdict.why,
            voiced_s=self._voiced_s,
            ducked_s=at_s - self._ducked_at_s,
            level_dbfs=self._level,
            over_echo_db=self._over,
            text=words.text if words is not None else "",
            doubt=words.doubt if words is not None else 0.0,
            score=words.score if words is not None else 0.0,
        )
