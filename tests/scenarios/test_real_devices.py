"""Scenarios in real time, through PortAudio and the virtual devices: one talk, held once, of which all is recorded."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
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
from discussion_helper.testing.room.synthesisers import WORDS_PER_S
from discussion_helper.testing.virtual_devices import RATE, VirtualDevices
from discussion_helper.types import Policy, Utterance
from discussion_helper.voice.assembly import session_on
from discussion_helper.voice.devices import sound_devices
from discussion_helper.voice.engine import AudioEngine

pytestmark = [pytest.mark.devices, pytest.mark.slow, pytest.mark.timeout(180)]

LONG = [
    "There is a lot to tell about that.",
    "It began a long time ago in the north.",
    "Nobody knew why, and few people asked.",
    "So they went home again.",
]
MANY = [f"This is sentence number {number} of the whole." for number in range(22)]
WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
HUM = "Hum hum hum hum hum hum hum hum hum hum hum hum hum hum"
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
    after_halt: list[Any] = field(default_factory=list)
    underflows: int = 0
    """While it hummed: each is a gap of the machine's making."""


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
            session.start()
            stage = Stage(held, devices, engine, session, events)
            await stage.expect("device", which="microphone", state="open")
            await acts(stage, echo, clip)
            await session.stop()


async def acts(on: Stage, echo: Kept, clip: Callable[[str], Frame]) -> None:
    """What happens."""

    async def tones(recording: Recording) -> None:
        at_s = np.arange(2 * RATE) / RATE
        for hertz in (1_000, 12_000):
            tone = np.asarray(0.1 * np.sin(2.0 * np.pi * hertz * at_s), np.float32)
            speech = await anyio.to_thread.run_sync(on.devices.speak, tone)
            await anyio.to_thread.run_sync(speech.wait)

    async def alone(recording: Recording) -> None:
        for sentence in LONG:
            cut = on.held.voice._cut(sentence)
            on.held.ears.knows(sentence, cut, RATE)
        await on.session.speak(" ".join(LONG))
        await on.expect("utterance", speaker="agent")
        await on.quiet(recording, 2.0)

    async def talked_over(recording: Recording) -> None:
        await on.say(clip("speech/sphinx_goforward.wav"), "go forward ten meters", -22.0)
        await on.expect("floor", floor="speaking")
        await on.heard(recording, 2.0)
        await on.say(clip("speech/sphinx_cards_002.wav"), "four queen of clubs", -16.0)
        await on.expect("interruption")
        halted = on.engine.playback.position.generation
        await on.expect("utterance", speaker="user")
        await on.expect("utterance", speaker="agent")
        late = np.full(4_800, 0.9, np.float32)
        on.held.after_halt = [on.engine.playback.write(halted, late) for _ in range(5)]
        await on.quiet(recording, 1.0)

    async def coughed(recording: Recording) -> None:
        await on.session.speak(WORDS)
        await on.heard(recording, 1.5)
        await on.say(clip("noise/sonicpi_misc_burp.flac"), "", -16.0)
        await on.expect("utterance", speaker="agent")
        await on.quiet(recording, 1.0)

    async def hummed(recording: Recording) -> None:
        await on.session.speak(HUM)
        await on.heard(recording, 1.5)
        await on.say(clip("backchannel/ami_trn01_03.09.wav"), "", -12.0)
        await on.expect("decision", what="ignored")
        await on.heard(recording, 4.0)
        assert await on.session.interrupt()
        await on.quiet(recording, 0.5)

    await on.part("tones", tones)
    on.held.heard = np.concatenate(echo.blocks)
    with on.devices.echo(gain_db=-10.0, delay_s=0.1):
        await on.part("alone", alone)
        await on.part("talked over", talked_over)
    await on.part("coughed", coughed)
    before = on.engine.health().underflows
    await on.part("hummed", hummed)
    on.held.underflows = on.engine.health().underflows - before


@pytest.fixture(scope="module")
def held(parts: Any, clip: Callable[[str], Frame]) -> Held:
    """The talk, which was held."""
    answers, ears, voice = parts
    held = Held(answers([MANY, ["Good, that is all."]], delay_s=0.3), ears(), voice())
    with VirtualDevices(room_dbfs=-70.0) as devices:
        devices.apply()
        anyio.run(hold, held, devices, clip)
    return held


def spans(samples: Samples, *, least_s: float) -> list[tuple[int, int]]:
    """Of what is audible, parted by silences of at least that length."""
    loud = np.flatnonzero(np.abs(samples) > 1e-3)
    cuts = np.flatnonzero(np.diff(loud) > least_s * RATE)
    return list(zip(loud[[0, *(cuts + 1)]], loud[[*cuts, -1]] + 1, strict=True))


