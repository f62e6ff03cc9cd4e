"""The echo path of a replay: a fresh one, checked against the recording, or the recorded output itself."""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import takewhile

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Played
from discussion_helper.recorder.entries import Cleaned, OwnVoice
from discussion_helper.voice.echo_path import EchoPath

__all__ = ["ReplayedEcho"]


class ReplayedEcho:
    """An `EchoPath`. A fresh canceller needs the talk from its beginning to give what it gave there.

    Where that is missing the recording's blocks are better, and they are as good whatever the settings are.
    """

    def __init__(self, path: EchoPath) -> None:
        self._path = path
        self._expected: deque[Cleaned | OwnVoice] = deque()
        self._trusts = False
        self.near_db, self.expected_db = path.near_db, path.expected_db
        self.differs = False
        """The fresh canceller gave other samples than the one of the talk."""

    def trust(self) -> None:
        """From now on the recording's blocks are given, as far as there are any."""
        self._trusts = True

    def expect(self, entries: Iterable[Cleaned | OwnVoice]) -> None:
        """What the recording has for the next item."""
        self._expected = deque(entries)

    def feed(self, played: Played) -> None:
        """The loudspeaker got this."""
        self._path.feed(played)

    def clean(self, near: Samples, at_s: float, start: int) -> Samples:
        """10 ms without the echo."""
        clean = self._path.clean(near, at_s, start)
        self.near_db, self.expected_db = self._path.near_db, self._path.expected_db
        while self._expected and not isinstance(self._expected[0], Cleaned):
            self._expected.popleft()
        recorded = self._expected.popleft() if self._expected else None
        if not isinstance(recorded, Cleaned) or recorded.start != start:
            return clean
        if self._trusts:
            self.near_db, self.expected_db = recorded.near_db, recorded.expected_db
            return recorded.samples
        self.differs = self.differs or recorded.samples.tobytes() != clean.tobytes()
        return clean

    def is_own_voice(self) -> bool:
        """Whether it is the agent's own; where the talk did not ask, by what is known of what was played."""
        recorded = next(self._answers(learning=False), None)
        return self._path.is_own_voice() if recorded is None or not self._trusts else recorded.heard

    def leaks(self) -> bool:
        """Whether it is while the canceller learns."""
        return any(self._answers(learning=True)) if self._trusts else self._path.leaks()

    def _answers(self, *, learning: bool) -> Iterator[OwnVoice]:
        """The recorded ones about the block that was cleaned last."""
        about = takewhile(lambda entry: isinstance(entry, OwnVoice), self._expected)
        return (answer for answer in about if isinstance(answer, OwnVoice) and answer.learning == learning)
