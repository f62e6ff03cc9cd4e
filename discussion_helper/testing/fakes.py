"""Public fakes of the three parts: no audio, no model, any clock."""

import math
from collections.abc import AsyncIterator, Sequence

import anyio

from discussion_helper.clock import now
from discussion_helper.event_loop import LoopAffinity
from discussion_helper.parts import Reporter
from discussion_helper.types import Message, SpokenSentence, Utterance

__all__ = ["SPEAKS_S", "EchoResponder", "ScriptedListener", "SilentVoice"]

SPEAKS_S = 1.0
"""How long the user of a ScriptedListener goes on speaking who interrupts."""


class ScriptedListener:
    """Hears `turns` one after another, then ends.

    `pace_s` is waited before each turn. `interrupt_after_s` reports speech that long after a reply's first audio,
    which goes on for SPEAKS_S or until the next turn; None = never (half duplex). With no turns and `stays_open`
    it waits for typed turns until closed.
    """

    def __init__(
        self,
        turns: Sequence[str | Utterance],
        *,
        interrupt_after_s: float | None = None,
        pace_s: float = 0.0,
        stays_open: bool = False,
    ) -> None:
        self._turns = tuple(turns)
        self._interrupt_after_s = interrupt_after_s
        self._pace_s = pace_s
        self._stays_open = stays_open
        self._speaks_until = -math.inf
        self._reporter: Reporter | None = None
        self.closed = False

    def attach(self, reporter: Reporter) -> None:
        """Take the session's clock, which stamps the turns given as text."""
        self._reporter = reporter

    async def utterances(self) -> AsyncIterator[Utterance]:
        """The turns in order."""
        for turn in self._turns:
            started_s = self._now()
            await anyio.sleep(self._pace_s)
            self._speaks_until = -math.inf
            yield turn if isinstance(turn, Utterance) else Utterance("user", turn, started_s, self._now())
        if self._stays_open:
            await anyio.sleep_forever()

    async def speech_started(self) -> None:
        """Return `interrupt_after_s` after the call, which comes at a reply's first audio; at once while it speaks."""
        if self._interrupt_after_s is None:
            await anyio.sleep_forever()
        elif now() >= self._speaks_until:
            await anyio.sleep(self._interrupt_after_s)
            self._speaks_until = now() + SPEAKS_S

    async def aclose(self) -> None:
        """Nothing to release."""
        self.closed = True

    def _now(self) -> float:
        return 0.0 if self._reporter is None else self._reporter.now()


class EchoResponder:
    """Answers with the last message, then "<text> (2)", "<text> (3)", ...; `delay_s` before each sentence.

    `seen` holds the messages of each request.
    """

    def __init__(self, sentences: int = 1, delay_s: float = 0.0) -> None:
        self._sentences = sentences
        self._delay_s = delay_s
        self.seen: list[list[Message]] = []
        self.closed = False

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        """The echo."""
        self.seen.append(list(messages))
        text = messages[-1]["content"] if messages else ""
        for number in range(1, self._sentences + 1):
            await anyio.sleep(self._delay_s)
            yield text if number == 1 else f"{text} ({number})"

    async def aclose(self) -> None:
        """Nothing to release."""
        self.closed = True


class SilentVoice:
    """Takes `first_audio_s`, then `seconds_per_sentence`, for each sentence, without a sound.

    `spoken`: the sentences begun. `completed`: those that were not cut. `stops`: calls of `stop`.
    `speaking`: whether it "speaks" at this moment; then other event loops' calls raise RuntimeError.
    """

    def __init__(self, seconds_per_sentence: float = 0.05, first_audio_s: float = 0.0) -> None:
        self._seconds = seconds_per_sentence
        self._first_audio_s = first_audio_s
        self._stopped = anyio.Event()
        self._audible = anyio.Event()
        self._affinity: LoopAffinity | None = None
        self.spoken: list[str] = []
        self.completed: list[str] = []
        self.stops = 0
        self.speaking = False
        self.closed = False

    async def speak(self, sentence: str) -> SpokenSentence:
        """Wait as long as speaking would take, or until `stop`."""
        self._check_here()
        self._affinity = LoopAffinity()
        self.spoken.append(sentence)
        self._stopped, self.speaking, began = anyio.Event(), True, now()
        try:
            await self._play()
            return self._result(sentence, now() - began)
        finally:
            self.speaking = False
            self._audible = anyio.Event()

    async def _play(self) -> None:
        with anyio.move_on_after(self._first_audio_s):
            await self._stopped.wait()
        if not self._stopped.is_set():
            self._audible.set()
            with anyio.move_on_after(self._seconds):
                await self._stopped.wait()

    def _result(self, sentence: str, took_s: float) -> SpokenSentence:
        if not self._stopped.is_set():
            self.completed.append(sentence)
            return SpokenSentence(sentence, self._first_audio_s, self._seconds)
        played_s = max(0.0, took_s - self._first_audio_s)
        words = sentence.split()
        heard = " ".join(words[: int(len(words) * min(1.0, played_s / self._seconds))]) if self._seconds else sentence
        return SpokenSentence(sentence, self._first_audio_s, played_s, cut=True, heard=heard)

    async def audible(self) -> None:
        """Return when the sentence being spoken would be heard."""
        self._check_here()
        await self._audible.wait()

    async def stop(self) -> None:
        """End the sentence."""
        self._check_here()
        self.stops += 1
        self._stopped.set()

    async def aclose(self) -> None:
        """Nothing to release."""
        self._check_here()
        self.closed = True

    def _check_here(self) -> None:
        if self.speaking and self._affinity is not None:
            self._affinity.check("the voice")
