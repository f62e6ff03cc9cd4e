"""What is said over the agent: people, sounds that are no turn, and babble, which is mixed of the clips."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import numpy as np

from discussion_helper.audio.analysis import at_level, voiced
from discussion_helper.audio.clips import Clip
from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Samples
from discussion_helper.bench.clips import BARGE_IN_LEVELS, BARGE_IN_S, RATE, SOUND_LEVEL, SOUND_S, Saying, transcribed

__all__ = ["BABBLES", "BABBLE_LEVELS", "KINDS", "MUSIC_LEVELS", "PIECES", "PIECE_S", "babbles", "people", "sounds"]

KINDS = ("backchannel", "noise", "music", "singing")
MUSIC_LEVELS = (-24.0, -30.0, -36.0)
"""dBFS of music in the room, in turn: from another loudspeaker as loud as the agent's to one in the next room."""
BABBLE_LEVELS = (-30.0, -33.0, -36.0)
PIECE_S, PIECES = 6.0, 4
"""Of what is longer than a piece so many are taken, evenly spread."""
BABBLES = 12
_TALKERS = (4, 5, 6)
_FADE_S = 0.05


def people(clips: Sequence[Clip], language: str) -> list[Saying]:
    """Every short clip at each of three levels, which change from clip to clip."""
    short = [clip for clip in transcribed(clips, language) if clip.duration_s <= BARGE_IN_S]
    return [
        _said(clip, load(clip.path, RATE).samples, BARGE_IN_LEVELS[(number + turn) % len(BARGE_IN_LEVELS)])
        for turn in range(len(BARGE_IN_LEVELS))
        for number, clip in enumerate(short)
    ]


def sounds(clips: Sequence[Clip]) -> list[Saying]:
    """Noises as they were recorded, the short sounds of conversations as said at an arm's length, music in pieces."""
    levels = cycle(MUSIC_LEVELS)
    wanted = [it for it in clips if it.kind in KINDS and (it.kind != "backchannel" or it.duration_s <= SOUND_S)]
    fixed = {"noise": None, "backchannel": SOUND_LEVEL}
    return [
        _said(piece, samples, fixed[clip.kind] if clip.kind in fixed else next(levels))
        for clip in wanted
        for piece, samples in _pieces(clip)
    ]


def babbles(clips: Sequence[Clip], count: int = BABBLES) -> list[Saying]:
    """Four, five or six people at once, each as loud as the others, 6 s long; the same for the same clips."""
    long = [clip for clip in clips if clip.kind in ("speech", "dialogue") and clip.duration_s >= PIECE_S / 2]
    talking = [samples for clip in long if (samples := _talking(clip)) is not None]
    random = np.random.default_rng(11)
    return [_babble(talking, long[0], number, random) for number in range(count)] if talking else []


def _talking(clip: Clip) -> Samples | None:
    """Somebody without a pause of their own before or behind, at 0 dBFS."""
    samples = load(clip.path, RATE).samples
    voice = voiced(samples, RATE)
    talk = samples[voice.start : voice.end]
    return at_level(talk, voice.level_dbfs, 0.0) if len(talk) > RATE and not _is_soft(clip) else None


def _is_soft(clip: Clip) -> bool:
    return "whisper" in clip.path.name


def _babble(talking: Sequence[Samples], like: Clip, number: int, random: np.random.Generator) -> Saying:
    length = round(PIECE_S * RATE)
    chosen = random.choice(len(talking), _TALKERS[number % len(_TALKERS)], replace=False)
    mixed = np.zeros(length, np.float32)
    for which in chosen:
        one = np.roll(talking[which], -int(random.integers(len(talking[which]))))
        mixed += np.resize(one, length)
    level = BABBLE_LEVELS[number // len(_TALKERS) % len(BABBLE_LEVELS)]
    clip = replace(like, path=Path(f"babble of {len(chosen)}, {number + 1}"), kind="babble", transcript="")
    return Saying(clip, at_level(_faded(mixed), _dbfs(mixed), level), 0, length, level)


def _pieces(clip: Clip) -> Iterator[tuple[Clip, Samples]]:
    samples = load(clip.path, RATE).samples
    length = round(PIECE_S * RATE)
    if len(samples) <= 1.5 * length:
        yield clip, samples
        return
    count = min(PIECES, len(samples) // length)
    for number in range(count):
        at = (len(samples) - length) * (2 * number + 1) // (2 * count)
        name = f"{clip.path.stem} at {at / RATE:.0f} s{clip.path.suffix}"
        yield replace(clip, path=clip.path.with_name(name)), _faded(samples[at : at + length])


def _said(clip: Clip, samples: Samples, level_dbfs: float | None) -> Saying:
    voice = voiced(samples, RATE)
    if level_dbfs is None:
        return Saying(clip, samples, voice.start, voice.end, voice.level_dbfs)
    return Saying(clip, at_level(samples, voice.level_dbfs, level_dbfs), voice.start, voice.end, level_dbfs)


def _faded(samples: Samples) -> Samples:
    ramp = np.linspace(0.0, 1.0, round(_FADE_S * RATE), dtype=np.float32)
    faded = samples.copy()
    faded[: len(ramp)] *= ramp
    faded[-len(ramp) :] *= ramp[::-1]
    return faded


def _dbfs(samples: Samples) -> float:
    return 10.0 * float(np.log10(np.mean(np.square(samples)) + 1e-12))
