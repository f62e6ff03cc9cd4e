"""A talk in real time, through PortAudio and the virtual devices: held once, and all of it is recorded."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import anyio
import numpy as np
import pytest

from discussion_helper.audio.analysis import at_level, voiced
from discussion_helper.audio.echo import EchoPath
from discussion_helper.audio.frames import Frame, Samples
from discussion_helper.events import Event, Subscription
from discussion_helper.listening import hearing_with
from discussion_helper.session import Session
from discussion_helper.testing.recording import Recording
from discussion_helper.testing.virtual_devices import RATE, VirtualDevices
from discussion_helper.types import Policy, Utterance
from discussion_helper.voice.assembly import session_on
from discussion_helper.voice.devices import sound_devices
from discussion_helper.voice.engine import AudioEngine
from discussion_helper.voice.notes import Decided, Turn


@dataclass(frozen=True)
class Script:
    """What is said in it: the agent's texts, and the recordings that the user asks with."""

    long: tuple[str, ...] = (
        "There is a lot to tell about that.",
        "It began a long time ago in the north.",
        "Nobody knew why, and few people asked.",
        "So they went home again.",
    )
    many: tuple[str, ...] = tuple(f"This is sentence number {number} of the whole." for number in range(22))
    words: str = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    last: str = "Good, that is all."
    hum: str = "Hum hum hum hum hum hum hum hum hum hum hum hum hum hum"
    asked: tuple[tuple[str, str], ...] = (
        ("speech/sphinx_cards_004.wav", "five five"),
        ("speech/praatio_bobby.wav", "bobby ripped the ledger"),
        ("speech/cmu_arctic_a0009.wav", "he turned sharply and faced gregson across the table"),
    )


SCRIPT = Script()
LATENCY_S = 0.06
"""For a machine that has other things to do."""


class Kept(EchoPath):
    """Keeps what the detectors hear, at 16 kHz."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[Samples] = []

    def clean(self, near: Samples, at_s: float, start: int | None = None) -> Samples:
        self.blocks.append(near)
        return super().clean(near, at_s, start)


@dataclass
class Part:
    """One part of the talk: what was at the loudspeaker, what was told, who said what."""

    loudspeaker: Samples
    microphone: Samples
    told: list[Event]
    said: list[Utterance]

    def data(self, kind: str, **data: Any) -> list[dict[str, Any]]:
        """What was told of that kind, with that data."""
        found = [event.data for event in self.told if event.kind == kind]
        return [it for it in found if all(it.get(key) == value for key, value in data.items())]


@dataclass
class Held:
    """The whole talk."""

    answers: Any
    ears: Any
    voice: Any
    parts: dict[str, Part] = field(default_factory=dict)
    heard: Samples = field(default_factory=lambda: np.zeros(0, np.float32))
    turns: list[Turn] = field(default_factory=list)
    decided_s: list[float] = field(default_factory=list)
    """When an interruption was told, on asyncio's clock."""
    late: list[tuple[int, int | None, bool]] = field(default_factory=list)
    """Of each chunk of the dead reply: the reply that was played then, what became of it, whether all was played."""
    dead: int = 0
    """The dead reply."""
    underflows: dict[str, int] = field(default_factory=dict)
    """While it was coughed at, and while it hummed: each is a gap of the machine's making."""
    script: Script = SCRIPT


class Stage:
    """Directs the talk."""

    def __init__(
        self, held: Held, devices: VirtualDevices, engine: AudioEngine, session: Session, events: Subscription[Event]
    ) -> None:
        self.held, self.devices, self.engine, self.session, self.events = held, devices, engine, session, events
        self.told: list[Event] = []

    async def expect(self, kind: str, *, within_s: float = 20.0, **data: Any) -> Event:
        """Wait until it is told."""
        with anyio.fail_after(within_s):
            async for event in self.events:
                self.told.append(event)
                if event.kind == kind and data.items() <= event.data.items():
                    return event
        raise AssertionError("the talk has ended")

    async def say(self, clip: Frame, text: str, dbfs: float) -> None:
        """Into the microphone, from now on."""
        if text:
            self.held.ears.knows(text, clip.samples, clip.rate)
        sound = at_level(clip.samples, voiced(clip.samples, clip.rate).level_dbfs, dbfs)
        await anyio.to_thread.run_sync(self.devices.speak, sound)

    async def heard(self, recording: Recording, seconds: float) -> None:
        """Wait until the agent has been heard for so long."""

        def wait() -> bool:
            recording.wait(lambda it: it.first_audible("loudspeaker") is not None, timeout=10.0)
            first = recording.first_audible("loudspeaker") or 0
            return recording.wait(lambda it: len(it) >= first + seconds * RATE, timeout=20.0)

        assert await anyio.to_thread.run_sync(wait)

    async def quiet(self, recording: Recording, seconds: float) -> None:
        """Wait until the agent has been silent for so long."""
        wait = partial(recording.wait_quiet, "loudspeaker", seconds, timeout=30.0)
        assert await anyio.to_thread.run_sync(wait)

    async def part(self, name: str, act: Callable[[Recording], Any]) -> None:
        """Record a part."""
        before = len(self.session.discussion.conversation.utterances)
        with self.devices.record(limit_s=60.0) as recording:
            await act(recording)
        self.told += [await anext(self.events) for _ in range(len(self.events))]
        said = list(self.session.discussion.conversation.utterances[before:])
        self.held.parts[name] = Part(recording.loudspeaker, recording.microphone, self.told, said)
        self.told = []


