"""Interim readings: when the words of a turn that goes on are read, and which of them are sure to stay."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

__all__ = ["LONGEST_S", "InterimPace", "Partial", "StablePrefix"]

LONGEST_S = 20.0
"""Of a turn that is read while it goes on; after that it is read in its pauses and at its end alone. What is longer no
longer fits a window of the recogniser, and each reading begins at the turn's first word."""

_UNSPACED = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese are written without spaces; there each character is a unit."""
_UNIT = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+(?:['’.,-][^\W_{_UNSPACED}]+)*")
_CHARACTER = re.compile(rf"[{_UNSPACED}]")


class InterimPace:
    """Says when a turn that goes on is to be read again: after every so many seconds of voice. A function of these."""

    def __init__(self, every_s: float) -> None:
        self._every_s = every_s
        self._read_s = 0.0

    def is_due(self, voiced_s: float) -> bool:
        """Whether now, with `voiced_s` seconds of voice in the open turn; 0.0 while none is open."""
        if voiced_s < self._read_s:
            self._read_s = 0.0
        if voiced_s - self._read_s < self._every_s:
            return False
        self._read_s = voiced_s
        return True


@dataclass(frozen=True, slots=True)
class Partial:
    """What was understood so far of a turn. `text` begins with `stable`, which only grows as long as the turn does."""

    text: str
    stable: str


@dataclass(frozen=True, slots=True)
class _Unit:
    word: str
    end: int


class StablePrefix:
    """What two readings in succession agree on from the turn's beginning is stable, but for the last word of a reading
    that broke off in the middle of the voice: it may be half of one.

    Words that a later reading takes back stay as they are; what is new in it goes on behind them.
    """

    def __init__(self) -> None:
        self._turn: int | None = None
        self._begin(None)

    def drop(self) -> bool:
        """The turn is none; whether anything was read of it."""
        was_read = self._read_before
        self._begin(None)
        return was_read

    def _begin(self, turn: int | None) -> None:
        self._turn = turn
        self._stable = ""
        self._words: list[str] = []
        self._rest: list[str] = []
        self._read_before = False

    def read(self, turn: int, text: str, *, complete: bool) -> Partial:
        """The next reading of the turn that begins at sample `turn`. `complete`: the voice has paused behind it."""
        if turn != self._turn:
            self._begin(turn)
        units = _units(text)
        known = _reached(self._words, [unit.word for unit in units])
        words = [unit.word for unit in units[known:]]
        agreed = min(_same(self._rest, words), len(words) if complete else len(words) - 1) if self._read_before else 0
        before = units[known - 1].end if known else 0
        if agreed > 0:
            end = units[known + agreed - 1].end
            self._stable = _joined(self._stable, text[before:end])
            self._words += words[:agreed]
            before = end
        self._rest, self._read_before = words[max(0, agreed) :], True
        return Partial(_joined(self._stable, text[before:]), self._stable)


def _units(text: str) -> list[_Unit]:
    return [_Unit(found.group().casefold(), found.end()) for found in _UNIT.finditer(text)]


def _reached(stable: list[str], words: list[str]) -> int:
    """How many of `words` say what is stable: up to the last of them that is there, and as many as follow it there."""
    if words[: len(stable)] == stable:
        return len(stable)
    blocks = SequenceMatcher(None, stable, words, autojunk=False).get_matching_blocks()[:-1]
    left = len(stable) - (blocks[-1].a + blocks[-1].size if blocks else 0)
    return min(len(words), (blocks[-1].b + blocks[-1].size if blocks else 0) + left)


def _same(one: list[str], other: list[str]) -> int:
    """Length of what they begin with alike."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _joined(stable: str, more: str) -> str:
    """`more` is cut out of its reading behind a word, spaces and all; a whole reading has no space before it."""
    if not stable:
        return more.lstrip()
    spaced = more[:1].isalnum() and not _CHARACTER.match(more)
    return f"{stable} {more}" if spaced else stable + more
