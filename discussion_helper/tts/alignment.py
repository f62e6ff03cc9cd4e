"""Alignment: which of the sounds that were made belong to which of the sounds that were expected."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["align"]

_VOWELS = frozenset("aeiouyæøœɐɑɒɔɘəɚɛɜɝɞɤɨɪɯɵɶʉʊʌʏᵻɩ")

_LEFT_OUT = 0.6
_LEFT_OUT_SPACE = 0.3
"""Words are joined and parted more easily than sounds are dropped."""
_VOWEL_FOR_VOWEL = 0.4
_CONSONANT_FOR_CONSONANT = 0.7
_VOWEL_FOR_CONSONANT = 1.1
_SPACE_FOR_SOUND = 9.0
"""What differs costs; like for like costs nothing. Vowels are reduced in a sentence ("the", "a"): they cost little."""


def align(expected: Sequence[str], made: Sequence[str]) -> list[int]:
    """For each expected sound the index of the made one that stands for it, growing; -1 where none does.

    The cheapest way to turn one sequence into the other, by dynamic programming, in time and memory of the product of
    their lengths (about 2 ms for 200 sounds each). A sound is a phoneme, or " " between words.
    """
    if not expected or not made:
        return [-1] * len(expected)
    costs = _substitutions(expected, made)
    up, left = _omissions(expected), _omissions(made)
    return _trace(_table(costs, up, left), costs, up)


def _omissions(sounds: Sequence[str]) -> NDArray[np.float64]:
    return np.array([_LEFT_OUT_SPACE if sound == " " else _LEFT_OUT for sound in sounds])


def _substitutions(expected: Sequence[str], made: Sequence[str]) -> NDArray[np.float64]:
    codes = {sound: code for code, sound in enumerate(dict.fromkeys((*expected, *made)))}
    rows, columns = (np.array([codes[sound] for sound in sounds]) for sounds in (expected, made))
    kinds = np.array([0 if sound == " " else 1 if sound[:1] in _VOWELS else 2 for sound in codes])
    by_kind = np.full((3, 3), _SPACE_FOR_SOUND)
    by_kind[1, 1], by_kind[2, 2] = _VOWEL_FOR_VOWEL, _CONSONANT_FOR_CONSONANT
    by_kind[1, 2] = by_kind[2, 1] = _VOWEL_FOR_CONSONANT
    found = by_kind[np.ix_(kinds[rows], kinds[columns])]
    found[rows[:, None] == columns[None, :]] = 0.0
    return found


def _table(costs: NDArray[np.float64], up: NDArray[np.float64], left: NDArray[np.float64]) -> NDArray[np.float64]:
    """The least cost of turning the first i expected sounds into the first j made ones."""
    across = np.concatenate([[0.0], np.cumsum(left)])
    table = np.empty((len(up) + 1, len(left) + 1))
    table[0] = across
    for row, above in enumerate(up):
        best = table[row] + above
        np.minimum(best[1:], table[row, :-1] + costs[row], out=best[1:])
        table[row + 1] = np.minimum.accumulate(best - across) + across
    return table


def _trace(table: NDArray[np.float64], costs: NDArray[np.float64], up: NDArray[np.float64]) -> list[int]:
    found = [-1] * len(up)
    row, column = len(up), table.shape[1] - 1
    while row and column:
        here = table[row, column] + 1e-9  # sums of the same numbers in another order
        if table[row - 1, column - 1] + costs[row - 1, column - 1] <= here:
            row, column = row - 1, column - 1
            found[row] = column
        elif table[row - 1, column] + up[row - 1] <= here:
            row -= 1
        else:
            column -= 1
    return found
