"""Entries of the audit, a bounded number: a flood of some pushes out no others."""

from collections import Counter
from collections.abc import Mapping
from heapq import merge
from itertools import count
from typing import Any

from discussion_helper.web.owners import owner_of

__all__ = ["KEPT", "Entries"]

KEPT = 200
"""Entries of each kind; older ones are in the log alone."""

_Entry = Mapping[str, Any]


class Entries:
    """The last ones of each kind. Of one with too many the oldest goes of whom there are most of that kind.

    Whose an entry is, says its session, or else whose its address is.
    """

    def __init__(self) -> None:
        self._of: dict[str, dict[int, _Entry]] = {}
        self._numbers = count()

    def add(self, entry: _Entry) -> None:
        """The newest one; its `kind` is one of a few."""
        same = self._of.setdefault(entry["kind"], {})
        same[next(self._numbers)] = entry
        if len(same) > KEPT:
            ((most, _),) = Counter(map(_whose, same.values())).most_common(1)
            del same[next(number for number, one in same.items() if _whose(one) == most)]

    @property
    def newest_first(self) -> list[_Entry]:
        """Of all kinds."""
        return [
            entry
            for _, entry in merge(*(reversed(same.items()) for same in self._of.values()), key=_number, reverse=True)
        ]


def _number(numbered: tuple[int, _Entry]) -> int:
    return numbered[0]


def _whose(entry: _Entry) -> str:
    return str(entry.get("session") or owner_of(entry.get("address", "")))
