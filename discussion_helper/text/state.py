"""The turns of a thread, and what a model gets of them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, get_args

from discussion_helper.errors import SettingError
from discussion_helper.revision import Said, places_revised, without
from discussion_helper.text.artifacts import Artifact, Text, check_artifact, is_delta, is_ours

__all__ = ["ROLES", "Role", "State", "Turn"]

Role = Literal["system", "user", "assistant", "tool"]
ROLES: tuple[str, ...] = get_args(Role)


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn, whole. Raises SettingError (a ValueError) for a role that there is not, and for what cannot be kept."""

    role: Role
    artifacts: tuple[Artifact, ...] = ()
    interrupted: bool = field(default=False, kw_only=True)
    """The agent was cut off while it said this aloud: the text is what was heard."""
    said: str = field(default="", kw_only=True)
    """The whole text that was to be said aloud, "" when that is what was heard."""
    wants_answer: bool = field(default=True, kw_only=True)
    """False of a user's turn that had the agent fall silent and asked for nothing: "stop"."""
    revises: str = field(default="", kw_only=True)
    """Of a user's turn: the text of an earlier one, which was not over; this is all of it, and stands in its place."""
    at: datetime = field(default_factory=lambda: datetime.now(UTC), kw_only=True, compare=False)
    """When it was complete; UTC."""

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise SettingError(f"role: {self.role!r} is no role.", fix=f"Use {', '.join(ROLES)}.")
        for name in ("said", "revises"):
            if not isinstance(value := getattr(self, name), str):
                raise SettingError(f"{name}: it is a {type(value).__name__}.", fix="Use a text.")
        if not isinstance(self.artifacts, tuple):
            raise SettingError(f"artifacts: it is a {type(self.artifacts).__name__}.", fix="Use a tuple.")
        for artifact in self.artifacts:
            check_artifact(artifact)
            if not is_ours(artifact) or is_delta(artifact):
                what = f"artifacts: {type(artifact).__name__} ({artifact.kind}) cannot be kept."
                raise SettingError(what, fix="Keep whole ones of our kinds.")

    @property
    def text(self) -> str:
        """Its texts, joined."""
        return "".join(artifact.content for artifact in self.artifacts if isinstance(artifact, Text))


class State:
    """The turns so far, in order. A thread's own grows; a view of it (`with_turns`) is a state of its own.

    A turn that revises another is added like any other, and stands in its place for whoever reads the turns: what was
    stored is never changed.
    """

    def __init__(self, turns: Iterable[Turn] = ()) -> None:
        self._turns = list(turns)

    @property
    def turns(self) -> tuple[Turn, ...]:
        """A copy, without those that others have taken the place of."""
        return tuple(_folded(self._turns) if any(turn.revises for turn in self._turns) else self._turns)

    def since(self, count: int) -> tuple[Turn, ...]:
        """Those that were added after the first `count`; takes no longer for a long thread."""
        return tuple(self._turns[count:])

    @property
    def last(self) -> Turn | None:
        """The newest turn."""
        return self._turns[-1] if self._turns else None

    def append(self, turn: Turn) -> None:
        """Add a turn; for the state's owner, which is the thread's store."""
        self._turns.append(turn)

    def insert(self, place: int, turn: Turn) -> None:
        """Put a turn where it is stored, before those that were added while it was written. For the owner too."""
        self._turns.insert(place, turn)

    def with_turns(self, *, before: Iterable[Turn] = (), after: Iterable[Turn] = ()) -> "State":
        """A view with turns around these, for one call of a model."""
        return State([*before, *self._turns, *after])

    def __len__(self) -> int:
        """How many were added."""
        return len(self._turns)


def _folded(turns: Iterable[Turn]) -> list[Turn]:
    kept: list[Turn] = []
    for turn in turns:
        if turn.revises:
            said = [_said(other, before) for before, other in zip([None, *kept], kept, strict=False)]
            places = places_revised(said, turn.revises)
            kept = [kept[at] for at in without(len(kept), places)]
        kept.append(turn)
    return kept


def _said(turn: Turn, before: Turn | None) -> Said:
    """What used tools was not for nothing, whether or not it was heard."""
    used = before is not None and before.role == "tool"
    cut = turn.role == "assistant" and turn.interrupted and not used
    return Said(turn.role == "user", turn.text, cut and not turn.text.strip())
