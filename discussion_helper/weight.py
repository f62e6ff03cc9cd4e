"""What a value weighs: the memory that it takes, about."""

from collections.abc import Collection, Mapping
from dataclasses import fields, is_dataclass
from sys import getsizeof

__all__ = ["HEAVIEST", "weight_of"]

HEAVIEST = 4 * 1024 * 1024
"""Bytes at which nobody looks further: what is heavier than that weighs this much."""

_ATOMS = frozenset((str, int, float, bool, type(None), bytes))


def weight_of(value: object) -> int:
    """Bytes of the value and of all that is in it; what holds something counts once, so that a circle has an end."""
    weight, seen, left = 0, set[int](), [value]
    while left and weight < HEAVIEST:
        one = left.pop()
        if type(one) in _ATOMS:
            weight += getsizeof(one)
        elif id(one) not in seen:
            seen.add(id(one))
            weight += getsizeof(one, 0)
            left.extend(_inside(one))
    return min(weight, HEAVIEST)


def _inside(one: object) -> Collection[object]:
    if isinstance(one, Mapping):
        return [*one.keys(), *one.values()]
    if isinstance(one, list | tuple | set | frozenset):
        return one
    if is_dataclass(one) and not isinstance(one, type):
        return [getattr(one, each.name) for each in fields(one)]
    return ()
