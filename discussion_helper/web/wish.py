"""What somebody wants of a session that is to be opened."""

from dataclasses import dataclass, field

from discussion_helper.parts import Thread
from discussion_helper.policy import Policy

__all__ = ["Wish"]


@dataclass(frozen=True, slots=True)
class Wish:
    """Checked as far as it can be without the parts."""

    turns: tuple[str, ...] = ()
    """What a fake user says."""
    voice: str | None = None
    """Name of the voice; None = the usual one."""
    language: str | None = None
    """ISO 639-1 code; None = the usual one."""
    policy: Policy = field(default_factory=Policy)
    thread: Thread | None = None
    """Where the turns are stored."""
    system: str | None = None
    """What the model is told beforehand; None = the usual."""
