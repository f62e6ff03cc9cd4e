"""Speech at the rate of a loudspeaker, whole or in parts."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from functools import partial

import anyio

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.resample import ClipResampler, resample
from discussion_helper.tts.base import SpeaksInParts, Speech, Synthesiser, Word

__all__ = ["speech_in_parts", "speech_of"]


async def speech_of(synthesiser: Synthesiser, text: str, rate: int) -> Speech:
    """All of it. Raises SynthesisError."""
    speech = await synthesiser.synthesise(text)
    if speech.rate == rate:
        return speech
    samples = await anyio.to_thread.run_sync(resample, speech.samples, speech.rate, rate)
    return _at(speech, rate, samples=samples)


async def speech_in_parts(synthesiser: Synthesiser, text: str, rate: int) -> AsyncGenerator[Speech, None]:
    """It as it is made, where the synthesiser gives parts, else all of it. Raises SynthesisError."""
    if not isinstance(synthesiser, SpeaksInParts):
        yield await speech_of(synthesiser, text, rate)
        return
    resampler: ClipResampler | None = None
    async with aclosing(synthesiser.parts(text)) as parts:
        async for part in parts:
            if part.rate == rate:
                yield part
                continue
            resampler = resampler or ClipResampler(part.rate, rate)
            work = partial(resampler.process, part.samples, last=not part.more)
            yield _at(part, rate, samples=await anyio.to_thread.run_sync(work))


def _at(speech: Speech, rate: int, *, samples: Samples) -> Speech:
    """What it says keeps its place in time."""
    words = speech.words and tuple(
        Word(word.end, word.start * rate // speech.rate, word.stop * rate // speech.rate) for word in speech.words
    )
    return replace(speech, samples=samples, rate=rate, words=words)
