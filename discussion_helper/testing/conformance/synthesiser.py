"""The rules of synthesisers."""

from functools import partial
from typing import Any

import numpy as np

from discussion_helper.testing.conformance.bench import Bench
from discussion_helper.testing.conformance.calls import accepted, result_of
from discussion_helper.testing.conformance.course import LATER, course_checks, left_long, works_still
from discussion_helper.testing.conformance.ending import closing_checks, ending_checks
from discussion_helper.testing.conformance.port import ANSWERS, Port
from discussion_helper.testing.conformance.rule import Broken, expect
from discussion_helper.testing.conformance.suite import Check, Suite
from discussion_helper.testing.conformance.texts import LONG_TEXTS, NOTHING, ODD
from discussion_helper.tts.base import Speech, Synthesiser

__all__ = ["SYNTHESISER_RULES", "check_synthesiser"]

_SHORT, _SENTENCE, _OTHER = "Yes.", "The train leaves from platform four at ten past nine.", "It rains again."
_RATES = 4_000, 192_000


async def _speak(part: Synthesiser, text: str) -> Speech:
    return await part.synthesise(text)


def _fits(speech: Any, text: str) -> None:
    expect(isinstance(speech, Speech), f"it gave {type(speech).__name__}, no Speech")
    expect(speech.text == text, f"for {text!r} it gave the speech of {speech.text!r}")
    expect(len(speech.samples) > 0, f"for {text!r} it gave no samples")


_PORT = Port(
    name="synthesiser",
    call=_speak,
    given=(_SHORT, _SENTENCE, _OTHER),
    fits=_fits,
    stands_on=(ANSWERS, "text-is-kept"),
)


async def _answers(bench: Bench[Synthesiser]) -> None:
    for text in _PORT.given:
        speech = await _of(bench, text)
        expect(isinstance(speech, Speech), f"it gave {type(speech).__name__}, no Speech")
        expect(len(speech.samples) > 0, f"for {text!r} it gave no samples")


async def _of(bench: Bench[Synthesiser], text: str) -> Any:
    return await result_of(partial(bench.part.synthesise, text), within_s=bench.limits.call_s)


async def _keeps_text(bench: Bench[Synthesiser]) -> None:
    for text in _PORT.given:
        _fits(await _of(bench, text), text)


async def _silent(bench: Bench[Synthesiser]) -> None:
    for text in NOTHING:
        try:
            speech = await _of(bench, text)
        except Broken as broken:
            raise Broken(f"for {text!r} {broken}") from None
        expect(len(speech.samples) == 0, f"for {text!r} it gave {len(speech.samples)} samples")


async def _samples(bench: Bench[Synthesiser]) -> None:
    samples = (await _of(bench, _SENTENCE)).samples
    kind = f"{samples.ndim}-dimensional {samples.dtype}" if isinstance(samples, np.ndarray) else type(samples).__name__
    expect(kind == "1-dimensional float32", f"its samples are {kind}")
    most = float(np.max(np.abs(samples)))  # NaN, where there is one
    expect(most <= 1.0, f"its largest sample is {most:g}")


async def _rate(bench: Bench[Synthesiser]) -> None:
    speech, rate = await _of(bench, _SENTENCE), bench.part.rate
    whole = isinstance(rate, int) and not isinstance(rate, bool)
    expect(whole and _RATES[0] <= rate <= _RATES[1], f"its rate is {rate!r}")
    expect(speech.rate == rate, f"its rate is {rate}, and its speech has {speech.rate}")


async def _words(bench: Bench[Synthesiser]) -> None:
    speech = await _of(bench, _SENTENCE)
    words = speech.words
    if words is None:
        return
    expect(bool(words) and words[-1].end == len(speech.text), "the last word does not end with the text")
    at, ends = 0, 0
    for word in words:
        expect(ends < word.end, f"the words' ends go back at {word}")
        expect(at <= word.start <= word.stop, f"the words go back in time at {word}")
        at, ends = word.stop, word.end
    expect(at <= len(speech.samples), f"the words end at sample {at} of {len(speech.samples)}")


async def _odd(bench: Bench[Synthesiser]) -> None:
    for text in ODD:
        await accepted(partial(bench.part.synthesise, text), repr(text), within_s=bench.limits.call_s)


async def _long(bench: Bench[Synthesiser]) -> None:
    for text in LONG_TEXTS:
        await left_long(bench, partial(bench.part.synthesise, text), f"in {len(text)} characters")
    await works_still(_PORT)(bench)


check_synthesiser: Suite[Synthesiser] = _PORT.suite(
    Check(
        _PORT.rule(
            ANSWERS,
            "synthesise(text) gives a Speech with samples for a text that can be spoken.",
            "Return discussion_helper.tts.base.Speech(text, samples, rate).",
        ),
        _answers,
    ),
    Check(
        _PORT.rule(
            "text-is-kept",
            "The speech has the very text that was given, as it was written.",
            "Put the text that was given in the Speech, not the one made for speaking.",
        ),
        _keeps_text,
        (ANSWERS,),
    ),
    Check(
        _PORT.rule(
            "empty-text-is-silent",
            "A text with nothing to say gives empty samples and no error.",
            "Return Speech(text, np.zeros(0, np.float32), rate) for it.",
        ),
        _silent,
        (ANSWERS,),
    ),
    Check(
        _PORT.rule(
            "samples-are-mono-float32",
            "Samples are a one-dimensional float32 array, finite, from -1.0 to 1.0.",
            "Mix channels down, divide int16 by 32768, and convert with astype(np.float32).",
        ),
        _samples,
        (ANSWERS,),
    ),
    Check(
        _PORT.rule(
            "rate-is-true",
            "`rate` is a whole number of hertz, and every Speech has that rate.",
            "Set `rate` from the model, and resample where it differs.",
        ),
        _rate,
        (ANSWERS,),
    ),
    Check(
        _PORT.rule(
            "words-are-in-order",
            "`words` is None, or goes forward in text and time, and ends with the text and within the samples.",
            "Leave `words` None where the times are not measured.",
        ),
        _words,
        (ANSWERS, "text-is-kept"),
    ),
    *course_checks(_PORT),
    Check(
        _PORT.rule(
            "odd-text-is-spoken-or-refused",
            "Signs, emoji, NUL, half a surrogate pair: spoken, or refused with a SynthesisError.",
            "Wrap the library's errors in SynthesisError.",
        ),
        _odd,
        (ANSWERS,),
    ),
    Check(
        _PORT.rule(
            "long-text-can-be-left",
            "10,000 characters, with or without spaces, are spoken, refused, or can be cancelled; then it works still.",
            "Work in pieces, and look at the cancellation between them.",
        ),
        _long,
        (LATER,),
    ),
    *closing_checks(_PORT),
    *ending_checks(_PORT),
)
"""What a talk needs."""
SYNTHESISER_RULES = check_synthesiser.rules
