"""A line: something that a person in the room says."""

from dataclasses import dataclass

from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.bounds import check_number, check_one_of, check_whole
from discussion_helper.errors import SettingError
from discussion_helper.testing.room.limits import LONGEST_S, check_rate, check_samples, check_seconds
from discussion_helper.testing.room.tape import MARK_KINDS, MarkKind

__all__ = ["After", "Line"]


@dataclass(frozen=True, slots=True)
class After:
    """`plus_s` seconds after the `number`-th mark of a kind in the room, counted from 1; before it where negative.

    `Mark` tells of the kinds. What would be over when its mark comes is now. Raises SettingError.
    """

    kind: MarkKind
    number: int = 1
    plus_s: float = 0.0

    def __post_init__(self) -> None:
        check_one_of("kind", self.kind, MARK_KINDS)
        check_whole("number", self.number, 1, 10**9)
        check_number("plus_s", self.plus_s, -LONGEST_S, LONGEST_S, unit="seconds")


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """`sound` is at the microphone from `at`, in seconds of room time, or after something, without reverberation.

    Samples have the room's rate, a Frame may have another. `dbfs`: the level of its loud parts
    (`audio.analysis.voiced`); None = as they are. `text` is what it says. Raises SettingError.
    """

    sound: Samples | Frame
    at: float | After
    text: str = ""
    dbfs: float | None = None

    def __post_init__(self) -> None:
        check_samples("sound", self.sound)
        if isinstance(self.sound, Frame):
            check_rate("sound.rate", self.sound.rate)
        if not isinstance(self.at, After):
            check_seconds("at", self.at)
        if not isinstance(self.text, str):
            raise SettingError(f"text: {self.text!r:.80} is no text.", fix="Use a string.")
        if self.dbfs is not None:
            check_number("dbfs", self.dbfs, -120.0, 0.0, unit="None or decibels")
