"""What is recorded, as values."""

from dataclasses import dataclass, field
from typing import Any

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.inbox import Captured, DeviceLost, Played
from discussion_helper.voice.audio_work import Cut, HalfDuplex, Listening, Reopened, TalkKey
from discussion_helper.voice.deciding import Words
from discussion_helper.voice.scored import Scored

__all__ = ["Called", "Cleaned", "Entry", "Gap", "Header", "Noted", "OwnVoice", "Taken", "Told"]

Called = DeviceLost | Listening | Words | HalfDuplex | TalkKey | Scored | Reopened | Cut | None


@dataclass(frozen=True, slots=True)
class Taken:
    """The audio work took this at `now`: audio, a device that was lost, what a call was about; None = nothing."""

    item: Captured | Played | Called
    now: float


@dataclass(frozen=True, slots=True, eq=False)
class Cleaned:
    """10 ms of the microphone without the echo, from sample `start` at 16 kHz; the levels are those of `EchoPath`."""

    start: int
    samples: Samples
    near_db: float
    expected_db: float


@dataclass(frozen=True, slots=True)
class OwnVoice:
    """What was cleaned last still is the agent's own voice, or is not; said where it was asked."""

    heard: bool
    learning: bool = False
    """It was asked while the canceller learnt an echo that it had just found."""


@dataclass(frozen=True, slots=True)
class Noted:
    """A note of the hearing, in its canonical form."""

    line: bytes


@dataclass(frozen=True, slots=True)
class Told:
    """An event of the session, as JSON; `now` is when it was recorded."""

    now: float
    event: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Gap:
    """Something is missing here; afterwards `listening` is what is listened to. `missed`: how many, -1 = unknown."""

    missed: int
    listening: Listening


Entry = Taken | Cleaned | OwnVoice | Noted | Told | Gap


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What a segment says about its talk. `zero_s` on the clock of the items is `started_utc_s` since 1970."""

    started_utc_s: float
    zero_s: float
    package: str
    settings: dict[str, Any]
    """`language`, `policy` and `tuning`, and what was to recognise, speak and answer, by name."""
    machine: str = ""
    index: int = 1
    """Of the segment, from 1."""
    listening: Listening = field(default_factory=Listening)
    """What is listened to at the segment's beginning."""
