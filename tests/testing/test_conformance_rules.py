"""For each rule of the conformance kit a part that is broken, by exactly that rule's name."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Any

import anyio
import numpy as np
import pytest

from discussion_helper.audio.frames import Samples
from discussion_helper.errors import SettingError
from discussion_helper.stt.base import Recognised
from discussion_helper.testing import ScriptedListener, SilentVoice, VirtualTimeLoop
from discussion_helper.testing import conformance as kit
from discussion_helper.testing.conformance import Rule
from discussion_helper.tts.base import Speech, Word
from discussion_helper.types import Message, SpokenSentence, Utterance

pytestmark = pytest.mark.anyio

RATE = 8_000
BLOCKS_S = 0.01


class Work:
    """What a call takes; the faults are here."""

    def __init__(self) -> None:
        self.closed = False
        self.warmed = 0

    async def work(self, size: int) -> None:
        """Ends soon when it is closed."""
        for _ in range(3):
            if not self.closed:
                await anyio.sleep(0.0005 + size * 1e-5)

    async def warmup(self) -> None:
        self.warmed += 1

    async def aclose(self) -> None:
        self.closed = True


class Synthesiser(Work):
    rate = RATE

    async def synthesise(self, text: str) -> Speech:
        await self.work(len(text))
        return self.speech(text)

    def speech(self, text: str) -> Speech:
        samples = self.sound(text)
        return Speech(text, samples, self.rate, (Word(len(text), 0, len(samples)),) if text else None)

    def sound(self, text: str) -> Samples:
        return np.full(10 * len(text.split()), 0.1, np.float32)


class Recogniser(Work):
    async def recognise(self, samples: Samples, *, voiced_s: float | None = None) -> Recognised:
        await self.work(len(samples) // 100)
        return Recognised(self.text(samples))

    def text(self, samples: Samples) -> str:
        return "hello" if len(samples) and np.nan_to_num(samples).any() else ""


class Responder(Work):
    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        text = messages[-1]["content"] if messages else ""
        for clause in self.clauses(text):
            await self.work(sum(len(message["content"]) for message in messages))
            yield clause

    def clauses(self, text: str) -> list[Any]:
        return ["Hello.", "How are", "you"]

    async def anticipate(self, messages: Sequence[Message]) -> None:
        await self.work(10)


class Voice(SilentVoice):
    seconds = 0.2

    def __init__(self) -> None:
        super().__init__(self.seconds, 0.02)

    async def speak(self, sentence: str) -> SpokenSentence:
        await self.before(len(sentence))
        return await super().speak(sentence)

    async def before(self, size: int) -> None: ...

    async def prepare(self, sentence: str) -> None:
        await anyio.sleep(0.001)

    async def warmup(self) -> None: ...

    async def aclose(self) -> None:
        await self.stop()
        await super().aclose()


class Listener(ScriptedListener):
    def __init__(self, turns: Sequence[Any] = ("hello",)) -> None:
        super().__init__(turns, pace_s=0.05)

    async def warmup(self) -> None: ...

    async def mute(self, on: bool) -> None: ...


class Detector:
    """By the level, which it remembers for a frame."""

    rate = 16_000
    frame_samples = 160

    def __init__(self) -> None:
        self.last = 0.0

    def reset(self) -> None:
        self.last = 0.0

    def probability(self, samples: Samples) -> float:
        self.check(samples)
        before, self.last = self.last, min(1.0, float(samples @ samples) / 4.0)
        return self.value((before + self.last) / 2)

    def check(self, samples: Samples) -> None:
        if len(samples) != self.frame_samples:
            raise ValueError("length")

    def value(self, now: float) -> float:
        return now


class OneMemory:
    """For all."""

    memory = [0.0]  # noqa: RUF012 - the fault

    @property
    def last(self) -> float:
        return self.memory[0]

    @last.setter
    def last(self, value: float) -> None:
        self.memory[0] = value


class ByThread:
    """What it knows is known to the thread that made it."""

    def __init__(self) -> None:
        self.maker = threading.get_ident()
        super().__init__()

    def value(self, now: float) -> float:
        return now if threading.get_ident() == self.maker else now / 2


class Shielded:
    async def work(self, size: int) -> None:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(1.0)


class KeepsItsLock:
    """Of whoever is cancelled."""

    stuck = False

    async def work(self, size: int) -> None:
        if self.stuck:
            await anyio.sleep_forever()
        try:
            await super().work(size)  # type: ignore[misc]
        except BaseException:
            self.stuck = True
            raise


class OneAtATime:
    busy = False

    async def work(self, size: int) -> None:
        if self.busy:
            raise OSError("busy")
        self.busy = True
        try:
            await super().work(size)  # type: ignore[misc]
        finally:
            self.busy = False


class Blocking:
    async def work(self, size: int) -> None:
        if size > 12:
            time.sleep(BLOCKS_S)  # noqa: ASYNC251 - the fault
        await super().work(min(size, 100))  # type: ignore[misc]


class OneLoop:
    async def work(self, size: int) -> None:
        cls: Any = type(self)
        cls.loop = getattr(cls, "loop", None) or asyncio.get_running_loop()
        if cls.loop is not asyncio.get_running_loop():
            raise RuntimeError("bound to a different event loop")
        await super().work(size)  # type: ignore[misc]


class Endless:
    """With what is long."""

    async def work(self, size: int) -> None:
        with anyio.CancelScope(shield=size > 5_000):
            await super().work(size if size < 5_000 else 1_000_000)  # type: ignore[misc]


class ClosesOnce:
    closed: bool

    async def aclose(self) -> None:
        if self.closed:
            raise RuntimeError("closed already")
        await super().aclose()  # type: ignore[misc]


class GoesOn:
    """When it is closed, and for ever."""

    closed: bool

    async def work(self, size: int) -> None:
        await super().work(size)  # type: ignore[misc]
        if self.closed:
            await anyio.sleep_forever()


class WarmsOnce:
    warmed = 0

    async def warmup(self) -> None:
        self.warmed += 1
        if self.warmed > 1:
            raise RuntimeError("loaded already")


class Dead:
    async def work(self, size: int) -> None:
        raise OSError("no such file")


class Stuck:
    async def work(self, size: int) -> None:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(60.0)


FAULTS = [
    ("cancel-ends-it", Shielded),
    ("works-after-a-cancel", KeepsItsLock),
    ("calls-at-once-keep-apart", OneAtATime),
    ("leaves-the-loop-free", Blocking),
    ("works-on-two-loops", OneLoop),
    ("long-text-can-be-left", Endless),
    ("close-is-idempotent", ClosesOnce),
    ("close-ends-a-call", GoesOn),
    ("warms-up-again", WarmsOnce),
]


def mixed(fault: type, part: type) -> Callable[[], Any]:
    """A part with the fault."""
    return type(f"{fault.__name__}{part.__name__}", (fault, part), {})


def with_method(part: type, **methods: Any) -> Callable[[], Any]:
    """A part whose methods are these."""
    return type(f"Odd{part.__name__}", (part,), methods)


def wrong_speech(**wrong: Any) -> Callable[[], Any]:
    """A synthesiser whose speech is wrong in that."""
    return with_method(Synthesiser, speech=lambda self, text: replace(Synthesiser.speech(self, text), **wrong))


async def gives(*_: object, **__: object) -> None:
    """Nothing."""


async def fails(*_: object, **__: object) -> None:
    raise OSError("no")


async def sleeps(*_: object, **__: object) -> None:
    with anyio.CancelScope(shield=True):
        await anyio.sleep(5.0)


async def empty_fails(self: Voice, size: int) -> None:
    if size < 2:
        raise OSError("empty")


def spoken_as(**wrong: Any) -> Callable[..., Any]:
    async def speak(self: Voice, sentence: str) -> SpokenSentence:
        spoken = await Voice.speak(self, sentence)
        return replace(spoken, **{name: value(spoken) for name, value in wrong.items()})

    return speak


async def speaks_shielded(self: Voice, sentence: str) -> SpokenSentence:
    with anyio.CancelScope(shield=True):
        spoken = await Voice.speak(self, sentence)
    return spoken  # noqa: RET504 - the shield may end it, as the type checker sees it


async def never_returns(self: Voice, sentence: str) -> SpokenSentence:
    """From a sentence during which it was closed."""
    spoken = await Voice.speak(self, sentence)
    if self.closed:
        await anyio.sleep_forever()
    return spoken


async def long_unstoppable(self: Voice, size: int) -> None:
    await anyio.sleep(20.0 if size > 5_000 else 0.0)


async def stop_stays(self: Voice) -> None:
    """A stop when nothing is spoken is still there for the next sentence."""
    self.pending = not self.speaking  # type: ignore[attr-defined]
    await SilentVoice.stop(self)


async def speaks_after_stop(self: Voice, sentence: str) -> SpokenSentence:
    pending, self.pending = getattr(self, "pending", False), False  # type: ignore[attr-defined]
    return replace(await Voice.speak(self, sentence), cut=True) if pending else await Voice.speak(self, sentence)


def encodes(_: Any, text: str) -> Samples:
    text.encode()
    return Synthesiser.sound(_, text)


def scales(self: Recogniser, samples: Samples) -> str:
    if samples.flags.writeable:
        samples *= np.float32(0.5)
    return Recogniser.text(self, samples)


def wants_finite(self: Recogniser, samples: Samples) -> str:
    if not np.isfinite(samples).all():
        raise OverflowError("not finite")
    return Recogniser.text(self, samples)


def scales_a_frame(self: Detector, samples: Samples) -> None:
    Detector.check(self, samples)
    if samples.flags.writeable:
        samples *= np.float32(0.5)


def slowly(self: Any, now: float) -> float:
    """From the 481st frame on."""
    self.frames = getattr(self, "frames", 0) + 1
    time.sleep(0.006 if self.frames > 480 else 0.0)
    return now


async def pops(self: Responder, messages: Any) -> AsyncIterator[str]:
    for message in messages:
        message["content"] += "?"
    await self.work(10)
    yield "Hello. How are you"


async def goes_on(self: Responder, messages: Sequence[Message]) -> AsyncIterator[str]:
    """After it was closed."""
    async for clause in Responder.reply(self, messages):
        try:
            yield clause
        except GeneratorExit:
            with anyio.CancelScope(shield=True):
                await anyio.sleep(2.0)
            raise


async def blocks(self: Voice, size: int) -> None:
    time.sleep(BLOCKS_S)  # noqa: ASYNC251 - the fault


async def speaks_once(self: Any, sentence: str) -> SpokenSentence:
    """What was cancelled is in the way of the next."""
    if getattr(self, "stuck", False):
        await anyio.sleep_forever()
    self.stuck = True
    spoken = await Voice.speak(self, sentence)
    self.stuck = False
    return spoken


async def sleeps_forever(self: Any) -> None:
    await anyio.sleep_forever()


def cannot_be_made() -> Any:
    raise OSError("no such model")


async def deaf(self: Listener) -> AsyncIterator[Any]:
    with anyio.CancelScope(shield=True):
        await anyio.sleep(2.0)
    yield Utterance("user", "hello")


async def blocked(self: Listener) -> AsyncIterator[Any]:
    time.sleep(BLOCKS_S)  # noqa: ASYNC251 - the fault
    yield Utterance("user", "hello")


async def failing(self: Listener) -> AsyncIterator[Any]:
    raise OSError("no microphone")
    yield


async def sighs(self: Listener) -> AsyncIterator[Any]:
    yield "hello"


SYNTHESISERS: list[tuple[str, dict[str, Any]]] = [
    ("answers", {"make": with_method(Synthesiser, synthesise=gives)}),
    ("text-is-kept", {"make": wrong_speech(text="[spoken]")}),
    ("empty-text-is-silent", {"make": with_method(Synthesiser, sound=lambda *_: np.zeros(10, np.float32))}),
    (
        "samples-are-mono-float32",
        {"make": with_method(Synthesiser, sound=lambda _, t: np.ones(10 * len(t.split())))},
    ),
    (
        "samples-are-mono-float32",
        {"make": with_method(Synthesiser, sound=lambda _, t: 20 * Synthesiser.sound(_, t))},
    ),
    ("rate-is-true", {"make": wrong_speech(rate=44_100)}),
    ("rate-is-true", {"make": with_method(Synthesiser, rate=8_000.0)}),
    ("words-are-in-order", {"make": wrong_speech(words=(Word(3, 0, 5),))}),
    ("odd-text-is-spoken-or-refused", {"make": with_method(Synthesiser, sound=encodes)}),
    ("dead-is-told", {"make": Synthesiser, "make_dead": mixed(Dead, Synthesiser)}),
    ("slow-can-be-left", {"make": Synthesiser, "make_slow": mixed(Stuck, Synthesiser)}),
    *((name, {"make": mixed(fault, Synthesiser)}) for name, fault in FAULTS),
]
RECOGNISERS: list[tuple[str, dict[str, Any]]] = [
    ("answers", {"make": with_method(Recogniser, recognise=gives)}),
    ("nothing-is-no-text", {"make": with_method(Recogniser, text=lambda *_: "Thank you.")}),
    ("samples-are-left-alone", {"make": with_method(Recogniser, text=scales)}),
    ("odd-samples-are-read-or-refused", {"make": with_method(Recogniser, text=wants_finite)}),
    ("long-sound-can-be-left", {"make": mixed(Endless, Recogniser)}),
    ("dead-is-told", {"make": Recogniser, "make_dead": mixed(Dead, Recogniser)}),
    ("slow-can-be-left", {"make": Recogniser, "make_slow": mixed(Stuck, Recogniser)}),
    *((name, {"make": mixed(fault, Recogniser)}) for name, fault in FAULTS if name != "long-text-can-be-left"),
]
RESPONDERS: list[tuple[str, dict[str, Any]]] = [
    ("answers", {"make": with_method(Responder, clauses=lambda *_: [])}),
    ("clauses-are-text", {"make": with_method(Responder, clauses=lambda *_: [b"Hello."])}),
    ("the-end-is-given", {"make": Responder, "says": "Hello. How are you, then"}),
    ("empty-text-is-answered-or-refused", {"make": with_method(Responder, clauses=lambda _, text: [text[0], text])}),
    ("messages-are-left-alone", {"make": with_method(Responder, reply=pops)}),
    ("odd-text-is-answered-or-refused", {"make": with_method(Responder, clauses=lambda _, t: [str(t.encode()), t])}),
    ("closing-a-reply-ends-it", {"make": with_method(Responder, reply=goes_on)}),
    ("anticipation-can-be-left", {"make": with_method(Responder, anticipate=sleeps)}),
    ("dead-is-told", {"make": Responder, "make_dead": mixed(Dead, Responder)}),
    ("slow-can-be-left", {"make": Responder, "make_slow": mixed(Stuck, Responder)}),
    *((name, {"make": mixed(fault, Responder)}) for name, fault in FAULTS),
]
DETECTORS: list[tuple[str, dict[str, Any]]] = [
    ("answers", {"make": with_method(Detector, value=lambda _, now: now - 1.0)}),
    ("answers", {"make": with_method(Detector, rate=None)}),
    ("silence-is-no-voice", {"make": with_method(Detector, value=lambda _, now: 1.0 - now)}),
    ("wrong-length-is-refused", {"make": with_method(Detector, check=lambda *_: None)}),
    ("samples-are-left-alone", {"make": with_method(Detector, check=scales_a_frame)}),
    ("reset-forgets", {"make": with_method(Detector, reset=lambda _: None, last=0.0)}),
    ("streams-keep-apart", {"make": mixed(OneMemory, Detector)}),
    ("keeps-up", {"make": with_method(Detector, value=slowly)}),
    ("works-on-another-thread", {"make": mixed(ByThread, Detector)}),
]
VOICES: list[tuple[str, dict[str, Any]]] = [
    ("answers", {"make": with_method(Voice, speak=gives)}),
    ("text-is-kept", {"make": with_method(Voice, speak=spoken_as(text=lambda _: "[spoken]"))}),
    ("empty-text-ends", {"make": with_method(Voice, before=empty_fails)}),
    ("stop-ends-a-sentence", {"make": with_method(Voice, stop=gives)}),
    ("stop-ends-a-sentence", {"make": with_method(Voice, speak=spoken_as(cut=lambda _: False))}),
    ("heard-is-a-beginning", {"make": with_method(Voice, speak=spoken_as(heard=lambda spoken: spoken.text[4:]))}),
    ("stop-is-safe-when-idle", {"make": with_method(Voice, stop=stop_stays, speak=speaks_after_stop)}),
    ("cancel-ends-it", {"make": with_method(Voice, speak=speaks_shielded, seconds=2.0)}),
    ("works-after-a-cancel", {"make": with_method(Voice, speak=speaks_once)}),
    ("leaves-the-loop-free", {"make": with_method(Voice, before=blocks)}),
    ("long-text-can-be-stopped", {"make": with_method(Voice, before=long_unstoppable)}),
    ("prepared-is-spoken", {"make": with_method(Voice, prepare=fails)}),
    ("audible-returns", {"make": with_method(Voice, audible=sleeps_forever)}),
    ("close-is-idempotent", {"make": mixed(ClosesOnce, Voice)}),
    ("close-ends-a-call", {"make": with_method(Voice, speak=never_returns)}),
    ("warms-up-again", {"make": mixed(WarmsOnce, Voice)}),
    ("dead-is-told", {"make": Voice, "make_dead": with_method(Voice, speak=fails)}),
    ("slow-can-be-left", {"make": Voice, "make_slow": with_method(Voice, speak=sleeps)}),
]
LISTENERS: list[tuple[str, dict[str, Any]]] = [
    ("answers", {"make": with_method(Listener, utterances=sighs)}),
    ("turns-are-the-users", {"make": lambda: Listener([Utterance("agent", "hello")])}),
    ("times-are-in-order", {"make": lambda: Listener([Utterance("user", "hello", 2.0, 1.0)])}),
    ("cancel-ends-it", {"make": with_method(Listener, utterances=deaf)}),
    ("speech-started-can-be-left", {"make": with_method(Listener, speech_started=sleeps)}),
    ("leaves-the-loop-free", {"make": with_method(Listener, utterances=blocked)}),
    ("mutes-and-opens", {"make": with_method(Listener, mute=fails)}),
    ("close-is-idempotent", {"make": mixed(ClosesOnce, Listener)}),
    ("warms-up-again", {"make": mixed(WarmsOnce, Listener)}),
    ("dead-is-told", {"make": Listener, "make_dead": with_method(Listener, utterances=failing)}),
    ("slow-can-be-left", {"make": Listener, "make_slow": with_method(Listener, utterances=deaf)}),
]
PORTS: dict[str, tuple[Callable[..., Any], Any, tuple[Rule, ...], list[tuple[str, dict[str, Any]]]]] = {
    "synthesiser": (kit.check_synthesiser, Synthesiser, kit.SYNTHESISER_RULES, SYNTHESISERS),
    "recogniser": (kit.check_recogniser, Recogniser, kit.RECOGNISER_RULES, RECOGNISERS),
    "responder": (kit.check_responder, Responder, kit.RESPONDER_RULES, RESPONDERS),
    "detector": (kit.check_detector, Detector, kit.DETECTOR_RULES, DETECTORS),
    "voice": (kit.check_voice, Voice, kit.VOICE_RULES, VOICES),
    "listener": (kit.check_listener, Listener, kit.LISTENER_RULES, LISTENERS),
}
CASES = [(port, name, how) for port, (_, _, _, cases) in PORTS.items() for name, how in cases]


@pytest.fixture
def anyio_backend() -> Any:
    """A clock that jumps."""
    return "asyncio", {"loop_factory": VirtualTimeLoop}


@pytest.mark.parametrize(("port", "name", "how"), CASES, ids=[f"{port}.{name}" for port, name, _ in CASES])
async def test_a_broken_part_fails_by_the_name_of_its_rule(port: str, name: str, how: dict[str, Any]) -> None:
    blocks = name == "leaves-the-loop-free"
    limits = kit.Limits(blocked_s=BLOCKS_S / 2 if blocks else 5.0, let_go_s=0.5, patience_s=0.5)
    with pytest.raises(kit.NotConforming) as caught:
        await PORTS[port][0](**how, limits=limits)

    report = caught.value.report
    assert [f"{port}.{name}"] == [finding.rule.name for finding in report.broken], str(report)
    assert f"{port}.{name}: " in str(caught.value)
    assert report.broken[0].rule.fix in str(caught.value)


@pytest.mark.parametrize("port", PORTS)
async def test_a_good_part_keeps_every_rule_but_those_nobody_can_look_at(port: str) -> None:
    check, part, rules, _ = PORTS[port]
    more: dict[str, Any] = {"says": "Hello. How are you"} if port == "responder" else {}
    report = await check(part, **more, limits=kit.Limits(blocked_s=5.0))

    assert report.conforms
    assert {finding.rule.name for finding in report.unchecked} <= {f"{port}.dead-is-told", f"{port}.slow-can-be-left"}
    assert set(rules) == {*report.kept, *(finding.rule for finding in report.unchecked)}


@pytest.mark.parametrize("port", PORTS)
def test_every_rule_has_a_part_that_breaks_it(port: str) -> None:
    _, _, rules, cases = PORTS[port]
    assert {rule.name for rule in rules} == {f"{port}.{name}" for name, _ in cases}
    assert len(rules) == len({rule.name for rule in rules})


@pytest.mark.parametrize("port", PORTS)
def test_every_rule_says_what_is_expected_and_what_to_do(port: str) -> None:
    for rule in PORTS[port][2]:
        assert rule.expects.endswith(".")
        assert rule.fix.endswith(".")


async def test_a_report_can_be_had_without_an_error_and_says_what_stands_on_what() -> None:
    report = await kit.check_synthesiser(with_method(Synthesiser, synthesise=gives), raises=False)

    assert not report.conforms
    assert "it gave NoneType, no Speech" in report.broken[0].seen
    assert {finding.seen for finding in report.unchecked} > {"it stands on synthesiser.answers"}
    assert str(report).startswith("OddSynthesiser as a synthesiser: 0 kept, 1 broken, ")


async def test_a_part_that_cannot_be_made_answers_nothing() -> None:
    with pytest.raises(kit.NotConforming, match="OSError: no such model") as caught:
        await kit.check_recogniser(cannot_be_made)
    assert ["recogniser.answers"] == [finding.rule.name for finding in caught.value.report.broken]


def test_a_limit_out_of_range_is_named() -> None:
    with pytest.raises(SettingError, match="let_go_s"):
        kit.Limits(let_go_s=0.0)
