"""What the scenarios share: a talk in a room of virtual time, with recorded people, and all that is told of it."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest

from discussion_helper.audio.files import load
from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.audio.resample import resample
from discussion_helper.events import Event, Subscription
from discussion_helper.parts import Committed, Thread
from discussion_helper.session import Session
from discussion_helper.stt.base import Recognised
from discussion_helper.testing import VirtualTimeLoop
from discussion_helper.testing.room import (
    CutSynthesiser,
    KnownSound,
    MatchingRecogniser,
    NoEchoPath,
    Room,
    Scene,
    cheap_detectors,
)
from discussion_helper.testing.room.synthesisers import WORDS_PER_S
from discussion_helper.tts.base import Speech, Word
from discussion_helper.types import Message, Policy, Utterance

AUDIO = Path(__file__).parents[2] / "audio"
KINDS = ("floor", "utterance", "decision", "interruption", "device", "partial")


@pytest.fixture
def anyio_backend() -> Any:
    """A clock that jumps, and lets rooms step beside it."""
    return "asyncio", {"loop_factory": VirtualTimeLoop}


@cache
def _clip(name: str) -> Frame:
    return load(AUDIO / name, 48_000)


@pytest.fixture(scope="session")
def clip() -> Callable[[str], Frame]:
    """A recording of the folder `audio`, at 48 kHz."""
    return _clip


@dataclass
class Answers:
    """Answers each turn with the next of `texts`, sentence by sentence; the last one again and again.

    `delay_s` is waited before each sentence. `seen`: the messages of each request. `cancelled_s`: when the loop's clock
    was at the cancellation of a request.
    """

    texts: Sequence[Sequence[str]]
    delay_s: float = 0.0
    seen: list[list[Message]] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    cancelled_s: list[float] = field(default_factory=list)

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        number = len(self.seen)
        self.seen.append(list(messages))
        ended = False
        try:
            for sentence in self.texts[min(number, len(self.texts) - 1)] if self.texts else ():
                await anyio.sleep(self.delay_s)
                self.given.append(sentence)
                yield sentence
            ended = True
        finally:
            if not ended:
                self.cancelled_s.append(anyio.current_time())

    async def aclose(self) -> None: ...


class Ahead(Answers):
    """May be asked ahead of time."""

    def speculate(self, messages: Sequence[Message], committed: Committed) -> AsyncIterator[str]:
        return self.reply(messages)


class Worded(CutSynthesiser):
    """Knows when each word is heard, and keeps what it made by text. No two texts share a piece of the voice."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.made: dict[str, Speech] = {}
        self._starts: dict[str, int] = {}
        self._used = 0

    def _cut(self, text: str) -> Samples:
        count = round(len(text.split()) / WORDS_PER_S * self.rate)
        if text not in self._starts:
            self._starts[text], self._used = self._used, self._used + count
        start = self._starts[text]
        edge = np.minimum(1.0, np.minimum(np.arange(1, count + 1), np.arange(count, 0, -1)) / (0.005 * self.rate))
        piece = np.take(self._voice, np.arange(start, start + count), mode="wrap")
        return np.asarray(piece * edge, np.float32)

    async def synthesise(self, text: str) -> Speech:
        speech = await super().synthesise(text)
        step, end, words = self.rate / WORDS_PER_S, 0, []
        for number, word in enumerate(text.split()):
            end = text.index(word, end) + len(word)
            words.append(Word(end, round(number * step), min(round((number + 1) * step), len(speech.samples))))
        self.made[text] = Speech(text, speech.samples, self.rate, tuple(words))
        return self.made[text]


class Ears(MatchingRecogniser):
    """Finds known sounds in what it is given, which it keeps. Every `mishears`-th word may be wrong.

    `says` makes it deaf to all that, and a recogniser that invents.
    """

    def __init__(self, *, delay_s: float = 0.2, mishears: int = 0, says: str | None = None) -> None:
        super().__init__(lambda: self.known, delay_s=delay_s)
        self.known: list[KnownSound] = []
        self.given: list[Samples] = []
        self._mishears = mishears
        self._says = says

    def knows(self, text: str, sound: Samples, rate: int) -> None:
        """From now on it finds that."""
        self.known.append(KnownSound(text, resample(sound, rate, 16_000)))

    async def recognise(self, samples: Samples, *, voiced_s: float | None = None) -> Recognised:
        self.given.append(samples)
        found = await super().recognise(samples, voiced_s=voiced_s)
        if self._says is not None:
            return Recognised(self._says)
        words = found.text.split()
        wrong = [self._mishears and number % self._mishears == 0 for number in range(1, len(words) + 1)]
        return Recognised(" ".join("whatever" if bad else word for word, bad in zip(words, wrong, strict=True)))


