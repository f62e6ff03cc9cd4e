"""The recogniser: Whisper in windows as short as the turn, one turn at a time, off the event loop."""

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import anyio
import anyio.to_thread
import numpy as np

from discussion_helper.audio.frames import Samples, silence
from discussion_helper.audio.yielding import call_behind
from discussion_helper.errors import DiscussionError, RecogniserError, SettingError
from discussion_helper.stt.base import Recognised
from discussion_helper.stt.ctranslate import WhisperDecoder, check_files
from discussion_helper.stt.guards import LEAST_VOICED_S, compression_ratio, refusal
from discussion_helper.stt.hints import Hints
from discussion_helper.stt.reading import Abandoned, Decoder, Read, read
from discussion_helper.stt.sticky import Detection, LanguageRule, SessionLanguage
from discussion_helper.stt.windows import RATE

__all__ = ["AUTO", "THREADS", "WhisperRecogniser"]

AUTO = "auto"
"""Instead of a language: the model finds it, and a session stays with it."""
THREADS = 2
"""On two cores two read 3 s of speech (tiny.en) in 83 ms, one in 135; beside programs that never rest in 814 and 906,
see `ctranslate`."""
_T = TypeVar("_T")
_CLOSE_LIMIT_S = 0.3
"""Loading takes longer, and cannot be stopped."""