def test_g1_a_device_that_knows_48_khz_alone(held: Held) -> None:
    """A tone of 1 kHz is within 0.5 dB at 16 kHz, one of 12 kHz below -40 dB."""
    samples = held.heard
    windows = samples[: len(samples) // 8_000 * 8_000].reshape(-1, 8_000)
    spectra = np.abs(np.fft.rfft(windows * np.hanning(8_000), axis=1)) * 4.0 / 8_000

    assert -20.0 == pytest.approx(20.0 * np.log10(spectra[:, 497:504].max()), abs=0.5)
    assert 20.0 * np.log10(spectra[-3:, 1_990:2_010].max()) < -60.0


def test_a1_nobody_speaks_and_the_echo_interrupts_nothing(held: Held) -> None:
    """A leak of -10 dB 100 ms later, a reply of 10 s: no interruption, no turn, the reply complete."""
    part = held.parts["alone"]

    assert [("agent", " ".join(LONG), False)] == [(it.speaker, it.text, it.interrupted) for it in part.said]
    assert [] == part.data("interruption")


def test_a3_no_sentence_of_the_agents_is_a_turn(held: Held) -> None:
    """The recogniser would understand every sentence of the agent's: none came back as the user's."""
    turns = [it.text for part in held.parts.values() for it in part.said if it.speaker == "user"]

    assert {"alone", "coughed", "hummed"} <= {
        name for name, part in held.parts.items() if not part.data("floor", floor="thinking")
    }
    assert not [text for text in turns if any(sentence.rstrip(".") in text for sentence in LONG)]


def test_b1_and_b2_what_is_stored_is_what_was_heard_no_more_no_less(held: Held) -> None:
    """The stored text of the reply that was cut are the words that were at the loudspeaker, give or take one."""
    part = held.parts["talked over"]
    reply = next(it for it in part.said if it.speaker == "agent")
    text = " ".join(MANY)
    first, *_, last = np.flatnonzero(np.abs(part.loudspeaker[: start_of_second(held)]) > 1e-3)
    played_s = (last + 1 - first) / RATE

    assert reply.interrupted
    assert text.startswith(reply.text)
    assert abs(len(reply.text.split()) - played_s * WORDS_PER_S) <= 1.0
    assert reply.text == held.answers.seen[1][-2]["content"]


def start_of_second(held: Held) -> int:
    """Where the second reply begins in the part where somebody talks over the first."""
    heard, made = held.parts["talked over"].loudspeaker, held.voice.made["Good, that is all."].samples
    size = 1 << (len(heard) + len(made)).bit_length()
    product = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(made, size)), size)[: len(heard)]
    return int(np.argmax(product))


def test_c1_the_request_is_cancelled_and_nothing_comes_after_the_stop(held: Held) -> None:
    """Interrupted with many sentences to go: the request has ended before the user is answered, the rest is not heard.

    An interruption by voice keeps it until the turn is there, for it may prove to be none.
    """
    part = held.parts["talked over"]

    assert len(held.answers.cancelled_s) >= 1
    assert 0 == held.answers.given.count(MANY[-1])
    assert [True, False] == [it.interrupted for it in part.said if it.speaker == "agent"]
    silent = part.loudspeaker[start_of_second(held) - RATE // 2 : start_of_second(held)]
    assert np.abs(silent).max() < 1e-3


def test_c2_what_comes_late_of_a_dead_reply_is_never_played(held: Held) -> None:
    """Five chunks of the dead reply after the next one began: none is taken, none is heard."""
    assert [None] * 5 == held.after_halt
    assert np.abs(held.parts["talked over"].loudspeaker).max() < 0.89


def test_c4_after_a_cough_the_same_reply_goes_on_from_the_same_sample(held: Held) -> None:
    """A cough over a reply: the same reply within 2.0 s from the same sample, give or take a block."""
    part = held.parts["coughed"]
    made = held.voice.made[WORDS].samples
    pieces = spans(part.loudspeaker, least_s=0.3)
    gaps_s = [(after[0] - before[1]) / RATE for before, after in pairwise(pieces)]

    assert [(WORDS, False)] == [(it.text, it.interrupted) for it in part.said]
    assert 2 == len(pieces)
    assert gaps_s[0] < 2.0
    lengths = sum(end - start for start, end in pieces)
    assert lengths == pytest.approx(len(made), abs=0.06 * RATE)
    end = pieces[1][1]
    tail = part.loudspeaker[end - RATE : end]
    assert np.allclose(tail, made[np.flatnonzero(np.abs(made) > 1e-3)[-1] + 1 - RATE :][:RATE], atol=2e-3)


def test_c10_neither_a_duck_nor_a_resume_nor_a_stop_clicks(held: Held) -> None:
    """The agent hums, is turned down, goes on and is stopped: no step above 0.05 of full scale.

    A machine that is too busy to play without gaps makes two at each of them.
    """
    part = held.parts["hummed"]

    assert np.abs(part.loudspeaker).max() > 0.14
    assert [True] == [it.interrupted for it in part.said]
    assert np.sum(np.abs(np.diff(part.loudspeaker)) > 0.05) <= 2 * held.underflows


def test_c12_every_sample_of_a_reply_reaches_the_device(held: Held) -> None:
    """The end of a reply is not clipped: the last half second is at the loudspeaker, sample by sample."""
    part = held.parts["talked over"]
    made = held.voice.made["Good, that is all."].samples
    last = int(np.flatnonzero(np.abs(part.loudspeaker) > 1e-3)[-1])
    end = int(np.flatnonzero(np.abs(made) > 1e-3)[-1])

    assert np.allclose(part.loudspeaker[last - RATE // 2 : last + 1], made[end - RATE // 2 : end + 1], atol=2e-3)


def test_d1_and_d3_the_first_words_are_there_also_over_a_reply(held: Held) -> None:
    """The first word of a turn in silence, and of one over a reply with its echo."""
    turns = [it.text for it in held.parts["talked over"].said if it.speaker == "user"]

    assert turns[0].endswith("go forward ten meters")
    assert "four" in turns[1].split()
