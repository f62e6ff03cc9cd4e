"""The rules of recognisers."""

from functools import partial
from typing import Any

import numpy as np

from discussion_helper.audio.frames import Samples, silence
from discussion_helper.stt.base import Recognised, Recogniser
from discussion_helper.testing.conformance.bench import Bench
from discussion_helper.testing.conformance.calls import accepted, result_of
from discussion_helper.testing.conformance.course import LATER, course_checks, left_long, works_still
from discussion_helper.testing.conformance.ending import closing_checks, ending_checks
from discussion_helper.testing.conformance.port import ANSWERS, Port
from discussion_helper.testing.conformance.rule import Broken, expect
from discussion_helper.testing.conformance.sounds import speech_of
from discussion_helper.testing.conformance.suite import Check, Suite

__all__ = ["RECOGNISER_RULES", "check_recogniser"]

_RATE = 16_000
_LONG_S = 120.0
"""Twice the longest turn that the detectors let through."""


async def _hear(part: Recogniser, seconds: float) -> Recognised:
    return await part.recognise(speech_of(seconds), voiced_s=seconds)


def _fits(recognised: Any, seconds: float) -> None:
    expect(isinstance(recognised, Recognised), f"for {seconds:g} s it gave {type(recognised).__name__}, no Recognised")
    expect(isinstance(recognised.text, str), f"its text is {recognised.text!r}")


_PORT = Port(name="recogniser", call=_hear, given=(1.0, 2.0, 3.0), fits=_fits)


async def _of(bench: Bench[Recogniser], samples: Samples, voiced_s: float | None = None) -> Any:
    call = partial(bench.part.recognise, samples, voiced_s=voiced_s)
    return await result_of(call, within_s=bench.limits.call_s)


async def _answers(bench: Bench[Recogniser]) -> None:
    for seconds in _PORT.given:
        for voiced_s in (seconds, None):
            _fits(await _of(bench, speech_of(seconds), voiced_s), seconds)


async def _nothing(bench: Bench[Recogniser]) -> None:
    for samples in (silence(0.0, _RATE), silence(1.0, _RATE)):
        what = f"for {len(samples)} samples without a voice"
        try:
            recognised = await _of(bench, samples, 0.0)
        except Broken as broken:
            raise Broken(f"{what} {broken}") from None
        expect(recognised.text == "", f"{what} it gave {recognised.text!r}")


async def _odd(bench: Bench[Recogniser]) -> None:
    sound = speech_of(1.0)
    odd = {
        "one sample": sound[:1],
        "samples with NaN and infinity": np.where(np.arange(len(sound)) % 7 == 0, np.float32(np.nan), sound) / 0.5,
        "samples of full scale and more": np.clip(sound * 1e6, -100.0, 100.0),
        "every second sample of an array": sound[::2],
    }
    odd["samples with NaN and infinity"][1] = np.inf
    for what, samples in odd.items():
        call = partial(bench.part.recognise, samples, voiced_s=len(samples) / _RATE)
        await accepted(call, what, within_s=bench.limits.call_s)


async def _leaves(bench: Bench[Recogniser]) -> None:
    """Those of a frame cannot be written to; those of a copy can."""
    fixed, copy = speech_of(1.0), speech_of(1.0).copy()
    await _of(bench, fixed, 1.0)
    await _of(bench, copy, 1.0)
    expect(np.array_equal(fixed, copy), "it changed the samples that it was given")


async def _long(bench: Bench[Recogniser]) -> None:
    await left_long(bench, partial(_hear, bench.part, _LONG_S), f"in {_LONG_S:g} s of sound")
    await works_still(_PORT)(bench)


check_recogniser: Suite[Recogniser] = _PORT.suite(
    Check(
        _PORT.rule(
            ANSWERS,
            "recognise(samples, voiced_s=...) gives a Recognised with a text, with voiced_s None as well.",
            "Return discussion_helper.stt.base.Recognised(text).",
        ),
        _answers,
    ),
    Check(
        _PORT.rule(
            "nothing-is-no-text",
            'No samples, or a second of zeros in which no voice was heard, give the text "" and no error.',
            'Return Recognised("", refused="no voice") without asking the model.',
        ),
        _nothing,
        (ANSWERS,),
    ),
    Check(
        _PORT.rule(
            "samples-are-left-alone",
            "Samples that cannot be written to are taken, and none are changed.",
            "Copy before changing anything in place.",
        ),
        _leaves,
        (ANSWERS,),
    ),
    *course_checks(_PORT),
    Check(
        _PORT.rule(
            "odd-samples-are-read-or-refused",
            "One sample, NaN, far beyond full scale, not contiguous: read, or refused with a RecogniserError.",
            "Clean them with np.nan_to_num and np.ascontiguousarray; wrap the library's errors in RecogniserError.",
        ),
        _odd,
        (ANSWERS,),
    ),
    Check(
        _PORT.rule(
            "long-sound-can-be-left",
            "Two minutes of sound are read, refused, or can be cancelled; then it works still.",
            "Work in windows, and look at the cancellation between them.",
        ),
        _long,
        (LATER,),
    ),
    *closing_checks(_PORT),
    *ending_checks(_PORT),
)
"""What a talk needs. What is asked of it is a sound like speech."""
RECOGNISER_RULES = check_recogniser.rules
