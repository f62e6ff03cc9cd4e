"""Repeats: what is said several times in a row."""

import re

__all__ = ["longest_run"]


def longest_run(text: str, *, shortest: int = 1) -> int:
    """How often the most repeated `shortest` to four units in a row are said: 3 for "so it is it is it is".

    Units are words, or characters in a text without spaces.
    """
    parts = [part for part in re.sub(r"[^\w\s]", "", text.lower()).split() if part]
    units = parts if len(parts) > 1 else list("".join(parts))
    return max((_run(units, size) for size in range(shortest, 5)), default=0)


def _run(units: list[str], size: int) -> int:
    if len(units) < size:
        return 0
    same = longest = 0
    for unit, other in zip(units, units[size:], strict=False):
        same = same + 1 if unit == other else 0
        longest = max(longest, same)
    return 1 + longest // size
