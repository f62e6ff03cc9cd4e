"""The rules of voices."""

from functools import partial
from typing import Any

import anyio

from discussion_helper.background import Background
from discussion_helper.parts import Audible, LooksAhead, Voice
from discussion_helper.testing.conformance.bench import Bench
from discussion_helper.testing.conformance.calls import left, outcome_of, result_of, said
from discussion_helper.testing.conformance.course import LATER, one_by_one_checks, works_still
from discussion_helper.testing.conformance.ending import closing_checks, ending_checks
from discussion_helper.testing.conformance.port import ANSWERS, Port
from discussion_helper.testing.conformance.rule import Broken, Unchecked, expect
from discussion_helper.testing.conformance.suite import Suite
from discussion_helper.testing.conformance.texts import LONG_TEXTS
from discussion_helper.types import SpokenSentence, unheard_in

__all__ = ["VOICE_RULES", "check_voice"]

_SENTENCE = "The train leaves from platform four at ten past nine."
_STOPS = "stop-ends-a-sentence"
_SHARES = (0.0, 0.2, 0.5, 0.8)
"""Of a sentence, after which it is stopped."""


async def _speak(part: Voice, sentence: str) -> SpokenSentence:
    return await part.speak(sentence)


def _fits(spoken: Any, sentence: str) -> None:
    expect(isinstance(spoken, SpokenSentence), f"it gave {type(spoken).__name__}, no SpokenSentence")
    expect(not spoken.cut, f"{sentence!r} was cut, and nobody had stopped it")
    expect(spoken.played_s > 0.0, f"of {sentence!r} it says that {spoken.played_s:g} s were played")


_PORT = Port(name="voice", call=_speak, given=("Yes.", _SENTENCE, "It rains again."), fits=_fits)


async def _of(bench: Bench[Voice], sentence: str) -> Any:
    return await result_of(partial(bench.part.speak, sentence), within_s=bench.limits.call_s)


async def _answers(bench: Bench[Voice]) -> None:
    for sentence in _PORT.given:
        _fits(await _of(bench, sentence), sentence)


async def _keeps_text(bench: Bench[Voice]) -> None:
    for sentence in _PORT.given:
        text = (await _of(bench, sentence)).text
        expect(text == sentence, f"of {sentence!r} it says {text!r}")


async def _empty(bench: Bench[Voice]) -> None:
    """It ends without an error; a voice may take its time for it."""
    for sentence in ("", " "):
        try:
            spoken = await _of(bench, sentence)
        except Broken as broken:
            raise Broken(f"for {sentence!r} {broken}") from None
        expect(isinstance(spoken, SpokenSentence) and not spoken.cut, f"for {sentence!r} it gave {spoken!r}")


async def _stopped(bench: Bench[Voice], sentence: str, after_s: float) -> SpokenSentence | None:
    """What a sentence was that was stopped then; None if it was over. Raises Broken."""
    limits, voice = bench.limits, bench.part
    speaking = Background(partial(voice.speak, sentence), name="speaking").start()
    await anyio.lowlevel.checkpoint()
    with anyio.move_on_after(after_s):
        await speaking.finished()
    if not speaking.running:
        return None
    await result_of(voice.stop, within_s=limits.let_go_s)
    if not await speaking.ends(within_s=limits.let_go_s):
        await speaking.stop(within_s=limits.let_go_s)
        raise Broken(f"stopped after {after_s:.2f} s, speak was still at it {limits.let_go_s:g} s later")
    if speaking.error is not None:
        raise Broken(f"stopped after {after_s:.2f} s, speak raised {said(speaking.error)}")
    return speaking.result


async def _cuts(bench: Bench[Voice]) -> list[SpokenSentence]:
    took_s = (await outcome_of(partial(bench.part.speak, _SENTENCE), within_s=bench.limits.call_s)).took_s
    cuts = [await _stopped(bench, _SENTENCE, share * took_s) for share in _SHARES]
    return [cut for cut in cuts if cut is not None]


async def _stops(bench: Bench[Voice]) -> None:
    for spoken in await _cuts(bench):
        expect(spoken.cut, f"a sentence that was stopped came back as {spoken!r}")
    await works_still(_PORT)(bench)


