"""Evidence: what is known of an open turn beside its silence, and why it was ended."""

from dataclasses import dataclass

__all__ = ["NO_EVIDENCE", "NO_REASON", "Evidence", "Reason"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """What others made of an open turn, each with the sample after the last voice that they knew of.

    It counts only as long as nobody has spoken since.
    """

    prosody: float | None = None
    """Probability that the turn sounds complete."""
    prosody_until: int = -1
    complete: float | None = None
    """How complete the text is, from 0.0 to 1.0."""
    complete_until: int = -1

    def prosody_at(self, voiced_until: int) -> float | None:
        """The probability, if it is about all of the voice up to that sample."""
        return self.prosody if self.prosody_until >= voiced_until else None

    def complete_at(self, voiced_until: int) -> float | None:
        """The text's completeness, if all of the voice up to that sample was read."""
        return self.complete if self.complete_until >= voiced_until else None


@dataclass(frozen=True, slots=True)
class Reason:
    """By which rule a turn was ended, after how many seconds without voice it was due, and on what evidence."""

    rule: str = ""
    wait_s: float = 0.0
    prosody: float = -1.0
    """-1.0: unknown."""
    complete: float = -1.0
    """-1.0: unknown."""
    usual_s: float = 0.0
    """The wait for this speaker when nothing but the silence is known, as it is learned so far."""


NO_EVIDENCE = Evidence()
NO_REASON = Reason()
