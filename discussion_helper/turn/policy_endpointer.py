"""The end of a turn by what is heard, how it sounds, what it says, and how its speaker pauses."""

import math
from dataclasses import dataclass

from discussion_helper.errors import SettingError
from discussion_helper.turn.endpointing import OpenTurn, Verdict
from discussion_helper.turn.evidence import Reason
from discussion_helper.turn.pauses import PauseModel

__all__ = ["Patience", "PolicyEndpointer", "Thresholds"]

_BOTH, _SOUND, _WORDS, _OPEN = "sounds and reads complete", "sounds complete", "reads complete", "undecided"
_UNREAD = "sounds complete, nothing read"
_UNFINISHED, _BOTH_UNFINISHED, _BROKEN_OFF = (
    "sounds or reads unfinished",
    "sounds and reads unfinished",
    "sounds broken off",
)
_PAUSE, _CEILING = "longer than the speaker's pauses", "the longest wait"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What scores mean. Smart Turn's are near 0 or 1: of 101 ends of turns 80 scored 0.8 or more and 7 less than 0.3,
    of 46 pauses of 0.4 s or more 21 and 21, when asked after 0.2 s. So a low score is nearly proof, a high one is not:
    whoever has said a sentence may say another. All clips of `benchmarks.endpointing` were looked at for these numbers.
    """

    sounds_complete: float = 0.7
    sounds_unfinished: float = 0.2
    sounds_broken_off: float = 0.01
    """No end of a turn scores less, of 303 scores the lowest is 0.014; of 104 in pauses of 0.3 s or more 21 do."""
    reads_complete: float = 0.85
    """Above the 0.7 of a text with a full stop, for recognisers put one wherever the sound ends: with 0.6 the turns
    that are cut off early double, to 16.7 % of the dialogue."""
    reads_unfinished: float = 0.35
    short_s: float = 1.0
    """A turn with less voice that sounds complete is often the way into a longer one: "no, ..."; unless its text is."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a turn that is silent is waited for, as multiples of the speaker's usual wait but for the last two.

    All were chosen on the clips of `benchmarks.endpointing`: `unread` by leaving out one conversation after another
    (`benchmarks.endpointing_choice`), the others on half of them, with an eye on the other half. Raises SettingError.
    """

    complete: float = 1.0
    """When it sounds complete and was read, without a surer sign in the text than a full stop."""
    unread: float = 1.4
    """When it sounds complete and nothing was read: the text is late, or in a language that there are no words for.
    From 1.3 to 1.6 the cuts are the same: 9.5 % of the dialogue, and 16.7 % with 1.0; a text that is late costs nothing
    here, for nobody can be answered before it is there."""
    open: float = 1.6
    unfinished: float = 2.0
    both_unfinished: float = 3.0
    sure_s: float = 0.3
    """When it sounds and reads complete."""
    longest_s: float = 2.5

    def __post_init__(self) -> None:
        rising = 0.0 < self.complete <= self.unread <= self.open <= self.unfinished <= self.both_unfinished < math.inf
        if not (rising and 0.0 < self.sure_s <= self.longest_s < math.inf):
            fix = "Keep complete <= unread <= open <= unfinished <= both_unfinished, and sure_s <= longest_s."
            raise SettingError("The multiples of the usual wait do not rise.", fix=fix)


class PolicyEndpointer:
    """An `Endpointer`: a function of the turn and of the pauses learned so far.

    Whatever is unknown, a turn ends: without any evidence after the speaker's usual wait, which is `silence_s` until
    something was learned; with it sooner or later, after `longest_s` at most. `max_turn_s` limits its length.
    Raises SettingError unless 0 < early_s <= silence_s < max_turn_s.
    """

    def __init__(
        self,
        *,
        silence_s: float = 0.5,
        early_s: float = 0.05,
        max_turn_s: float = 60.0,
        patient: float = 1.0,
        pauses: PauseModel | None = None,
        patience: Patience | None = None,
        thresholds: Thresholds | None = None,
    ) -> None:
        """`patient`: every wait is so many times as long. `pauses`: learned elsewhere; None = nothing is learned."""
        if not 0.0 < early_s <= silence_s < max_turn_s < math.inf:
            what = f"The times early_s={early_s}, silence_s={silence_s} and max_turn_s={max_turn_s} do not fit."
            raise SettingError(what, fix="Keep 0 < early_s <= silence_s < max_turn_s, and that finite.")
        self._silence_s, self._early_s, self._max_turn_s = silence_s, early_s, max_turn_s
        self._patient = patient
        self._pauses = pauses
        self._patience = patience or Patience()
        self._thresholds = thresholds or Thresholds()

    @property
    def usual_s(self) -> float:
        """The wait when nothing but the silence is known."""
        learned = self._silence_s if self._pauses is None else self._pauses.wait_s
        return min(self._longest_s, learned * self._patient)

    def verdict(self, turn: OpenTurn) -> Verdict:
        """END before LIMIT, so that a turn which is over is not reported as cut."""
        if turn.silence_s >= self._early_s and turn.silence_s >= self.reason(turn).wait_s:
            return Verdict.END
        if turn.duration_s >= self._max_turn_s:
            return Verdict.LIMIT
        return Verdict.EARLY if turn.silence_s >= self._early_s else Verdict.GO_ON

    def reason(self, turn: OpenTurn) -> Reason:
        """What is waited for, by what is known now."""
        prosody = turn.evidence.prosody_at(turn.voiced_until)
        complete = turn.evidence.complete_at(turn.voiced_until)
        rule, wait_s = self._rule(prosody, complete, turn.voiced_s)
        if wait_s > self._longest_s:
            rule, wait_s = _CEILING, self._longest_s
        return Reason(rule, max(wait_s, self._early_s), _told(prosody), _told(complete), self.usual_s)

    @property
    def _longest_s(self) -> float:
        return max(self._patience.longest_s, self._silence_s) * max(1.0, self._patient)

    def _rule(self, prosody: float | None, complete: float | None, voiced_s: float) -> tuple[str, float]:
        usual_s, more, bars = self.usual_s, self._patience, self._thresholds
        reads = complete is not None and complete >= bars.reads_complete
        unfinished = complete is not None and complete <= bars.reads_unfinished
        if prosody is None:
            return (_UNFINISHED, usual_s * more.unfinished) if unfinished else (_WORDS if reads else _PAUSE, usual_s)
        if prosody < bars.sounds_unfinished and unfinished:
            return _BOTH_UNFINISHED, usual_s * more.both_unfinished
        if prosody < bars.sounds_broken_off and not reads:
            return _BROKEN_OFF, usual_s * more.both_unfinished
        if prosody < bars.sounds_unfinished or unfinished:
            return _UNFINISHED, usual_s * more.unfinished
        if prosody < bars.sounds_complete:
            return (_WORDS, usual_s) if reads else (_OPEN, usual_s * more.open)
        if reads:
            return _BOTH, min(more.sure_s * self._patient, usual_s)
        if voiced_s < bars.short_s:
            return _OPEN, usual_s * more.open
        return (_UNREAD, usual_s * more.unread) if complete is None else (_SOUND, usual_s * more.complete)


def _told(score: float | None) -> float:
    return -1.0 if score is None else score
