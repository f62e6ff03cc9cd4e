"""One-word answers: recorded words that stand alone, and what becomes of a word said into a quiet room."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from discussion_helper.audio.analysis import voiced
from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Samples
from discussion_helper.bench.clips import FIX_CLIPS
from discussion_helper.bench.listening import RATE, read_turn, turns_in_room
from discussion_helper.errors import AudioFileError
from discussion_helper.stt.base import Recogniser
from discussion_helper.turn.turns import TurnSegmenter

__all__ = ["ANSWERS", "LEVELS_DBFS", "Word", "WordRow", "recorded_words", "taken"]

ANSWERS = (
    *("yes", "no", "stop", "okay", "sure", "maybe", "never", "always", "nothing", "tomorrow"),
    *("seven", "twelve", "left", "right", "red", "blue", "coffee", "later", "hello", "thanks"),
)
"""Twenty, to be spoken by a synthesiser."""
LEVELS_DBFS = (-26.0, -38.0)
"""Somebody near the microphone, and somebody who speaks softly or sits back."""
_SINGLE = (
    *("speech/common_voice_en_22058264.mp3", "speech/nst_sv_se10x016-08071999-1334_u0016002.wav"),
    *("speech/sphinx_cards_004.wav", "speech/sphinx_cards_002.wav", "backchannel/ami_trn00_10.48.wav"),
    *("speech/cmu_arctic_a0009.wav", "speech/jfk.wav"),
)
"""Recordings with words that stand alone."""
_LEAST, _MOST = 20, 60
"""Frames of 10 ms that such a word is long."""
_LOUD = 0.08
"""Of a recording's loud moments: what is louder is a word, what is not its pause."""


@dataclass(frozen=True, slots=True, eq=False)
class Word:
    """`samples` at 16 kHz. `text`: what is said, where that is known, else ""."""

    name: str
    samples: Samples
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class WordRow:
    """One word, said once. `text`: what was understood in the turns that it was taken for; `refused`: why nothing.

    `said`: the word, where that is known, else "". `taken`: it is one turn, and has words.
    """

    name: str
    said: str = ""
    level_dbfs: float
    turns: int
    voiced_s: float
    text: str
    refused: str = ""
    taken: bool


def recorded_words(folder: Path, most: int = 20) -> list[Word]:
    """Pieces of 0.2 to 0.6 s between two silences: "no", "okay", numbers, and the like. Blocks while it loads.

    Raises AudioFileError.
    """
    found: list[Word] = []
    for name in _SINGLE:
        samples = load(folder / name, RATE).samples
        for start, stop in _pieces(samples):
            found.append(Word(f"{Path(name).stem}@{start / 100:.2f}", samples[start * 160 : stop * 160]))
    if not found:
        raise AudioFileError(f"No word stands alone in the recordings of {folder}.", fix=FIX_CLIPS)
    return found[:most]


def _pieces(samples: Samples) -> Iterator[tuple[int, int]]:
    level = np.sqrt(np.square(samples[: len(samples) // 160 * 160]).reshape(-1, 160).mean(axis=1))
    loud = np.convolve(level > _LOUD * np.percentile(level, 97), np.ones(9), mode="same") > 0
    edges = np.flatnonzero(np.diff(np.concatenate(([0], loud.astype(int), [0]))))
    for start, stop in edges.reshape(-1, 2):
        if _LEAST <= stop - start <= _MOST:
            yield int(start), int(stop)


async def taken(word: Word, level_dbfs: float, segmenter: TurnSegmenter, recogniser: Recogniser) -> WordRow:
    """Say it in a room with a faint noise, and have recognised what the detectors take for a turn."""
    turns = turns_in_room(_at(word.samples, level_dbfs), segmenter)
    read = [await read_turn(turn, recogniser) for turn in turns]
    text = " ".join(one.text for one in read if one.text)
    return WordRow(
        name=word.name,
        said=word.text,
        level_dbfs=level_dbfs,
        turns=len(turns),
        voiced_s=round(sum(turn.voiced_s for turn in turns), 3),
        text=text,
        refused=" ".join(one.refused for one in read if one.refused),
        taken=len(turns) == 1 and bool(text),
    )


def _at(samples: Samples, level_dbfs: float) -> Samples:
    span = voiced(samples, RATE)
    power = float(np.mean(np.square(samples[span.start : span.end])))
    return np.asarray(samples * (10.0 ** (level_dbfs / 20.0) / np.sqrt(power)), np.float32)
