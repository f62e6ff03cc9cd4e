"""Real models in virtual time: the clock is held while they work, and each call is charged with a stated delay."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

import anyio

from discussion_helper.audio.frames import Samples
from discussion_helper.audio.resample import resample
from discussion_helper.stt.base import Recognised, Recogniser
from discussion_helper.testing.room.limits import check_rate, check_seconds
from discussion_helper.testing.virtual_clock import VirtualTimeLoop
from discussion_helper.tts.base import Speech, Synthesiser
from discussion_helper.turn.prosody import Prosody
from discussion_helper.voice.notes import ProsodyWanted
from discussion_helper.voice.scoring import Answers, judged

__all__ = ["SCORE_S", "InlineRecogniser", "InlineScorer", "InlineSynthesiser", "charged"]

T = TypeVar("T")
SCORE_S = 0.06
"""Of a talk on two cores: 45 ms for a score, and the way there and back."""


async def charged(call: Callable[[], Awaitable[T]], delay_s: float) -> T:
    """What `call()` gives, with all its threads, in exactly `delay_s` of virtual time.

    It must wait for threads alone, not for time. Raises RuntimeError off a `VirtualTimeLoop`.
    """
    loop = asyncio.get_running_loop()
    if not isinstance(loop, VirtualTimeLoop):
        raise RuntimeError("Only a VirtualTimeLoop can be held.")
    with loop.held():
        result = await call()
    await anyio.sleep(delay_s)
    return result


class InlineRecogniser:
    """A real recogniser of which each call takes `delay_s`."""

    def __init__(self, recogniser: Recogniser, *, delay_s: float) -> None:
        check_seconds("delay_s", delay_s)
        self._recogniser = recogniser
        self._delay_s = delay_s

    async def recognise(self, samples: Samples, *, voiced_s: float | None = None) -> Recognised:
        """As the real one."""
        return await charged(lambda: self._recogniser.recognise(samples, voiced_s=voiced_s), self._delay_s)

    async def warmup(self) -> None:
        """Load it, in no time."""
        await charged(self._recogniser.warmup, 0.0)

    async def aclose(self) -> None:
        """Release it, in no time."""
        await charged(self._recogniser.aclose, 0.0)


class InlineSynthesiser:
    """A real synthesiser of which each call takes `delay_s`, at the `rate` of the loudspeaker."""

    def __init__(self, synthesiser: Synthesiser, *, delay_s: float, rate: int = 48_000) -> None:
        check_seconds("delay_s", delay_s)
        check_rate("rate", rate)
        self.rate = rate
        self._synthesiser = synthesiser
        self._delay_s = delay_s

    async def synthesise(self, text: str) -> Speech:
        """As the real one."""
        speech = await charged(lambda: self._synthesiser.synthesise(text), self._delay_s)
        return self._at_rate(speech)

    def _at_rate(self, speech: Speech) -> Speech:
        step = self.rate / speech.rate
        words = speech.words and tuple(
            replace(word, start=int(word.start * step), stop=int(word.stop * step)) for word in speech.words
        )
        samples = resample(speech.samples, speech.rate, self.rate)
        return replace(speech, samples=samples, rate=self.rate, words=words)

    async def warmup(self) -> None:
        """Load it, in no time."""
        await charged(self._synthesiser.warmup, 0.0)

    async def aclose(self) -> None:
        """Release it, in no time."""
        await charged(self._synthesiser.aclose, 0.0)


class InlineScorer:
    """A `Scorer` whose scores come `delay_s` after they were asked for, while the clock stands still."""

    def __init__(self, prosody: Prosody, *, delay_s: float = SCORE_S) -> None:
        check_seconds("delay_s", delay_s)
        self._prosody: Prosody | None = prosody
        self._delay_s = delay_s

    def start(self, answers: Answers) -> None:
        """Begin."""
        self._answers = answers

    def ask(self, wanted: ProsodyWanted) -> None:
        """Judge it, in no time, and answer later; a judge that fails is not asked again."""
        scored = None if self._prosody is None else judged(self._prosody, wanted)
        if scored is None:
            self._prosody = None
        else:
            asyncio.get_running_loop().call_later(self._delay_s, self._answers, scored)

    def close(self) -> None:
        """Nothing to end."""
