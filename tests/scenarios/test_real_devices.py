"""Scenarios in real time, through PortAudio and the virtual devices: one talk, held once, of which all is recorded."""

import time
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
from discussion_helper.turn.turns import TurnEnded, TurnStarted
from discussion_helper.types import Policy, Utterance
from discussion_helper.voice.assembly import session_on
from discussion_helper.voice.devices import sound_devices
from discussion_helper.voice.engine import AudioEngine
from discussion_helper.voice.notes import Decided, Turn
from discussion_helper.voice.tail import with_tail

pytestmark = [pytest.mark.devices, pytest.mark.slow, pytest.mark.timeout(180)]

LONG = [
    "There is a lot to tell about that.",
    "It began a long time ago in the north.",
    "Nobody knew why, and few people asked.",
    "So they went home again.",
]
MANY = [f"This is sentence number {number} of the whole." for number in range(22)]
WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
LAST = "Good, that is all."
ASKED = (
    ("speech/sphinx_cards_004.wav", "five five"),
    ("speech/praatio_bobby.wav", "bobby ripped the ledger"),
    ("speech/cmu_arctic_a0009.wav", "he turned sharply and faced gregson across the table"),
)
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
    turns: list[Turn] = field(default_factory=list)
    decided_s: list[float] = field(default_factory=list)
    """When an interruption was told, on asyncio's clock."""
    late: list[tuple[int, int | None, bool]] = field(default_factory=list)
    """Of each chunk of the dead reply: the reply that was played then, what became of it, whether all was played."""
    dead: int = 0
    """The dead reply."""
    underflows: dict[str, int] = field(default_factory=dict)
    """While it was coughed at, and while it hummed: each is a gap of the machine's making."""


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

    async def asked(recording: Recording) -> None:
        for name, text in ASKED:
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
    held = Held(answers([MANY, [LAST]], delay_s=0.3), ears(), voice())
    with VirtualDevices(room_dbfs=-70.0) as devices:
        devices.apply()
        anyio.run(hold, held, devices, clip)
    return held


def spans(samples: Samples, *, least_s: float) -> list[tuple[int, int]]:
    """Of what is audible, parted by silences of at least that length."""
    loud = np.flatnonzero(np.abs(samples) > 1e-3)
    cuts = np.flatnonzero(np.diff(loud) > least_s * RATE)
    return list(zip(loud[[0, *(cuts + 1)]], loud[[*cuts, -1]] + 1, strict=True))


def loud_until(samples: Samples) -> int:
    """Where the last of it is louder than a voice at its very end, a ramp of 5 ms, and than what is played behind."""
    return int(np.flatnonzero(np.abs(samples) > 5e-3)[-1]) + 1


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
    heard, made = held.parts["talked over"].loudspeaker, held.voice.made[LAST].samples
    size = 1 << (len(heard) + len(made)).bit_length()
    product = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(made, size)), size)[: len(heard)]
    return int(np.argmax(product))


def test_c1_the_request_is_cancelled_and_nothing_comes_after_the_stop(held: Held) -> None:
    """Interrupted by voice with many sentences to go: the request is cancelled within 50 ms of the decision."""
    part = held.parts["talked over"]

    assert 1 <= len(held.answers.cancelled_s)
    assert held.answers.cancelled_s[0] - held.decided_s[0] <= 0.05
    assert 0 == held.answers.given.count(MANY[-1])
    assert [True, False] == [it.interrupted for it in part.said if it.speaker == "agent"]
    silent = part.loudspeaker[start_of_second(held) - RATE // 2 : start_of_second(held)]
    assert np.abs(silent).max() < 1e-3


def test_c2_what_comes_late_of_a_dead_reply_is_never_played(held: Held) -> None:
    """Five chunks of the dead reply while the next one is played: none is taken, and not a sample of them is heard."""
    part, start = held.parts["talked over"], start_of_second(held)
    made = held.voice.made[LAST].samples
    heard = part.loudspeaker[start : start + len(made)]

    assert {(held.dead + 1, None)} == {(playing, written) for playing, written, _ in held.late}
    assert [False] * 5 == [over for *_, over in held.late]
    assert np.abs(part.loudspeaker).max() < 0.89
    # Nothing but the second reply, wherever a busy machine has left gaps in it.
    assert np.abs(heard).max() <= np.abs(made).max() + 1e-3


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
    assert lengths == pytest.approx(len(made), abs=0.06 * RATE * (1 + held.underflows["coughed"])), held.underflows
    tail = part.loudspeaker[: loud_until(part.loudspeaker)][-RATE:]
    assert np.allclose(tail, made[: loud_until(made)][-RATE:], atol=2e-3)


def test_c10_neither_a_duck_nor_a_resume_nor_a_stop_clicks(held: Held) -> None:
    """The agent hums, is turned down, goes on and is stopped: no step above 0.05 of full scale.

    A machine that is too busy to play without gaps makes two at each of them.
    """
    part = held.parts["hummed"]

    assert np.abs(part.loudspeaker).max() > 0.14
    assert [True] == [it.interrupted for it in part.said]
    assert np.sum(np.abs(np.diff(part.loudspeaker)) > 0.05) <= 2 * held.underflows["hummed"]


def test_c12_every_sample_of_a_reply_reaches_the_device(held: Held) -> None:
    """The end of a reply is not clipped: the last half second is at the loudspeaker, sample by sample."""
    part = held.parts["talked over"]
    made = held.voice.made[LAST].samples
    last, end = loud_until(part.loudspeaker), loud_until(made)

    assert np.allclose(part.loudspeaker[last - RATE // 2 : last], made[end - RATE // 2 : end], atol=2e-3)


def test_d1_and_d3_the_first_words_are_there_also_over_a_reply(held: Held) -> None:
    """The first word of a turn in silence, and of one over a reply with its echo."""
    turns = [it.text for it in held.parts["talked over"].said if it.speaker == "user"]

    assert turns[0].endswith("go forward ten meters")
    assert "four" in turns[1].split()


def test_d1_the_200_ms_before_the_trigger_are_in_what_the_recogniser_is_given(held: Held) -> None:
    """Of every turn in silence: it begins 200 ms and more before the moment at which it was known to be one."""
    leads_s: list[float] = []
    started: Turn | None = None
    first = 0
    for turn in held.turns:
        if isinstance(turn.event, TurnStarted):
            started, first = turn, turn.event.at
        elif isinstance(turn.event, TurnEnded) and started is not None and not (turn.decided or turn.own):
            heard = with_tail(turn.event.samples)
            assert any(np.array_equal(heard, given) for given in held.ears.given)
            zero_s = started.started_at_s - first / 16_000
            leads_s.append(started.decided_at_s - zero_s - turn.event.start / 16_000)
    texts = [it.text for it in held.parts["asked"].said if it.speaker == "user"]

    assert [text for _, text in ASKED] == texts
    assert len(leads_s) >= 4
    assert min(leads_s) >= 0.2, leads_s
