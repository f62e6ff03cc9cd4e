"""Recognition: the word error rate of the talk's recogniser, and of the same model used as it comes."""

import time
from collections.abc import Callable, Sequence
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
from discussion_helper.bench.words import word_errors, words_of, words_reached
from discussion_helper.models import Store, load_manifest
from discussion_helper.settings import Settings
from discussion_helper.stt.base import Recognised

__all__ = ["RATE", "RecognitionRow", "compared", "count_played", "model_path", "recognise_all", "stock_recogniser"]

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


def compared(clips: Sequence[Clip], settings: Settings, progress: Progress) -> list[RecognitionRow]:
    """Recognise each clip both ways, first all ours, then all stock. Raises DiscussionError."""
    path = model_path(settings)
    sounds = [load(clip.path, RATE).samples for clip in clips]
    ours = recognise_all(path, settings.language, sounds)
    progress.step("recognition", 1, 2, "with the recogniser of the talk")
    stock = stock_recogniser(path, settings.language)
    stock(sounds[0])
    others = [_timed(stock, sound) for sound in sounds]
    progress.step("recognition", 2, 2, "with the model as it comes")
    return [_row(clip, one, *other, settings.language) for clip, one, other in zip(clips, ours, others, strict=True)]


def model_path(settings: Settings) -> Path:
    """The recogniser's model on this machine. Raises ModelError."""
    return Store().path_of(load_manifest().model(settings.stt))


def recognise_all(path: Path, language: str, sounds: Sequence[Samples]) -> list[Recognised]:
    """The recogniser of the talk, on each sound; `took_s` as measured here. Raises RecogniserError."""

    async def recognise() -> list[Recognised]:
        from discussion_helper.stt.whisper import WhisperRecogniser

        recogniser = WhisperRecogniser(path, language=language)
        found: list[Recognised] = []
        try:
            await recogniser.warmup()
            for sound in sounds:
                voice = voiced(sound, RATE)
                began = time.perf_counter()
                result = await recogniser.recognise(sound, voiced_s=(voice.end - voice.start) / RATE)
                found.append(replace(result, took_s=time.perf_counter() - began))
        finally:
            with anyio.CancelScope(shield=True):
                await recogniser.aclose()
        return found

    return anyio.run(recognise)


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
    """Count the words in what was played of each interrupted reply. Raises DiscussionError."""
    cut = [one for one in barge_ins if one.row.interrupted and len(one.played)]
    sounds = [resample(one.played, one.rate, RATE) for one in cut]
    results = recognise_all(model_path(settings), settings.language, sounds)
    counted = {id(one): one.counted(_reached(one, result)) for one, result in zip(cut, results, strict=True)}
    return [counted.get(id(one), one) for one in barge_ins]


def _reached(one: BargeIn, result: Recognised) -> int:
    return words_reached(words_of(one.said), words_of(result.text))


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
