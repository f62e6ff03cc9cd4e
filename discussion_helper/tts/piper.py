"""The Piper synthesiser: a small local voice on onnxruntime, with espeak-ng's phonemes."""

import os
from collections.abc import AsyncGenerator, Callable
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread
import numpy as np
from numpy.typing import NDArray

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.yielding import call_behind
from discussion_helper.errors import DiscussionError, SettingError, SynthesisError
from discussion_helper.event_loop import start_in
from discussion_helper.tts.base import Speech, Word
from discussion_helper.tts.edges import even, gain_of, pause_after, pieces, shape
from discussion_helper.tts.first_sound import Begun, FirstSound, first_sound
from discussion_helper.tts.network import Network, Run, Stopped, load_voice
from discussion_helper.tts.phonemes import Phoneme, Sounds, moved, timed
from discussion_helper.tts.speakable import speakable
from discussion_helper.tts.voice_files import find_voice
from discussion_helper.tts.words import Piece, words_of

__all__ = ["PiperSynthesiser"]

T = TypeVar("T")

_LONGEST = 120
"""Characters synthesised in one run. The network keeps the memory of its longest run: after clauses of 150 characters
a process held 363 MB with 160 here, 281 with 120 and 270 with 100 (measured); for 62 s of audio it is 1.6 GB. Most
clauses are shorter than that anyway, and where one is parted without a mark it is heard."""

_CLOSE_LIMIT_S = 0.3

_WORDS_REMEMBERED = 4096

_LEVEL = 10 ** (-20 / 20)
"""RMS of speech, full scale 1.0: single words and long clauses sound equally loud."""


