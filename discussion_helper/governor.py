"""The governor: what a machine that is late does without, and when it has it back. Measurements in, changes out."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

__all__ = ["SHEDS", "STAGES", "Budgets", "Change", "Governor", "Hysteresis", "Sheds"]

SHEDS = ("interim", "speculation", "second_opinion", "recogniser")
"""In the order in which they go: the words of a turn that goes on, replies begun ahead of time, the larger
recogniser that is asked where the first is unsure, the larger one that reads everything. They come back in the opposite
order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """How late each stage may be, in seconds; infinity = as late as it likes."""

    detectors: float = 0.05
    """A block of the microphone, from the device to the end of the audio thread's work. 10 ms are usual, and with 0.1 s
    an interruption is noticed late."""
    interim: float = 0.7
    """One reading of a turn that goes on or pauses. Beyond the 0.7 s of silence that end a turn its text is late."""
    final: float = 0.5
    """From the decision that a turn is over to its text."""
    first_token: float = 2.0
    """From the text to the reply's first clause, of a model on this machine."""
    synthesis: float = 0.1
    """How long the loudspeaker waits for a clause that was to be ready: a pause that can be heard."""
    loop: float = 0.1
    """From the audio thread to the event loop."""
    playback: float = 0.0
    """Samples that came too late to be played."""

    def of(self, stage: str) -> float:
        """Of one stage. Raises KeyError for none of them."""
        if stage not in STAGES:
            raise KeyError(stage)
        budget: float = getattr(self, stage)
        return budget


STAGES = tuple(each.name for each in fields(Budgets))
"""What is measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hysteresis:
    """When something goes, and when it comes back."""

    strikes: int = 2
    """So many measurements of one stage in a row must be late: one alone may be a moment's."""
    settle_s: float = 2.0
    """So long what was shed last is given to help, before the next goes."""
    calm_s: float = 20.0
    """So long nothing may be late, before something comes back; twice as long each time that it had to go again."""
    calm_most_s: float = 320.0
    calm_share: float = 0.7
    """Of its budget: what is later is not calm."""


@dataclass(frozen=True, slots=True)
class Change:
    """`what` is shed, or restored, because `why`, a stage, was `late_s` late, of `budget_s`."""

    what: str
    restored: bool
    why: str
    late_s: float
    budget_s: float

    def as_dict(self) -> dict[str, Any]:
        """As it goes on the wire; seconds with 3 decimals."""
        state = "restored" if self.restored else "shed"
        late = {"late_s": round(self.late_s, 3), "budget_s": round(self.budget_s, 3)}
        return {"what": self.what, "state": state, "why": self.why, **late}


@dataclass(slots=True)
class Sheds:
    """What a session does without now, and how often something had to go."""

    now: list[str] = field(default_factory=list)
    times: int = 0

    def take(self, change: Change) -> None:
        """Follow a change."""
        if change.restored:
            self.now.remove(change.what)
        else:
            self.now.append(change.what)
            self.times += 1

    def as_dict(self) -> dict[str, Any]:
        """As it goes on the wire."""
        return {"now": list(self.now), "times": self.times}


class Governor:
    """At most one change for a measurement. Times are seconds of one clock that never goes back."""

    def __init__(
        self,
        sheds: Sequence[str] = SHEDS,
        *,
        budgets: Budgets | None = None,
        hysteresis: Hysteresis | None = None,
    ) -> None:
        """`sheds`: what can be done without here, in the order in which it goes."""
        self._sheds = tuple(sheds)
        self._budgets = budgets or Budgets()
        self._rule = hysteresis or Hysteresis()
        self._reasons: list[str] = []
        """The stage for which each of the first sheds went."""
        self._strikes = dict.fromkeys(STAGES, 0)
        self._calm = dict.fromkeys(STAGES, True)
        self._late_at_s = self._changed_at_s = float("-inf")
        self._calm_s = dict.fromkeys(self._sheds, self._rule.calm_s)

    @property
    def shed(self) -> tuple[str, ...]:
        """What is done without now."""
        return self._sheds[: len(self._reasons)]

    def measure(self, stage: str, late_s: float, at_s: float) -> Change | None:
        """A stage was so late; what changes. Raises KeyError for a stage that is none."""
        budget_s = self._budgets.of(stage)
        late = late_s > budget_s
        self._strikes[stage] = self._strikes[stage] + 1 if late else 0
        self._calm[stage] = late_s <= self._rule.calm_share * budget_s
        if not self._calm[stage]:
            self._late_at_s = at_s
        if late and self._strikes[stage] >= self._rule.strikes:
            return self._shed_next(stage, late_s, at_s)
        return self._restore_last(stage, late_s, at_s) if self._calm[stage] else None

    def _shed_next(self, stage: str, late_s: float, at_s: float) -> Change | None:
        if len(self._reasons) == len(self._sheds) or at_s < self._changed_at_s + self._rule.settle_s:
            return None
        what = self._sheds[len(self._reasons)]
        self._reasons.append(stage)
        self._changed_at_s = at_s
        return Change(what, False, stage, late_s, self._budgets.of(stage))

    def _restore_last(self, stage: str, late_s: float, at_s: float) -> Change | None:
        """Once what it went for has been measured and was calm."""
        if not self._reasons or not self._calm[self._reasons[-1]]:
            return None
        what = self.shed[-1]
        if at_s < max(self._late_at_s, self._changed_at_s) + self._calm_s[what]:
            return None
        self._calm_s[what] = min(2.0 * self._calm_s[what], self._rule.calm_most_s)
        self._changed_at_s = at_s
        self._reasons.pop()
        return Change(what, True, stage, late_s, self._budgets.of(stage))