async def hold(held: Held, devices: VirtualDevices, clip: Callable[[str], Frame]) -> None:
    """Hold the talk."""
    found, echo, policy = sound_devices(None, None, latency_s=LATENCY_S), Kept(), Policy()
    engine = AudioEngine(
        inbox=found.inbox,
        open_capture=found.open_capture,
        open_playback=found.open_playback,
        hearing=lambda rate: hearing_with(rate, echo, policy=policy, language="en"),
    )
    async with engine:
        session = session_on(
            engine,
            recogniser=held.ears,
            responder=held.answers,
            synthesiser=held.voice,
            policy=policy,
            language="en",
        )
        async with session.events("floor", "utterance", "decision", "interruption", "device") as events:
            follow(session, held)
            session.start()
            stage = Stage(held, devices, engine, session, events)
            await stage.expect("device", which="microphone", state="open")
            await acts(stage, echo, clip)
            await session.stop()


def follow(session: Session, held: Held) -> None:
    """Keep what the audio thread tells of turns and of interruptions."""
    listener: Any = session.discussion.listener
    noted = listener.noted

    def note(it: Any) -> None:
        if isinstance(it, Turn):
            held.turns.append(it)
        if isinstance(it, Decided) and it.what == "interruption":
            held.decided_s.append(time.monotonic())
        noted(it)

    listener.noted = note


def _holds(samples: int, recording: Recording) -> bool:
    return len(recording) >= samples


async def acts(on: Stage, echo: Kept, clip: Callable[[str], Frame]) -> None:
    """What happens."""

    async def tones(recording: Recording) -> None:
        at_s = np.arange(2 * RATE) / RATE
        for hertz in (1_000, 12_000):
            tone = np.asarray(0.1 * np.sin(2.0 * np.pi * hertz * at_s), np.float32)
            speech = await anyio.to_thread.run_sync(on.devices.speak, tone)
            await anyio.to_thread.run_sync(speech.wait)

    async def alone(recording: Recording) -> None:
        for sentence in SCRIPT.long:
            cut = on.held.voice._cut(sentence)
            on.held.ears.knows(sentence, cut, RATE)
        await on.session.speak(" ".join(SCRIPT.long))
        await on.expect("utterance", speaker="agent")
        await on.quiet(recording, 2.0)

    async def talked_over(recording: Recording) -> None:
        await on.say(clip("speech/sphinx_goforward.wav"), "go forward ten meters", -22.0)
        await on.expect("floor", floor="speaking")
        await on.heard(recording, 2.0)
        await on.say(clip("speech/sphinx_cards_002.wav"), "four queen of clubs", -16.0)
        await on.expect("interruption")
        on.held.dead = on.engine.playback.position.generation
        await on.expect("utterance", speaker="user")
        await on.expect("floor", floor="speaking")
        await write_late(recording)
        await on.expect("utterance", speaker="agent")
        await on.quiet(recording, 1.0)

    async def write_late(recording: Recording) -> None:
        """Five chunks of the dead reply, from the first sample of the next one on."""
        playback = on.engine.playback
        plays = partial(recording.wait, lambda _: playback.position.generation > on.held.dead, timeout=10.0)
        assert await anyio.to_thread.run_sync(plays)
        began = len(recording)
        for number in range(5):
            written = playback.write(on.held.dead, np.full(4_800, 0.9, np.float32))
            on.held.late.append((playback.position.generation, written, playback.idle))
            wanted = began + (number + 1) * RATE // 5
            passed = partial(recording.wait, partial(_holds, wanted), timeout=10.0)
            assert await anyio.to_thread.run_sync(passed)

    async def coughed(recording: Recording) -> None:
        await on.session.speak(SCRIPT.words)
        await on.heard(recording, 1.5)
        await on.say(clip("noise/sonicpi_misc_burp.flac"), "", -16.0)
        await on.expect("utterance", speaker="agent")
        await on.quiet(recording, 1.0)

    async def hummed(recording: Recording) -> None:
        await on.session.speak(SCRIPT.hum)
        await on.heard(recording, 1.5)
        await on.say(clip("backchannel/ami_trn01_03.09.wav"), "", -12.0)
        await on.expect("decision", what="ignored")
        await on.heard(recording, 4.0)
        assert await on.session.interrupt()
        await on.quiet(recording, 0.5)

    async def asked(recording: Recording) -> None:
        for name, text in SCRIPT.asked:
            await on.say(clip(name), text, -20.0)
            await on.expect("utterance", speaker="agent")
            await on.quiet(recording, 1.0)

    await on.part("tones", tones)
    on.held.heard = np.concatenate(echo.blocks)
    with on.devices.echo(gain_db=-10.0, delay_s=0.1):
        await on.part("alone", alone)
        await on.part("talked over", talked_over)
    for name, act in (("coughed", coughed), ("hummed", hummed)):
        before = on.engine.health().underflows
        await on.part(name, act)
        on.held.underflows[name] = on.engine.health().underflows - before
    await on.part("asked", asked)


@pytest.fixture(scope="module")
def held(parts: Any, clip: Callable[[str], Frame]) -> Held:
    """The talk, which was held."""
    answers, ears, voice = parts
    held = Held(answers([SCRIPT.many, [SCRIPT.last]], delay_s=0.3), ears(), voice())
    with VirtualDevices(room_dbfs=-70.0) as devices:
        devices.apply()
        anyio.run(hold, held, devices, clip)
    return held