async def _heard(bench: Bench[Voice]) -> None:
    for spoken in await _cuts(bench):
        heard = spoken.heard
        told = heard is None or unheard_in(_SENTENCE, heard) is not None
        expect(told, f"of {_SENTENCE!r} it says that {heard!r} was heard")


async def _idle(bench: Bench[Voice]) -> None:
    for _ in range(3):
        await result_of(bench.part.stop, within_s=bench.limits.let_go_s)
    await works_still(_PORT)(bench)


async def _long(bench: Bench[Voice]) -> None:
    for text in LONG_TEXTS:
        await _stopped(bench, text, bench.limits.patience_s)
    await works_still(_PORT)(bench)


async def _ahead(bench: Bench[Voice]) -> None:
    """The sentence that was prepared, then another one, then one whose preparation was cancelled."""
    voice, limits = bench.part, bench.limits
    if not isinstance(voice, LooksAhead):
        raise Unchecked("it has no prepare, which is optional")
    for prepared, spoken in ((_SENTENCE, _SENTENCE), ("Another one.", _SENTENCE)):
        await result_of(partial(voice.prepare, prepared), within_s=limits.call_s)
        _fits(await _of(bench, spoken), spoken)
        await result_of(voice.stop, within_s=limits.let_go_s)
    await left(partial(voice.prepare, _SENTENCE), "early", turns=2, within_s=limits.let_go_s)
    await works_still(_PORT)(bench)


async def _audible(bench: Bench[Voice]) -> None:
    voice, limits = bench.part, bench.limits
    if not isinstance(voice, Audible):
        raise Unchecked("it has no audible, which is optional")
    await left(voice.audible, "when nothing is spoken", turns=3, within_s=limits.let_go_s)
    hearing = Background(voice.audible, name="hearing").start()
    try:
        await anyio.lowlevel.checkpoint()
        await _of(bench, _SENTENCE)
        expect(await hearing.ends(within_s=limits.let_go_s), "a sentence was over, and audible had not returned")
        expect(hearing.error is None, f"audible raised {hearing.error!r}")
    finally:
        await hearing.stop(within_s=limits.let_go_s)


check_voice: Suite[Voice] = _PORT.suite(
    _PORT.check(
        ANSWERS,
        _answers,
        "speak(sentence) returns a SpokenSentence, not cut, with the seconds that were played.",
        "Return discussion_helper.types.SpokenSentence when the last sample has left.",
        (),
    ),
    _PORT.check(
        "text-is-kept", _keeps_text, "The result has the sentence as it was given.", "Put the very text in it."
    ),
    _PORT.check(
        "empty-text-ends",
        _empty,
        "A sentence with nothing to say ends, not cut, and without an error.",
        "Return at once where there are no samples.",
    ),
    _PORT.check(
        _STOPS,
        _stops,
        "stop() ends the sentence at once, at whatever time; it is cut, and the next one is spoken as ever.",
        "Discard what is queued, wake whoever waits in speak, and say cut=True.",
    ),
    _PORT.check(
        "heard-is-a-beginning",
        _heard,
        "`heard` of a sentence that was cut is None, or its beginning.",
        "Count the samples that left the device, and give the words up to there.",
        (_STOPS,),
    ),
    _PORT.check(
        "stop-is-safe-when-idle",
        _idle,
        "stop() may be called when nothing is spoken, again and again; the next sentence is not cut.",
        "Forget the stop when the next sentence begins.",
    ),
    *one_by_one_checks(_PORT),
    _PORT.check(
        "long-text-can-be-stopped",
        _long,
        "10,000 characters, with or without spaces, can be stopped; then it works still.",
        "Let stop end the synthesis as well as the playback.",
        (_STOPS, LATER),
    ),
    _PORT.check(
        "prepared-is-spoken",
        _ahead,
        "prepare, where there is one, is followed by speak for that sentence or another; and it can be cancelled.",
        "Drop what was prepared when another sentence comes.",
        (LATER, "stop-is-safe-when-idle"),
    ),
    _PORT.check(
        "audible-returns",
        _audible,
        "audible, where there is one, returns when the sentence is heard, and can be cancelled.",
        "Set it at the first sample, and wait for nothing else.",
    ),
    *closing_checks(_PORT),
    *ending_checks(_PORT),
)
"""What a session needs; the slow one takes a minute before it speaks."""
VOICE_RULES = check_voice.rules
