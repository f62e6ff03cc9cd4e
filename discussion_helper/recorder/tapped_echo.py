"""An echo path that shows what it gives."""

from collections.abc import Callable

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Played
from discussion_helper.recorder.entries import Cleaned, OwnVoice
from discussion_helper.voice.echo_path import EchoPath

__all__ = ["TappedEcho"]


class TappedEcho:
    """An `EchoPath` that is another one. `shown` sees each block of its output, and each answer; it must not wait."""

    def __init__(self, path: EchoPath, shown: Callable[[Cleaned | OwnVoice], object]) -> None:
        self._path = path
        self._shown = shown
        self.near_db, self.expected_db = path.near_db, path.expected_db

    def feed(self, played: Played) -> None:
        """The loudspeaker got this."""
        self._path.feed(played)

    def clean(self, near: Samples, at_s: float, start: int) -> Samples:
        """The other's."""
        clean = self._path.clean(near, at_s, start)
        self.near_db, self.expected_db = self._path.near_db, self._path.expected_db
        self._shown(Cleaned(start, clean, self.near_db, self.expected_db))
        return clean

    def is_own_voice(self) -> bool:
        """The other's."""
        heard = self._path.is_own_voice()
        self._shown(OwnVoice(heard))
        return heard

    def leaks(self) -> bool:
        """The other's; shown where it is so, for nearly always it is not."""
        heard = self._path.leaks()
        if heard:
            self._shown(OwnVoice(heard, learning=True))
        return heard
