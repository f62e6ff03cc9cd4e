"""A line: something that a person in the room says."""

from dataclasses import dataclass
from typing import Literal

from discussion_helper.audio.frames import Frame, Samples

__all__ = ["After", "Line"]


@dataclass(frozen=True, slots=True)
class After:
    """`plus_s` seconds after the `number`-th mark of a kind in the room, counted from 1.

    "reply": the first audible sample of a reply at the loudspeaker; "line" and "line_end": the beginning and the end of
    a line. A mark that is over when it is waited for counts as now.
    """

    kind: Literal["reply", "line", "line_end"]
    number: int = 1
    plus_s: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """`sound` is at the microphone from `at`, in seconds of room time, or after something, without reverberation.

    Samples have the room's rate, a Frame may have another. `dbfs`: the level of its loud parts
    (`audio.analysis.voiced`); None = as they are. `text` is what it says.
    """

    sound: Samples | Frame
    at: float | After
    text: str = ""
    dbfs: float | None = None