@dataclass
class Talk:
    """A talk that has begun, in its room."""

    room: Room
    session: Session
    answers: Answers
    ears: Ears
    voice: CutSynthesiser
    _events: Subscription[Event]
    _told: list[Event] = field(default_factory=list)

    def say(self, name: str, text: str = "", **when: Any) -> None:
        """Let somebody say a recording. `text` is what the recogniser understands; "" = nothing."""
        sound = _clip(name)
        if text and text not in [it.text for it in self.ears.known]:
            self.ears.knows(text, sound.samples, sound.rate)
        self.room.say(sound, text=text, **when)

    def overhear(self, sentence: str) -> None:
        """The recogniser understands the agent, too, when it says this."""
        cut = self.voice._cut(sentence)
        self.ears.knows(sentence, cut, self.voice.rate)

    async def told(self, kind: str, **data: Any) -> list[dict[str, Any]]:
        """What was told of that kind, with that data, from the beginning on."""
        self._told += [await anext(self._events) for _ in range(len(self._events))]
        found = [event.data for event in self._told if event.kind == kind]
        return [it for it in found if all(it.get(key) == value for key, value in data.items())]

    @property
    def said(self) -> list[Utterance]:
        """The turns so far."""
        return list(self.session.discussion.conversation.utterances)

    @property
    def replies(self) -> list[Utterance]:
        """The agent's turns so far."""
        return [utterance for utterance in self.said if utterance.speaker == "agent"]

    @property
    def zero_s(self) -> float:
        """Where room time begins on the event loop's clock."""
        return anyio.current_time() - self.room.now_s

    async def passed(self, seconds: float) -> None:
        """Wait so long."""
        until_s = self.room.now_s + seconds
        await self.room.until(lambda: self.room.now_s >= until_s, within_s=seconds + 1.0)


@asynccontextmanager
async def _talk(
    *texts: Sequence[str],
    scene: Scene | None = None,
    fast: bool = False,
    aec: bool = True,
    policy: Policy | None = None,
    ears: Ears | None = None,
    delay_s: float = 0.0,
    synthesis_s: float = 0.1,
    tone: bool = False,
    start: bool = True,
    ahead: bool = False,
    thread: Thread | None = None,
    language: str = "en",
) -> AsyncIterator[Talk]:
    voice_of: Any = {"rate": (scene or Scene()).loudspeaker.rate, "delay_s": synthesis_s}
    voice = Tone(**voice_of) if tone else Worded(voice=_agent(voice_of["rate"]), **voice_of)
    options: Any = {"detectors": cheap_detectors} if fast else {}
    if fast or not aec:
        options["echo_path"] = NoEchoPath
    policy = policy or Policy(say_not_understood=bool(texts))  # who never answers is not to say so either
    async with Room(scene or Scene(), **options) as room:
        answers, ears = (Ahead if ahead else Answers)(texts, delay_s), ears or Ears()
        parts: Any = {"responder": answers, "recogniser": ears, "synthesiser": voice}
        session = room.session(**parts, policy=policy, language=language, thread=thread)
        async with session.events(*KINDS) as events:
            if start:
                session.start()
            yield Talk(room, session, answers, ears, voice, events)


class Tone(Worded):
    """A voice whose samples differ by little from one to the next, so that whatever is cut hard shows."""

    def _cut(self, text: str) -> Samples:
        samples = super()._cut(text)
        wave = 0.15 * np.sin(2.0 * np.pi * 220.0 * np.arange(len(samples)) / self.rate)
        edge = np.minimum(1.0, np.minimum(np.arange(len(wave)), np.arange(len(wave))[::-1]) / (0.01 * self.rate))
        return np.asarray(wave * edge, np.float32)


@cache
def _agent(rate: int) -> Samples:
    sound = _clip("speech/mfa_acoustic_corpus.wav")
    return resample(sound.samples, sound.rate, rate)


@pytest.fixture
def talk() -> Callable[..., AbstractAsyncContextManager[Talk]]:
    """Begins a talk in a room: `async with talk([first reply's sentences], [second's], ..., scene=Scene(...)) as on`.

    `fast`: detectors that go by the level, and no canceller. `aec` False: no canceller. `delay_s`: before each sentence
    of the responder. `tone`: the agent hums. `start` False: the session waits to be started. `ahead`: the responder may
    be asked ahead of time. `thread`: where the turns are stored. `language`: of the session.
    """
    return _talk


@pytest.fixture(scope="session")
def parts() -> tuple[type[Answers], type[Ears], Callable[[], Worded]]:
    """A responder, a recogniser and a synthesiser for real time; a text that begins with "Hum" is hummed."""
    return Answers, Ears, lambda: Humming(rate=48_000, voice=_agent(48_000), delay_s=0.05)


class Humming(Tone):
    """Speaks, but for what it is to hum."""

    def _cut(self, text: str) -> Samples:
        return super()._cut(text) if text.startswith("Hum") else Worded._cut(self, text)


@pytest.fixture
def ears() -> type[Ears]:
    """A recogniser of your own making."""
    return Ears


@pytest.fixture
def long_reply() -> list[str]:
    """Ten seconds of speech in four sentences."""
    return [
        "There is a lot to tell about that.",
        "It began a long time ago in the north.",
        "Nobody knew why, and few people asked.",
        "So they went home again.",
    ]