class PiperSynthesiser:
    """Speaks with the Piper voice at `path`, an .onnx file or the folder that holds it.

    `language` says how numbers and signs are read, by default as the voice speaks. `speed` 1.0 is the voice's own,
    2.0 twice as fast. `speaker` picks one of a voice with several. `steady` makes equal text give equal samples, bit
    by bit, at the cost of a flatter voice. `threads` of the network; more than two gain nothing on a clause.

    The description is read at once; the network is loaded by `warmup` or the first call, in a worker thread.
    Raises ModelMissing, ModelCorrupt and SettingError.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        language: str | None = None,
        speed: float = 1.0,
        speaker: int = 0,
        steady: bool = False,
        threads: int = 2,
    ) -> None:
        if not 0.25 <= speed <= 4:
            raise SettingError(f"speed is {speed}.", fix="Choose a speed from 0.25 to 4.")
        if threads < 1:
            raise SettingError(f"threads is {threads}.", fix="Choose at least one thread.")
        self._files = find_voice(Path(path))
        if not 0 <= speaker < self._files.speakers:
            raise SettingError(f"speaker is {speaker}.", fix=f"Choose one from 0 to {self._files.speakers - 1}.")
        self.rate = self._files.rate
        self._language = language or self._files.language
        noise, length, length_noise = self._files.scales
        self._scales = (0.0 if steady else noise, length / speed, 0.0 if steady else length_noise)
        self._speaker = speaker
        self._threads = threads
        self._limiter = anyio.CapacityLimiter(1)
        """One clause at a time."""
        self._threads_limiter = anyio.CapacityLimiter(1)
        self._network: Network | None = None
        self._gain: float | None = None
        """Of the last clause that was made whole, for those that are heard before they are."""
        self._sounds: Sounds | None = None
        self._current: Run | None = None
        self._closed = False

    async def synthesise(self, text: str) -> Speech:
        """Speak `text`. Text with nothing to say gives empty samples. Cancelling it stops the network.

        The first sound comes 10 ms after the start; after the last one there is a pause, by the mark that ends the
        text. The speech tells its words' times wherever the network tells the phonemes' durations, which is all that
        Piper's own training makes. Raises SynthesisError, and ModelCorrupt when the network's file is none.
        """
        run = Run()
        async with self._limiter:
            return await self._made(partial(self._guarded, partial(self._whole, text, run), run), run, gives_back=True)

    async def parts(self, text: str) -> AsyncGenerator[Speech, None]:
        """`synthesise` in two parts: the first 0.4 s, which are there after less than half of the time, and the rest.

        Where the network has no halves, and where a clause is short or takes several runs, it comes in one. The samples
        are those of the whole, but for their level, which is that of the clause before. Raises as `synthesise` does.
        """
        run = Run()
        async with self._limiter:  # nobody else's clause in between
            begun = await self._made(partial(self._guarded, partial(self._begin, text, run), run), run)
            yield begun.speech
            if begun.rest is not None:
                run = Run()  # the other one was stopped at its end
                yield await self._made(partial(self._guarded, partial(begun.rest, run), run), run, gives_back=True)

    async def _made(self, work: Callable[[], T | None], run: Run, *, gives_back: bool = False) -> T:
        """What `work` makes in a worker thread, None when it was stopped. Cancelling it stops the network."""
        if self._closed:
            raise RuntimeError("the synthesiser is closed")
        failure, made = None, None
        # The recogniser's memory is free behind it: it is needed again when somebody speaks, which is seldom now.
        behind = partial(call_behind, work, gives_back=gives_back)
        async with anyio.create_task_group() as group:
            start_in(group, run.stop_when_cancelled)
            try:
                made = await anyio.to_thread.run_sync(behind, limiter=self._threads_limiter)
            except DiscussionError as error:
                failure = error  # kept out of the task group, which would wrap it
            group.cancel_scope.cancel()
        await anyio.lowlevel.checkpoint_if_cancelled()
        if made is None:
            raise failure or SynthesisError("The synthesiser was closed while it spoke.")
        return made

    async def warmup(self) -> None:
        """Load the network, the phonemiser and the number words. Raises as `synthesise` does."""
        await self.synthesise("Ready, 1.")

    async def aclose(self) -> None:
        """Stop what is being synthesised and release the network, within 0.3 s; idempotent.

        A network that is being loaded is released when it has been.
        """
        self._closed = True
        if self._current is not None:
            self._current.stop()
        with anyio.move_on_after(_CLOSE_LIMIT_S, shield=True):
            async with self._limiter:  # a stopped run ends within milliseconds
                self._network = self._sounds = None

    def _guarded(self, work: Callable[[], T], run: Run) -> T | None:
        """What `work` makes, None when stopped. In a worker thread, one at a time."""
        self._current = run
        try:
            if self._closed:
                raise Stopped
            return work()
        except Stopped:
            return None
        except DiscussionError:
            raise
        except Exception as error:  # espeak and onnxruntime raise what they like
            line = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise SynthesisError(
                f"The voice {self._files.name} failed ({line}).", fix="Choose another voice."
            ) from error
        finally:
            self._current = None
            if self._closed:
                self._network = self._sounds = None

    def _whole(self, text: str, run: Run) -> Speech:
        samples, read = self._samples(speakable(text, self._language), run)
        self._gain = gain_of(samples, level=_LEVEL) if samples.any() else self._gain
        return Speech(text, even(samples, level=_LEVEL), self.rate, self._words(text, read))

    def _begin(self, text: str, run: Run) -> Begun:
        """The first part of it, or all."""
        spoken = speakable(text, self._language)
        if self._gain is None or len(pieces(spoken, longest=_LONGEST)) != 1:
            return Begun(self._whole(text, run))
        network = self._loaded()
        sentences = network.voice.phonemize(spoken)
        if network.decoder is None or len(sentences) != 1:
            return Begun(self._whole(text, run))
        inputs = self._inputs(network.voice.phonemes_to_ids(sentences[0]))
        frames = run.frames(network.voice.session, inputs, network.decoder)
        first = first_sound(run, network.decoder, frames, rate=self.rate)
        if first is None or frames.widths is None:
            return Begun(self._whole(text, run))
        gain = np.float32(min(self._gain, gain_of(first.samples, level=1.0)))
        placed = self._placed(sentences[0], frames.widths * first.hop, -first.start, first.length)
        words = None if placed is None else self._words(text, [(spoken, placed)])
        rest = partial(self._rest, first, gain, pause_after("".join(sentences[0])))
        return Begun(Speech(text, first.samples * gain, self.rate, words, more=True), rest)

    def _rest(self, first: FirstSound, gain: np.float32, pause_s: float, run: Run) -> Speech:
        return Speech("", first.rest(run, rate=self.rate, pause_s=pause_s) * gain, self.rate)

    def _loaded(self) -> Network:
        self._network = self._network or load_voice(self._files, threads=self._threads)
        return self._network

    def _placed(
        self, phonemes: list[str], widths: NDArray[np.int64] | None, at: int, length: int
    ) -> list[Phoneme] | None:
        """The phonemes of a sentence whose sound begins at the first of `length` samples, `at` after its making."""
        own = timed(phonemes, self._loaded().voice.config.phoneme_id_map, widths)
        return None if own is None else moved(own, at, 0, length)

    def _samples(self, spoken: str, run: Run) -> tuple[Samples, list[Piece] | None]:
        """The audio, and where in it the phonemes of each piece are; None if the network does not tell."""
        parts, at = [np.zeros(0, np.float32)], 0
        found: list[Piece] | None = []
        for piece in pieces(spoken, longest=_LONGEST):
            if self._closed:
                raise Stopped
            voice = self._loaded().voice
            placed: list[Phoneme] = []
            for phonemes in voice.phonemize(piece):
                made = run.make(voice.session, self._inputs(voice.phonemes_to_ids(phonemes)))
                part, before = shape(made.samples, self.rate, pause_s=pause_after("".join(phonemes)))
                own = timed(phonemes, voice.config.phoneme_id_map, made.widths)
                if own is None:
                    found = None
                else:
                    placed += moved(own, at - before, at, len(part))
                parts.append(part)
                at += len(part)
            found = None if found is None else [*found, (piece, placed)]
        return np.concatenate(parts), found

    def _words(self, text: str, read: list[Piece] | None) -> tuple[Word, ...] | None:
        if read is None:
            return None
        return words_of(text, read, language=self._language, sounds=self._sounds or self._remembered())

    def _remembered(self) -> Sounds:
        """How words are read out alone, the last ones remembered: asking the phonemiser takes 0.2 ms each."""
        network = self._network

        def sounds(word: str) -> list[str]:
            return [symbol for sentence in network.voice.phonemize(word) for symbol in sentence] if network else []

        self._sounds = lru_cache(maxsize=_WORDS_REMEMBERED)(sounds)
        return self._sounds

    def _inputs(self, ids: list[int]) -> dict[str, Any]:
        inputs: dict[str, Any] = {
            "input": np.array([ids], np.int64),
            "input_lengths": np.array([len(ids)], np.int64),
            "scales": np.array(self._scales, np.float32),
        }
        if self._files.speakers > 1:
            inputs["sid"] = np.array([self._speaker], np.int64)
        return inputs
