"""What the agent said, and when it was heard: whoever hears the same a moment later hears an echo."""

from collections import deque
from dataclasses import dataclass

__all__ = ["SENTENCES", "Spoken"]

SENTENCES = 64
"""Remembered at once; so many are not said in the seconds that count."""


@dataclass(slots=True, eq=False)
class _Sentence:
    text: str
    from_s: float
    until_s: float | None = None


class Spoken:
    """Sentences in the order in which they are heard, one at a time. Times are on `time.monotonic`'s clock."""

    def __init__(self) -> None:
        self._sentences: deque[_Sentence] = deque(maxlen=SENTENCES)

    def begin(self, text: str, at_s: float) -> None:
        """It is heard from now on."""
        self.end(at_s)
        self._sentences.append(_Sentence(text, at_s))

    def end(self, at_s: float) -> None:
        """What was begun is over, or was cut. Idempotent."""
        if self._sentences and self._sentences[-1].until_s is None:
            self._sentences[-1].until_s = at_s

    def between(self, from_s: float, until_s: float) -> list[str]:
        """The sentences of which something was heard between two moments."""
        return [
            it.text for it in self._sentences if it.from_s < until_s and (it.until_s is None or it.until_s > from_s)
        ]
