"""Recognition: the word error rate of the talk's recogniser, and of the same model used as it comes."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import anyio

from discussion_helper.audio.analysis import voiced
from discussion_helper.audio.clips import Clip
from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Samples
from discussion_helper.audio.resample import resample
from discussion_helper.bench.barge_in_run import BargeIn
from discussion_helper.bench.progress import Progress
from discussion_helper.bench.recorded_turns import TAIL_S
from discussion_helper.bench.words import said_once, word_errors, words_of, words_reached
from discussion_helper.errors import ModelMissing
from discussion_helper.models import Store, load_manifest
from discussion_helper.settings import Settings
from discussion_helper.stt.base import Recognised
from discussion_helper.stt.whisper import THREADS, WhisperRecogniser
from discussion_helper.voice.assembly import QUIET_PREROLL_S
from discussion_helper.voice.tail import with_tail

__all__ = [
    "COUNTS",
    "RATE",
    "RecognitionRow",
    "SetRow",
    "compared",
    "count_played",
    "model_path",
    "open_recogniser",
    "recognise_all",
    "sets_of",
    "stock_recogniser",
]

COUNTS = "base"
"""The recogniser that counts words: of 40 replies that were cut it had all within one word, tiny.en 36."""

RATE = 16_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognitionRow:
    """One clip, recognised twice. Times in ms, with the model loaded and warm."""

    clip: str
    speaker: str
    seconds: float
    words: int
    reference: str
    ours: str
    ours_errors: int
    ours_ms: float
    stock: str
    stock_errors: int
    stock_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SetRow:
    """The clips of one set, which is how their names begin; shares of its words that are wrong, in percent."""

    set: str
    clips: int
    words: int
    ours_percent: float
    stock_percent: float


def sets_of(rows: Sequence[RecognitionRow]) -> list[SetRow]:
    """Word error rates by set, in the order of the rows."""
    names = [Path(row.clip).stem.partition("_")[0] for row in rows]
    some = {name: [row for row, of in zip(rows, names, strict=True) if of == name] for name in dict.fromkeys(names)}
    return [_set(name, of) for name, of in some.items()]


def _set(name: str, rows: Sequence[RecognitionRow]) -> SetRow:
    words = sum(row.words for row in rows)
    errors = sum(row.ours_errors for row in rows), sum(row.stock_errors for row in rows)
    ours, stock = (round(100.0 * wrong / max(1, words), 1) for wrong in errors)
    return SetRow(set=name, clips=len(rows), words=words, ours_percent=ours, stock_percent=stock)


def compared(
    clips: Sequence[Clip], settings: Settings, progress: Progress, *, threads: int = THREADS
) -> list[RecognitionRow]:
    """Each clip both ways: first all ours, as a talk hands it over, then all stock. Raises DiscussionError."""
    sounds = [load(clip.path, RATE).samples for clip in clips]
    ours = recognise_all(settings, [_handed_over(sound) for sound in sounds], threads=threads)
    progress.step("recognition", 1, 2, "with the recogniser of the talk")
    stock = stock_recogniser(model_path(settings), settings.language)
    stock(sounds[0])
    others = [_timed(stock, sound) for sound in sounds]
    progress.step("recognition", 2, 2, "with the model as it comes")
    return [_row(clip, one, *other, settings.language) for clip, one, other in zip(clips, ours, others, strict=True)]


def model_path(settings: Settings) -> Path:
    """The recogniser's model on this machine. Raises ModelError."""
    return Store().path_of(load_manifest().model(settings.stt))


@asynccontextmanager
async def open_recogniser(settings: Settings, *, threads: int = THREADS) -> AsyncIterator[WhisperRecogniser]:
    """The recogniser of the talk, warm. Raises ModelError, RecogniserError."""
    recogniser = WhisperRecogniser(model_path(settings), language=settings.language, threads=threads)
    try:
        await recogniser.warmup()
        yield recogniser
    finally:
        with anyio.CancelScope(shield=True):
            await recogniser.aclose()


def recognise_all(
    settings: Settings, sounds: Sequence[Samples], voices_s: Sequence[float] | None = None, *, threads: int = THREADS
) -> list[Recognised]:
    """The recogniser of the talk, on each sound; `took_s` as measured here.

    `voices_s`: how much of each is voice, None = from the first to the last. Raises ModelError, RecogniserError.
    """
    known_s = [_voice_s(sound) for sound in sounds] if voices_s is None else voices_s

    async def recognise() -> list[Recognised]:
        found: list[Recognised] = []
        async with open_recogniser(settings, threads=threads) as recogniser:
            for sound, voiced_s in zip(sounds, known_s, strict=True):
                began = time.perf_counter()
                result = await recogniser.recognise(sound, voiced_s=voiced_s)
                found.append(replace(result, took_s=time.perf_counter() - began))
        return found

    return anyio.run(recognise)


def _handed_over(sound: Samples) -> Samples:
    """What a talk gives to the recogniser in the pause behind it."""
    voice = voiced(sound, RATE)
    return with_tail(sound[max(0, voice.start - round(QUIET_PREROLL_S * RATE)) : voice.end + round(TAIL_S * RATE)])


def _voice_s(sound: Samples) -> float:
    voice = voiced(sound, RATE)
    return (voice.end - voice.start) / RATE


def stock_recogniser(path: Path, language: str) -> Callable[[Samples], str]:
    """The same model in `faster_whisper.WhisperModel.transcribe`, which pads every sound to 30 s.

    With the same 8-bit weights and the same greedy search, and everything else left as it is.
    """
    from faster_whisper import WhisperModel

    model = WhisperModel(str(path), device="cpu", compute_type="int8", local_files_only=True)

    def recognise(samples: Samples) -> str:
        segments, _ = model.transcribe(samples, language=language, beam_size=1)
        return " ".join(segment.text.strip() for segment in segments)

    return recognise


def count_played(barge_ins: Sequence[BargeIn], settings: Settings) -> list[BargeIn]:
    """Count the words in what was played of each interrupted reply: with COUNTS, where it is here.

    Raises DiscussionError.
    """
    cut = [one for one in barge_ins if one.row.interrupted and len(one.played)]
    sounds = [resample(one.played, one.rate, RATE) for one in cut]
    results = recognise_all(_counting(settings), sounds)
    counted = {id(one): one.counted(_reached(one, result)) for one, result in zip(cut, results, strict=True)}
    return [counted.get(id(one), one) for one in barge_ins]


def _counting(settings: Settings) -> Settings:
    try:
        Store().path_of(load_manifest().model(COUNTS))
    except ModelMissing:
        return settings
    return replace(settings, stt=COUNTS)


def _reached(one: BargeIn, result: Recognised) -> int:
    said = words_of(one.said)
    return words_reached(said, said_once(words_of(result.text), said))


def _timed(recognise: Callable[[Samples], str], sound: Samples) -> tuple[str, float]:
    began = time.perf_counter()
    return recognise(sound), time.perf_counter() - began


def _row(clip: Clip, ours: Recognised, stock: str, stock_s: float, language: str) -> RecognitionRow:
    reference = words_of(clip.transcript, language)
    return RecognitionRow(
        clip=clip.path.name,
        speaker=clip.speaker,
        seconds=clip.duration_s,
        words=len(reference),
        reference=clip.transcript,
        ours=ours.text,
        ours_errors=word_errors(reference, words_of(ours.text, language)),
        ours_ms=round(ours.took_s * 1e3, 1),
        stock=stock,
        stock_errors=word_errors(reference, words_of(stock, language)),
        stock_ms=round(stock_s * 1e3, 1),
    )
