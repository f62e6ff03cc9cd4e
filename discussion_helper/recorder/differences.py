"""What a replay decided otherwise than the talk."""

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from discussion_helper.recorder.heard import Heard
from discussion_helper.recorder.replay import Outcome

__all__ = ["ALIKE_S", "PAIRED_S", "Difference", "differences"]

ALIKE_S = 0.05
"""Two notes that far apart are the same where bytes cannot be: a frame of the neural detector and a half."""
PAIRED_S = 1.0
"""Two notes of a kind that far apart are one that has moved."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One row: what was recorded, and what it would be. None: nothing of the kind."""

    recorded: Heard | None
    replayed: Heard | None

    @property
    def at_s(self) -> float:
        """When, since the recording's beginning."""
        return min(heard.at_s for heard in (self.recorded, self.replayed) if heard is not None)


def differences(outcome: Outcome, *, exact: bool) -> list[Difference]:
    """Rows in the order of time, levels left out.

    `exact`: every byte counts. Otherwise the words and the time do, within 50 ms, and not while it was warming up.
    """
    if exact:
        pairs = _paired(outcome.recorded, outcome.replayed, key=lambda heard: heard.line, within_s=float("inf"))
    else:
        pairs = _paired(*_decisions(outcome), key=lambda heard: (heard.kind, heard.text), within_s=ALIKE_S)
    rows = [Difference(*pair) for pair in pairs]
    shown = [row for row in rows if exact or not _is_warming(row)]
    return sorted(shown, key=lambda row: row.at_s)


def _decisions(outcome: Outcome) -> tuple[list[Heard], list[Heard]]:
    one, other = ([heard for heard in notes if heard.decides] for notes in (outcome.recorded, outcome.replayed))
    return one, other


def _is_warming(row: Difference) -> bool:
    return any(heard is not None and heard.warming for heard in (row.recorded, row.replayed))


def _paired(
    recorded: Sequence[Heard],
    replayed: Sequence[Heard],
    *,
    key: Callable[[Heard], Hashable],
    within_s: float,
) -> list[tuple[Heard | None, Heard | None]]:
    """Those of the two that are not the same; what moved or changed, side by side."""
    _, lost, new = _matched(recorded, replayed, key=key, within_s=within_s)
    moved, lost, new = _matched(lost, new, key=lambda heard: heard.kind, within_s=PAIRED_S)
    return [*moved, *((heard, None) for heard in lost), *((None, heard) for heard in new)]


def _matched(
    recorded: Sequence[Heard],
    replayed: Sequence[Heard],
    *,
    key: Callable[[Heard], Hashable],
    within_s: float,
) -> tuple[list[tuple[Heard | None, Heard | None]], list[Heard], list[Heard]]:
    waiting: dict[Hashable, deque[Heard]] = defaultdict(deque)
    for heard in replayed:
        waiting[key(heard)].append(heard)
    pairs: list[tuple[Heard | None, Heard | None]] = []
    lost: list[Heard] = []
    for heard in recorded:
        others = waiting[key(heard)]
        found = next((other for other in others if abs(other.at_s - heard.at_s) <= within_s), None)
        if found is None:
            lost.append(heard)
        else:
            others.remove(found)
            pairs.append((heard, found))
    left = {id(heard) for others in waiting.values() for heard in others}
    return pairs, lost, [heard for heard in replayed if id(heard) in left]
