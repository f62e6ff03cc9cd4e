"""One-word answers: twenty cut out of recordings and twenty of the talk's voice, each near and far."""

from pathlib import Path

import anyio

from discussion_helper.audio.resample import resample
from discussion_helper.bench.listening import RATE, segmenter_with
from discussion_helper.bench.one_word import ANSWERS, LEVELS_DBFS, Word, WordRow, recorded_words, taken
from discussion_helper.bench.progress import Progress
from discussion_helper.bench.recognition import open_recogniser
from discussion_helper.bench.words import words_of
from discussion_helper.choices import choose
from discussion_helper.settings import Settings
from discussion_helper.turn.policy_endpointer import PolicyEndpointer

__all__ = ["run_one_words"]


def run_one_words(folder: Path, settings: Settings, words: int, progress: Progress) -> list[WordRow]:
    """Say `words` of each kind at each level; `folder` has the project's clips. Raises DiscussionError."""

    async def run() -> list[WordRow]:
        said = [*recorded_words(folder, words), *await _spoken(settings, words)]
        planned = [(word, dbfs) for dbfs in LEVELS_DBFS for word in said]
        segmenter, rows = segmenter_with(PolicyEndpointer()), []
        async with open_recogniser(settings) as recogniser:
            for word, dbfs in planned:
                rows.append(await taken(word, dbfs, segmenter, recogniser))
                progress.step("one-word", len(rows), len(planned), f"{word.name} at {dbfs:.0f} dBFS: {_fate(rows[-1])}")
        return rows

    return anyio.run(run)


def _fate(row: WordRow) -> str:
    if not row.taken:
        return f"not taken ({row.turns} turns, {row.refused or 'no text'})"
    return "taken" if not row.said or words_of(row.text) == words_of(row.said) else f'taken, as "{row.text}"'


async def _spoken(settings: Settings, words: int) -> list[Word]:
    """The answers are English, so another language has none."""
    from discussion_helper.tts.piper import PiperSynthesiser

    if settings.language != "en":
        return []
    voice = PiperSynthesiser(choose(settings, answers=False).voice, steady=True)
    try:
        said = [await voice.synthesise(f"{text.capitalize()}.") for text in ANSWERS[:words]]
    finally:
        with anyio.CancelScope(shield=True):
            await voice.aclose()
    sounds = [resample(speech.samples, speech.rate, RATE) for speech in said]
    return [Word(text, sound, text) for text, sound in zip(ANSWERS, sounds, strict=False)]