class WhisperRecogniser:
    """A `Recogniser` on a folder that holds a Whisper model converted for CTranslate2.

    `language`: ISO 639-1, or a tag such as en-GB; with "auto" or None a multilingual model finds it, and `rule` says
    when a session that has one changes it. `hints`: names and words that are likely to be said.

    The model is loaded by `warmup()` or the first turn. A cancelled `recognise` returns at once; what its thread is
    computing cannot be stopped and is awaited by the next call: a step of 0.1 to 0.5 s, after which it gives up.

    Raises ModelMissing and SettingError (hints, threads) here, and ModelCorrupt and SettingError (a language that the
    model does not know) on loading.
    """

    def __init__(
        self,
        model_path: Path,
        *,
        language: str | None = None,
        rule: LanguageRule | None = None,
        hints: Sequence[str] = (),
        threads: int = THREADS,
        load: Callable[[Path, int], Decoder] = WhisperDecoder,
    ) -> None:
        if threads < 1:
            raise SettingError(f"threads: {threads} is too few.", fix="Use 1 or more.")
        check_files(model_path)
        self._load = partial(load, model_path, threads)
        self._path = model_path
        code = (language or AUTO).lower().replace("_", "-").split("-")[0]
        self._session = SessionLanguage("" if code == AUTO else code, rule=rule)
        self._hints = Hints(tuple(hints))
        self._limiter = anyio.CapacityLimiter(1)
        self._busy = threading.Lock()  # the limiter forgets a thread that nobody waits for any more
        self._decoder: Decoder | None = None
        self._closed = False
        self.language = self._session.language
        """Of the last turn that was believed."""

    async def warmup(self) -> None:
        """Load the model and run it once. Raises ModelError, SettingError and RecogniserError."""
        await self._alone(lambda abandoned: self._read(silence(1.0, RATE), 0.0, words=False, abandoned=abandoned))

    async def recognise(self, samples: Samples, *, voiced_s: float | None = None, words: bool = False) -> Recognised:
        """Recognise mono `samples` at 16 kHz. Nothing is computed where there was no voice.

        `words`: whether the times of the words are wanted, which takes one more pass of the decoder, 20 to 60 ms.

        Raises RecogniserError; as `warmup` while the model is not loaded; RuntimeError after `aclose`.
        """
        samples = np.nan_to_num(np.asarray(samples, np.float32).ravel())
        duration_s = len(samples) / RATE
        if min(duration_s, duration_s if voiced_s is None else voiced_s) < LEAST_VOICED_S or not samples.any():
            return Recognised("", refused="no voice")
        began = time.perf_counter()
        evidence_s = duration_s if voiced_s is None else voiced_s
        heard = await self._alone(lambda left: self._read(samples, evidence_s, words=words, abandoned=left))
        recognised = _checked(heard, duration_s=duration_s, voiced_s=voiced_s, took_s=time.perf_counter() - began)
        self.language = recognised.language if recognised.text else self.language
        return recognised

    @property
    def session_language(self) -> str:
        """In which turns are read: the one that was given, or the one that was found; "" while none was."""
        return self._session.language

    def turn_over(self, result: Recognised) -> str:
        """What was recognised has become a turn. The session's language until then, if it is another one from now on.

        Who never calls it has each turn read in the language that is found for it.
        """
        before = self._session.language
        turn = result.detected
        return before if turn is not None and result.text and self._session.take(turn) else ""

    async def aclose(self) -> None:
        """Release the model, after the step that is being computed; one that takes longer than 0.3 s does it itself."""
        self._closed = True
        with anyio.move_on_after(_CLOSE_LIMIT_S, shield=True):
            await anyio.to_thread.run_sync(self._release, limiter=self._limiter, abandon_on_cancel=True)

    async def _alone(self, work: Callable[[Callable[[], bool]], _T]) -> _T:
        if self._closed:
            raise RuntimeError("the recogniser is closed")
        left = threading.Event()

        def run() -> _T:
            with self._busy:
                try:
                    return work(lambda: left.is_set() or self._closed)
                finally:
                    if self._closed:
                        self._drop()

        try:
            return await anyio.to_thread.run_sync(call_behind, run, limiter=self._limiter, abandon_on_cancel=True)
        except DiscussionError:
            raise
        except Abandoned:
            raise RecogniserError("The recogniser was closed before it had the text.") from None
        except Exception as error:  # CTranslate2 raises RuntimeError, ValueError and MemoryError
            reason = " ".join(str(error).split())[:200]
            raise RecogniserError(f"The recogniser failed ({reason}).", fix="Try again.") from error
        finally:
            left.set()

    def _read(self, samples: Samples, voiced_s: float, *, words: bool, abandoned: Callable[[], bool]) -> Read:
        if abandoned():
            raise Abandoned
        if self._decoder is None:
            self._decoder = self._loaded()
        return read(
            self._decoder,
            samples,
            language=self._session.language if self._session.is_fixed else None,
            choose=lambda language, probability: self._session.of(Detection(language, probability, voiced_s)),
            hints=self._hints,
            words=words,
            abandoned=abandoned,
        )

    def _loaded(self) -> Decoder:
        decoder = self._load()
        wanted = self._session.language
        if self._session.is_fixed and not decoder.knows(wanted):
            what = f"language: the model in {self._path} does not know {wanted}."
            raise SettingError(what, fix="Choose a multilingual model (base is one), or a language that it knows.")
        return decoder

    def _release(self) -> None:
        with self._busy:
            self._drop()

    def _drop(self) -> None:
        if self._decoder is not None:
            self._decoder.close()
            self._decoder = None


def _checked(heard: Read, *, duration_s: float, voiced_s: float | None, took_s: float) -> Recognised:
    ratio = compression_ratio(heard.text)
    refused = refusal(
        heard.text,
        duration_s=duration_s,
        voiced_s=voiced_s,
        no_speech_probability=heard.no_speech,
        average_logprob=heard.average_logprob,
        compression_ratio=ratio,
    )
    evidence_s = duration_s if voiced_s is None else voiced_s
    detected = Detection(heard.detected, heard.detected_probability, evidence_s) if heard.detected else None
    return Recognised(
        text="" if refused else heard.text,
        language=heard.language,
        language_probability=heard.language_probability,
        no_speech_probability=heard.no_speech,
        average_logprob=heard.average_logprob,
        compression_ratio=ratio,
        refused=refused,
        took_s=took_s,
        detected=detected,
        words=() if refused else heard.words,
    )
