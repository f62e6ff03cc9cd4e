"""The Whisper model in CTranslate2: one window in, tokens out."""

from pathlib import Path
from typing import Any

import numpy as np

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.spinning import READING_SPINS, brief_spins
from discussion_helper.errors import ModelCorrupt, ModelMissing
from discussion_helper.stt.base import TimedWord
from discussion_helper.stt.mel import LogMel
from discussion_helper.stt.reading import Decoded

__all__ = ["WhisperDecoder", "check_files"]

_FILES = ("config.json", "model.bin", "tokenizer.json")
_ENGLISH_TOKENS_PER_S = 6  # twice what fast speech needs: a loop ends early
_TOKENS_PER_S = 14  # the vocabulary is made for English: others take 1.5 (Spanish) to 4 times as many (Japanese)
_MORE_TOKENS = 10
_MOST_TOKENS = 448
_MOST_BEFORE = _MOST_TOKENS // 2 - 1  # what Whisper was trained to be told
_TICK_S = 0.02


def check_files(folder: Path) -> None:
    """Raise ModelMissing, which names the file, unless `folder` holds a converted Whisper model."""
    for name in _FILES:
        if not (folder / name).is_file():
            raise ModelMissing(f"The recogniser's file {folder / name} does not exist.", fix=_pull(folder))


class WhisperDecoder:
    """A `Decoder` in 8-bit integers on the CPU; blocking, for one thread at a time.

    With tiny.en the process grows by 90 MB when it loads and by another 75 MB when it works; with base by 105 and
    90 MB. Raises ModelMissing and ModelCorrupt.
    """

    def __init__(self, folder: Path, threads: int) -> None:
        check_files(folder)
        with brief_spins(READING_SPINS):
            import ctranslate2
        import tokenizers

        try:
            self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
            self._end, self._untimed = self._token("<|endoftext|>"), self._token("<|notimestamps|>")
            self._model = ctranslate2.models.Whisper(
                str(folder), device="cpu", compute_type="int8", inter_threads=1, intra_threads=threads
            )
        except Exception as error:  # tokenizers raises Exception itself
            reason = " ".join(str(error).split())[:200]
            raise ModelCorrupt(f"The recogniser in {folder} cannot be loaded ({reason}).", fix=_pull(folder)) from error
        self._mel = LogMel(self._model.n_mels)
        self._storage = ctranslate2.StorageView
        self._multilingual: bool = self._model.is_multilingual

    def knows(self, language: str) -> bool:
        """Only English, for an English model."""
        if not self._multilingual:
            return language == "en"
        return self._tokenizer.token_to_id(f"<|{language}|>") is not None

    def encode(self, samples: Samples, frames: int) -> Any:
        """Log-mel spectrum of samples at 16 kHz, padded with its mean level to `frames`, through the encoder."""
        mel = self._mel(samples)[:, :frames]
        window = np.zeros((1, mel.shape[0], frames), np.float32)
        window[0, :, : mel.shape[1]] = mel
        return self._model.encode(self._storage.from_array(window))

    def detect(self, encoded: Any) -> tuple[str, float]:
        """The likeliest language of an encoded window; always English for an English model."""
        if not self._multilingual:
            return "en", 1.0
        token, probability = self._model.detect_language(encoded)[0][0]
        return token.strip("<|>"), float(probability)

    def decode(self, encoded: Any, *, language: str, seconds: float, timestamps: bool, hints: str = "") -> Decoded:
        """Decode greedily."""
        prompt = self._before(hints) + self._prompt(language, timestamps=timestamps)
        rate = _ENGLISH_TOKENS_PER_S if language == "en" else _TOKENS_PER_S
        most = len(prompt) + round(rate * seconds) + _MORE_TOKENS
        result = self._model.generate(
            encoded,
            [prompt],
            beam_size=1,
            max_length=min(_MOST_TOKENS, most),
            return_scores=True,
            return_no_speech_prob=True,
        )[0]
        return self._decoded(result.sequences_ids[0], result.scores[0], result.no_speech_prob)

    def times(self, encoded: Any, ids: tuple[int, ...], *, language: str, seconds: float) -> list[TimedWord]:
        """Where the decoder looked while it said the words, by its cross-attention; one more pass of the decoder."""
        from discussion_helper.stt.word_times import grouped, timed

        text = [token for token in ids if token < self._end]
        if not text:
            return []
        start, frames = self._prompt(language, timestamps=True), max(1, round(seconds * 100))
        [aligned] = self._model.align(encoded, start, [text], frames)
        words = grouped(self._tokenizer, text, language if self._multilingual else "en")
        return timed(words, aligned.alignments, seconds=seconds)

    def close(self) -> None:
        """Give the memory back."""
        self._model.unload_model()

    def _prompt(self, language: str, *, timestamps: bool) -> list[int]:
        names = ["<|startoftranscript|>"]
        if self._multilingual:
            names += [f"<|{language}|>", "<|transcribe|>"]
        return [self._token(name) for name in names] + ([] if timestamps else [self._untimed])

    def _before(self, hints: str) -> list[int]:
        if not hints:
            return []
        found = self._tokenizer.encode(f" {hints}", add_special_tokens=False).ids
        return [self._token("<|startofprev|>"), *found[:_MOST_BEFORE]]

    def _decoded(self, ids: list[int], score: float, no_speech: float) -> Decoded:
        ends = [at for at, token in enumerate(ids) if at and token > self._untimed]
        last = ends[-1] if ends else 0
        pair = len(ends) > 1 and ends[-2] == last - 1
        return Decoded(
            text=self._text(ids),
            closed=self._text(ids[:last]),
            closed_s=(ids[last] - self._untimed - 1) * _TICK_S if ends else 0.0,
            finished=bool(ends) and last == len(ids) - 1 and not pair and bool(self._text(ids)),
            logprob=score * len(ids),
            tokens=len(ids) + 1,  # the end of the text has been decoded too
            no_speech=no_speech,
            ids=tuple(ids),
            closed_ids=tuple(ids[:last]),
        )

    def _text(self, ids: list[int]) -> str:
        return str(self._tokenizer.decode([token for token in ids if token < self._end]))

    def _token(self, name: str) -> int:
        if (token := self._tokenizer.token_to_id(name)) is None:
            raise ValueError(f"its tokenizer lacks {name}")
        return token


def _pull(folder: Path) -> str:
    return f"Run: discussion-helper models pull {folder.name}"
