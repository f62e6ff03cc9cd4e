"""What is said into the microphone: clips of people and of noises, where their voice is, and how loud they are."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

from discussion_helper.audio.analysis import at_level, voiced
from discussion_helper.audio.clips import Clip, load_clips
from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Samples
from discussion_helper.errors import AudioFileError

__all__ = [
    "BARGE_IN_LEVELS",
    "BARGE_IN_S",
    "FIX_CLIPS",
    "RATE",
    "SOUND_LEVEL",
    "SOUND_S",
    "TURN_LEVELS",
    "TURN_S",
    "VOICE_ENDS_S",
    "Saying",
    "barge_ins",
    "load_all",
    "noises",
    "transcribed",
    "turns",
]

FIX_CLIPS = "Name a folder with the project's clips: --clips FOLDER."
RATE = 48_000
VOICE_ENDS_S: Mapping[str, float] = {"jfk.wav": 10.46}
"""Where the rule of `analysis.voiced` is wrong: that recording goes on with the crowd, as loud as speech.

Of the 17 English turns the rule's beginning is within 20 ms of what the Silero detector sees (median 12 ms) and its end
within 30 ms (median). It keeps a last "s" or "p" that the detector misses, and drops the echo of a room.
"""
TURN_S = (1.0, 12.0)
"""Shortest and longest clip that is a turn."""
BARGE_IN_S = 6.0
"""Longest clip that is said over a reply."""
SOUND_S = 3.0
"""Longest of the short sounds of a conversation; what is longer holds words."""
TURN_LEVELS = (None, -20.0, -32.0)
"""Of the first, second and third round through the clips; None = as recorded."""
BARGE_IN_LEVELS = (-18.0, -24.0, -30.0)
SOUND_LEVEL = -26.0
"""dBFS that the short sounds are brought to, most of which were recorded from afar: speech at an arm's length."""


@dataclass(frozen=True, slots=True)
class Saying:
    """One clip as it is said: at 48 kHz, voice from sample `start` to `end` (excluded), at `level_dbfs`."""

    clip: Clip
    samples: Samples
    start: int
    end: int
    level_dbfs: float

    @property
    def name(self) -> str:
        """Its file."""
        return self.clip.path.name

    @property
    def duration_s(self) -> float:
        """Seconds of the whole clip."""
        return len(self.samples) / RATE


def load_all(folder: Path) -> list[Clip]:
    """The clips of a folder. Raises AudioFileError, also where its manifest lists none."""
    clips = load_clips(folder)
    if not clips:
        raise AudioFileError(f"{folder / 'manifest.csv'} lists no clips.", fix=FIX_CLIPS)
    return clips


def transcribed(clips: Sequence[Clip], language: str) -> list[Clip]:
    """Turns of one language whose words are known, a new speaker each time as far as there are."""
    found = [clip for clip in clips if _is_turn(clip, language)]
    if not found:
        what = f'There is no clip of kind "speech" in {language!r} of 1 to 12 s with a transcript.'
        raise AudioFileError(what, fix=FIX_CLIPS)
    return list(_by_turns(found))


def turns(clips: Sequence[Clip], language: str, count: int) -> list[Saying]:
    """`count` turns: all clips as they were recorded, then again, brought to -20 dBFS and to -32 dBFS."""
    return _rounds(transcribed(clips, language), TURN_LEVELS, count)


def barge_ins(clips: Sequence[Clip], language: str, count: int) -> list[Saying]:
    """`count` clips of 1 to 6 s, at -18, -24 and -30 dBFS in turn, and each clip at another level in each round.

    Raises AudioFileError.
    """
    short = [clip for clip in transcribed(clips, language) if clip.duration_s <= BARGE_IN_S]
    if not short:
        what = f'There is no clip of kind "speech" in {language!r} of 1 to 6 s with a transcript.'
        raise AudioFileError(what, fix=FIX_CLIPS)
    places = [(round_, place) for round_ in range(count // len(short) + 1) for place in range(len(short))]
    levels = len(BARGE_IN_LEVELS)
    return [_said(short[place], BARGE_IN_LEVELS[(round_ + place) % levels]) for round_, place in places[:count]]


def noises(clips: Sequence[Clip], count: int) -> list[Saying]:
    """`count` sounds that are no turn: noises and music as recorded first, then the short sounds of conversations.

    Raises AudioFileError.
    """
    noise = [_said(clip, None) for clip in clips if clip.kind in ("noise", "music")]
    sounds = [
        clip for clip in clips if clip.kind == "backchannel" and not clip.transcript and clip.duration_s <= SOUND_S
    ]
    found = [*noise, *(_said(clip, SOUND_LEVEL) for clip in sounds)][:count]
    if not found:
        what = 'There is no clip of kind "noise" or "music", and no short one of kind "backchannel" without words.'
        raise AudioFileError(what, fix=FIX_CLIPS)
    return found


def _is_turn(clip: Clip, language: str) -> bool:
    spoken = clip.kind == "speech" and clip.language.partition("-")[0] == language
    return spoken and bool(clip.transcript) and TURN_S[0] <= clip.duration_s <= TURN_S[1]


def _by_turns(clips: Sequence[Clip]) -> Iterator[Clip]:
    """One clip of each speaker, then the second one of each, and so on; those of the demo first."""
    waiting = sorted(clips, key=lambda clip: (clip.demo == 0, clip.demo))
    while waiting:
        speakers: dict[str, Clip] = {}
        for clip in waiting:
            speakers.setdefault(clip.speaker, clip)
        yield from speakers.values()
        waiting = [clip for clip in waiting if clip not in speakers.values()]


def _rounds(clips: Sequence[Clip], levels: Sequence[float | None], count: int) -> list[Saying]:
    planned = [(clip, level) for level in levels for clip in clips]
    return [_said(clip, level) for clip, level in islice(cycle(planned), count)]


def _said(clip: Clip, level_dbfs: float | None) -> Saying:
    samples = load(clip.path, RATE).samples
    voice = voiced(samples, RATE)
    end = round(VOICE_ENDS_S[clip.path.name] * RATE) if clip.path.name in VOICE_ENDS_S else voice.end
    if level_dbfs is None:
        return Saying(clip, samples, voice.start, end, voice.level_dbfs)
    return Saying(clip, at_level(samples, voice.level_dbfs, level_dbfs), voice.start, end, level_dbfs)
