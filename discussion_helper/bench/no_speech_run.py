"""No speech: the turns that are heard in silence, noise, music and breath, of which there should be none."""

from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, cycle

import numpy as np

from discussion_helper.audio.clips import Clip
from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Frame, Samples, silence
from discussion_helper.bench.clips import FIX_CLIPS
from discussion_helper.bench.listening import segmenter_with
from discussion_helper.bench.no_speech import RATE, Piece, no_speech, sound_sources
from discussion_helper.bench.progress import Progress
from discussion_helper.bench.recognition import recognise_all
from discussion_helper.errors import AudioFileError
from discussion_helper.settings import Settings
from discussion_helper.stt.base import Recognised
from discussion_helper.turn.endpointing import SilenceEndpointer
from discussion_helper.turn.turns import TurnEnded
from discussion_helper.voice.assembly import QUIET_PREROLL_S
from discussion_helper.voice.tail import with_tail

__all__ = ["EVERY", "SPOKEN", "NoSpeech", "NoSpeechRow", "Taken", "read", "run_no_speech", "taken_in", "with_speech"]

SPOKEN = "speech"
"""The kind of what somebody says between the sounds."""
EVERY = 10
"""Pieces after which somebody speaks: that is once a minute."""
_SPOKEN_S, _PAUSE_S = (1.0, 8.0), 1.5
_SEED = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class NoSpeechRow:
    """One stretch that the detectors took for a turn, and what the recogniser made of it."""

    piece: int
    """Number of the piece that it begins in."""
    kind: str
    name: str
    level_dbfs: float
    at_s: float
    voiced_s: float
    doubt: float
    """Probability of no speech minus the average logarithm of a token's probability."""
    text: str
    """It is a turn where there is any."""
    refused: str


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """What is given to the recogniser, and the piece that it begins in."""

    number: int
    piece: Piece
    at_s: float
    samples: Samples
    voiced_s: float


@dataclass(slots=True)
class NoSpeech:
    """The rows, and of what: `pieces` of 6 s in which nobody speaks, and how often somebody does between them."""

    pieces: int = 0
    spoken: int = 0
    rows: list[NoSpeechRow] = field(default_factory=list)

    @property
    def turns(self) -> list[NoSpeechRow]:
        """Where nobody spoke."""
        return [row for row in self.rows if row.text and row.kind != SPOKEN]

    @property
    def heard(self) -> int:
        """How often somebody who spoke was understood, however many turns that was."""
        return len({row.piece for row in self.rows if row.text and row.kind == SPOKEN})


def run_no_speech(clips: Sequence[Clip], settings: Settings, minutes: float, progress: Progress) -> NoSpeech:
    """Play so many minutes to the detectors, as one stream, with somebody who speaks once a minute.

    Raises DiscussionError.
    """
    pieces = list(no_speech(sound_sources(clips), seconds=60.0 * minutes, seed=_SEED))
    stream = list(with_speech(pieces, clips))
    taken = list(taken_in(stream))
    progress.step("no-speech", 1, 2, f"{len(taken)} stretches of {minutes:g} minutes were taken for a voice")
    rows = read(taken, settings)
    found = NoSpeech(len(pieces), len(stream) - len(pieces), rows)
    progress.step("no-speech", 2, 2, f"{len(found.turns)} of them became turns")
    return found


def with_speech(pieces: Sequence[Piece], clips: Sequence[Clip]) -> Iterator[Piece]:
    """Behind every tenth one somebody speaks, with a pause before and after: the detectors are as in a talk, and that
    somebody is heard says that the rest is measured. Raises AudioFileError where there is nobody.
    """
    sayings = cycle([(clip.path.name, load(clip.path, RATE).samples) for clip in _spoken(clips)])
    pause = silence(_PAUSE_S, RATE)
    for number, piece in enumerate(pieces, 1):
        yield piece
        if number % EVERY == 0:
            name, samples = next(sayings)
            yield Piece(SPOKEN, name, 0.0, np.concatenate((pause, samples, pause)))


def _spoken(clips: Sequence[Clip]) -> list[Clip]:
    shortest, longest = _SPOKEN_S
    spoken = [clip for clip in clips if clip.kind == SPOKEN and shortest <= clip.duration_s <= longest]
    english = [clip for clip in spoken if clip.language == "en" and clip.transcript]
    if not english:
        what = (
            "There is no clip of kind \"speech\" in 'en' of 1 to 8 s with a transcript, to see that somebody is heard."
        )
        raise AudioFileError(what, fix=FIX_CLIPS)
    return english


def taken_in(pieces: Sequence[Piece]) -> Iterator[Taken]:
    """What the detectors take for turns, in one stream."""
    segmenter = segmenter_with(SilenceEndpointer())
    starts = [0, *accumulate(len(piece.samples) for piece in pieces)]
    frames = [Frame(piece.samples, RATE, at) for piece, at in zip(pieces, starts, strict=False)]
    for turn in [*(event for frame in frames for event in segmenter.feed(frame)), *segmenter.flush()]:
        if isinstance(turn, TurnEnded):
            number = bisect(starts, turn.start + round(QUIET_PREROLL_S * RATE)) - 1
            yield Taken(number, pieces[number], turn.start / RATE, with_tail(turn.samples), turn.voiced_s)


def read(taken: Sequence[Taken], settings: Settings) -> list[NoSpeechRow]:
    """What the recogniser makes of it. Raises DiscussionError."""
    sounds, voices_s = [one.samples for one in taken], [one.voiced_s for one in taken]
    return [_row(*each) for each in zip(taken, recognise_all(settings, sounds, voices_s), strict=True)]


def _row(taken: Taken, found: Recognised) -> NoSpeechRow:
    return NoSpeechRow(
        piece=taken.number,
        kind=taken.piece.kind,
        name=taken.piece.name,
        level_dbfs=round(taken.piece.level_dbfs, 1),
        at_s=round(taken.at_s, 2),
        voiced_s=round(taken.voiced_s, 3),
        doubt=round(found.no_speech_probability - found.average_logprob, 3),
        text=found.text,
        refused=found.refused,
    )
