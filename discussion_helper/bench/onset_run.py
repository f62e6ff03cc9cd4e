"""Onsets: whether the first word of what somebody says is there, though the detectors notice a voice late."""

from collections.abc import Sequence
from dataclasses import dataclass

import anyio

from discussion_helper.audio.analysis import at_level, voiced
from discussion_helper.audio.clips import Clip
from discussion_helper.audio.files import load
from discussion_helper.bench.listening import BEFORE_S, RATE, read_turn, segmenter_with, turns_in_room
from discussion_helper.bench.progress import Progress
from discussion_helper.bench.recognition import open_recogniser
from discussion_helper.bench.words import words_of
from discussion_helper.settings import Settings
from discussion_helper.stt.base import Recogniser
from discussion_helper.turn.policy_endpointer import PolicyEndpointer

__all__ = ["LEVELS_DBFS", "OnsetRow", "onset", "run_onsets"]

LEVELS_DBFS = (-20.0, -26.0, -32.0, -36.0)
"""From close to the microphone to across a room."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OnsetRow:
    """One clip, said into a quiet room. The recogniser's own mistakes do not count: see `there`."""

    clip: str
    speaker: str
    level_dbfs: float
    lead_ms: float | None
    """Of sound before the voice in what the recogniser was given; None = nothing was taken for a voice."""
    first: str
    """The first word, as it is written down."""
    whole: str
    """What the recogniser makes of it in the whole clip."""
    heard: str
    """In the turn, or turns."""
    there: bool
    """What is heard is the one or the other."""


def run_onsets(clips: Sequence[Clip], settings: Settings, count: int, progress: Progress) -> list[OnsetRow]:
    """Say the clips, each time at another level. Raises DiscussionError."""

    async def run() -> list[OnsetRow]:
        rows: list[OnsetRow] = []
        async with open_recogniser(settings) as recogniser:
            for number in range(count):
                clip, round_ = clips[number % len(clips)], number // len(clips)
                level = LEVELS_DBFS[(number + round_) % len(LEVELS_DBFS)]
                rows.append(await onset(clip, level, recogniser, settings.language))
                fate = rows[-1].heard if rows[-1].there else f'"{rows[-1].heard}" for "{rows[-1].first}"'
                progress.step("onsets", len(rows), count, f"{rows[-1].clip} at {level:.0f} dBFS: {fate}")
        return rows

    return anyio.run(run)


async def onset(clip: Clip, level_dbfs: float, recogniser: Recogniser, language: str) -> OnsetRow:
    """Say one clip at that level."""
    whole = load(clip.path, RATE).samples
    voice = voiced(whole, RATE)
    segmenter = segmenter_with(PolicyEndpointer())
    turns = turns_in_room(at_level(whole, voice.level_dbfs, level_dbfs), segmenter)
    texts = [(await read_turn(turn, recogniser)).text for turn in turns]
    read = (await recogniser.recognise(whole, voiced_s=(voice.end - voice.start) / RATE)).text
    first, known, heard = (_first(text, language) for text in (clip.transcript, read, " ".join(texts)))
    lead_s = BEFORE_S + (voice.start - turns[0].start) / RATE if turns else None
    return OnsetRow(
        clip=clip.path.name,
        speaker=clip.speaker,
        level_dbfs=level_dbfs,
        lead_ms=None if lead_s is None else round(1e3 * lead_s, 1),
        first=first,
        whole=known,
        heard=heard,
        there=bool(heard) and heard in (first, known),
    )


def _first(text: str, language: str) -> str:
    return next(iter(words_of(text, language)), "")
