"""How fast the models are on this machine, beside speech."""

import math
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import anyio

from discussion_helper.audio.resample import resample
from discussion_helper.choices import LLM_MODEL, choose, choose_llm, llm_of
from discussion_helper.errors import DiscussionError
from discussion_helper.parts import Responder
from discussion_helper.responder.base import EndpointChoice
from discussion_helper.settings import Settings
from discussion_helper.tts.base import Speech

__all__ = ["LIMITS", "Speed", "measure_speeds"]

LIMITS = {"recogniser": 0.5, "voice": 0.5, "language model": 0.5}
"""Real time factors above which a part is too slow: its time for something, over the time it takes to say it. At 1.0
the voice runs out of words; at 0.5 the three, which run at once, still leave each other room, and an answer to a
sentence of 3 s begins less than 2 s late. Measured on two cores that other programs used as well (1.5 a core): 0.14
(tiny.en), 0.08 and 0.30."""
_TEXT = "The train to the coast leaves at nine in the morning, and the tickets are on the kitchen table."
_QUESTION = "What should I pack for three days at the sea?"
_RATE = 16_000
_MOST_CHARACTERS = 120
_BUSY = 1.0
_TIMES = 2
"""The quicker one counts: something else may have run beside the other."""
_PATIENCE_S = 30.0
"""For each part, with the loading of its model."""


@dataclass(frozen=True, slots=True)
class Speed:
    """`took_s` for `lasts_s` of speech; `first_s` until its first words. `failed`: why it could not be measured.

    `gave_up`: it was still at work when patience ended. `load`: programs that ran or waited for each core before, in
    the mean of a minute; None where the system does not say.
    """

    part: str
    model: str
    took_s: float = 0.0
    lasts_s: float = 0.0
    first_s: float | None = None
    failed: str = ""
    gave_up: bool = False
    load: float | None = None

    @property
    def factor(self) -> float | None:
        """The real time factor; None if it is not known."""
        return self.took_s / self.lasts_s if self.lasts_s else None

    @property
    def limit(self) -> float:
        """The factor from which on it is too slow."""
        return LIMITS[self.part]

    @property
    def disturbed(self) -> bool:
        """Other programs had the processor: the measure says little of the machine."""
        return self.load is not None and self.load > _BUSY

    @property
    def too_slow(self) -> bool:
        """It cannot keep up with a talk."""
        return self.gave_up or (self.factor is not None and self.factor > self.limit)


def measure_speeds(settings: Settings, *, speaks: bool, answers: bool) -> list[Speed]:
    """Load the models and time them on a fixed sentence: 5 s on two cores, and never more than 90.

    `speaks`: recogniser and voice are there; `answers`: the language model is. One that runs elsewhere is not asked.
    """
    load = os.getloadavg()[0] / (os.cpu_count() or 1) if hasattr(os, "getloadavg") else None
    return [replace(speed, load=load) for speed in anyio.run(_measure, settings, speaks, answers)]


async def _measure(settings: Settings, speaks: bool, answers: bool) -> list[Speed]:
    speeds, rate = [], 15.0  # characters a second, until the voice has shown its own
    if speaks:
        voice, speech = await _voice(settings)
        speeds.append(voice)
        if speech is not None:
            rate = len(_TEXT) / voice.lasts_s
            speeds.insert(0, await _recogniser(settings, speech))
    if answers and not isinstance(llm_of(settings), EndpointChoice):
        speeds.append(await _language_model(settings, rate))
    return speeds


async def _voice(settings: Settings) -> tuple[Speed, Speech | None]:
    from discussion_helper.tts.piper import PiperSynthesiser

    made: list[Speech] = []
    took: list[float] = []
    name = Path(settings.voice).name

    async def measure() -> Speed:
        path = await anyio.to_thread.run_sync(lambda: choose(settings, answers=False).voice)
        synthesiser = PiperSynthesiser(path, language=settings.language)
        try:
            await synthesiser.warmup()
            for _ in range(_TIMES):
                began = time.perf_counter()
                made.append(await synthesiser.synthesise(_TEXT))
                took.append((time.perf_counter() - began) / len(made[-1].samples))
            return Speed("voice", name, min(took) * len(made[0].samples), len(made[0].samples) / made[0].rate)
        finally:
            await synthesiser.aclose()

    speed = await _within("voice", name, measure)
    return speed, made[0] if made and speed.lasts_s else None


async def _recogniser(settings: Settings, speech: Speech) -> Speed:
    from discussion_helper.stt.whisper import WhisperRecogniser

    async def measure() -> Speed:
        path = await anyio.to_thread.run_sync(lambda: choose(settings, answers=False).recogniser)
        recogniser = WhisperRecogniser(path, language=settings.language)
        try:
            await recogniser.warmup()
            heard = resample(speech.samples, speech.rate, _RATE)
            took = []
            for _ in range(_TIMES):
                began = time.perf_counter()
                await recogniser.recognise(heard)
                took.append(time.perf_counter() - began)
            return Speed("recogniser", settings.stt, min(took), len(heard) / _RATE)
        finally:
            await recogniser.aclose()

    return await _within("recogniser", settings.stt, measure)


async def _language_model(settings: Settings, rate: float) -> Speed:
    from discussion_helper.responder.embedded import EmbeddedResponder
    from discussion_helper.responder.prompt import system_prompt

    name = LLM_MODEL if settings.llm.strip() == "embedded" else Path(settings.llm).name

    async def measure() -> Speed:
        path = await anyio.to_thread.run_sync(choose_llm, settings)
        assert isinstance(path, Path)
        responder = EmbeddedResponder(path, system=system_prompt(settings.language, text=settings.system))
        try:
            await responder.warmup()
            speeds = [await _answer(responder, name, rate) for _ in range(_TIMES)]
            return min(speeds, key=lambda speed: speed.factor or math.inf)
        finally:
            await responder.aclose()

    return await _within("language model", name, measure)


async def _answer(responder: Responder, name: str, rate: float) -> Speed:
    """An answer, as long as it lasts at `rate` characters a second."""
    began, first_s, characters = time.perf_counter(), None, 0
    reply = cast("AsyncGenerator[str]", responder.reply([{"role": "user", "content": _QUESTION}]))
    async with aclosing(reply) as clauses:
        async for clause in clauses:
            first_s = first_s or time.perf_counter() - began
            characters += len(clause)
            if characters >= _MOST_CHARACTERS:
                break
    return Speed("language model", name, time.perf_counter() - began, characters / rate, first_s)


async def _within(part: str, model: str, measure: Callable[[], Awaitable[Speed]]) -> Speed:
    try:
        with anyio.fail_after(_PATIENCE_S):
            return await measure()
    except TimeoutError:
        return Speed(part, model, took_s=_PATIENCE_S, gave_up=True)
    except DiscussionError as error:
        return Speed(part, model, failed=str(error))
