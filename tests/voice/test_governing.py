"""A session under its governor, in virtual time: a machine that is late does without, and has it back."""

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from discussion_helper.audio.frames import silence
from discussion_helper.events import Event
from discussion_helper.governor import SHEDS
from discussion_helper.parts import Reporter
from discussion_helper.policy import Policy
from discussion_helper.session import Session
from discussion_helper.stt.base import Recognised
from discussion_helper.stt.two_sizes import TwoSizes
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.testing.room import (
    CutSynthesiser,
    NoEchoPath,
    Room,
    ScriptedRecogniser,
    cheap_detectors,
    run_in_room,
    speech_like,
)
from discussion_helper.voice.governing import governed, switches_of
from discussion_helper.voice.health import Lag, Lateness

pytestmark = pytest.mark.anyio


class Measuring(ScriptedListener):
    """A listener that hears nothing and tells its level."""

    def __init__(self) -> None:
        super().__init__([], stays_open=True)
        self.interim = True
        self.readings: deque[float] = deque()
        self.reporter: Reporter | None = None

    def attach(self, reporter: Reporter) -> None:
        super().attach(reporter)
        self.reporter = reporter

    async def pulse(self, seconds: float) -> None:
        assert self.reporter is not None
        for _ in range(round(seconds * 10)):
            self.reporter.report("level", dbfs=-60.0)
            await anyio.sleep(0.1)


class Waiting(SilentVoice):
    """A voice that tells its waits."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: deque[float] = deque()


class Governed:
    """A session of fakes, and what was told."""

    def __init__(self) -> None:
        self.listener, self.voice, self.lag = Measuring(), Waiting(), Lag()
        self.used_full = self.used_second = True
        self.session = Session(self.listener, EchoResponder(), self.voice, Policy(silence_timeout_s=0.0))
        self.told: list[Event] = []

    async def use_full(self, on: bool) -> None:
        self.used_full = on

    async def use_second(self, on: bool) -> None:
        assert self.used_full
        self.used_second = on

    async def run(self, main: Callable[[], Awaitable[None]], **how: Any) -> None:
        async with (
            governed(self.session, lambda: self.lag, second=self.use_second, larger=self.use_full, **how),
            anyio.create_task_group() as all_,
        ):
            all_.start_soon(self._follow, self.session.events("shed"))
            self.session.start()
            await anyio.sleep(0.01)
            await main()
            await self.session.stop()

    async def _follow(self, events: Any) -> None:
        self.told += [event async for event in events if event.kind == "shed"]

    @property
    def changes(self) -> list[tuple[str, str, str]]:
        return [(event.data["what"], event.data["state"], event.data["why"]) for event in self.told]


async def test_what_goes_is_off_and_told_and_what_comes_back_is_on() -> None:
    talk = Governed()

    async def main() -> None:
        talk.lag = Lag(detectors_s=0.12)
        await talk.listener.pulse(10.0)
        assert (False, False, False, False) == (
            talk.listener.interim,
            talk.session.discussion.speculation.on,
            talk.used_second,
            talk.used_full,
        )
        assert {"now": list(SHEDS), "times": 4} == talk.session.state["shed"]
        talk.lag = Lag()
        await talk.listener.pulse(100.0)
        assert talk.listener.interim
        assert talk.session.discussion.speculation.on
        assert talk.used_second
        assert talk.used_full
        assert {"now": [], "times": 4} == talk.session.state["shed"]

    await talk.run(main)
    assert [(what, "shed", "detectors") for what in SHEDS] == talk.changes[: len(SHEDS)]
    assert [(what, "restored") for what in reversed(SHEDS)] == [change[:2] for change in talk.changes[len(SHEDS) :]]
    assert 0.12 == talk.told[0].data["late_s"]


async def test_a_machine_is_late_while_it_loads_and_does_without_nothing() -> None:
    talk = Governed()
    loaded = anyio.Event()
    talk.listener.warmup = loaded.wait  # type: ignore[attr-defined]

    async def main() -> None:
        talk.lag = Lag(detectors_s=0.5, loop_s=0.5)
        await talk.listener.pulse(5.0)
        talk.lag = Lag()
        loaded.set()
        await talk.listener.pulse(5.0)

    await talk.run(main)
    assert [] == talk.changes


@pytest.mark.parametrize(
    ("stage", "late"),
    [
        ("loop", lambda talk: setattr(talk, "lag", Lag(loop_s=0.2))),
        ("playback", lambda talk: setattr(talk, "lag", Lag(underflows=1))),
        ("interim", lambda talk: talk.listener.readings.extend([0.9, 0.9])),
        ("synthesis", lambda talk: talk.voice.waits.extend([0.0, 0.2, 0.2])),
    ],
)
async def test_each_stage_can_be_what_is_late(stage: str, late: Callable[[Governed], object]) -> None:
    talk = Governed()

    async def main() -> None:
        late(talk)
        await talk.listener.pulse(0.5)

    await talk.run(main)
    assert [("interim", "shed", stage)] == talk.changes


async def test_a_reply_that_begins_late_is_seen_in_the_timings() -> None:
    talk = Governed()

    async def main() -> None:
        for _ in range(2):
            talk.session.discussion._record.tell("timing", {"endpoint_s": 0.7, "recognise_s": 0.1, "think_s": 4.0})
        await anyio.sleep(0.01)

    await talk.run(main)
    assert [("interim", "shed", "first_token")] == talk.changes


async def test_a_switch_that_fails_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    talk = Governed()

    async def fails(on: bool) -> None:
        raise OSError("no such model")

    talk.use_full = fails  # type: ignore[method-assign]

    async def main() -> None:
        talk.lag = Lag(detectors_s=1.0)
        await talk.listener.pulse(10.0)
        assert talk.session.started
        assert not talk.session.ended

    await talk.run(main)
    assert "the recogniser could not be switched: no such model" in caplog.text


async def test_what_is_off_already_is_not_shed() -> None:
    listener = Measuring()
    listener.interim = False
    session = Session(listener, EchoResponder(), SilentVoice(), Policy(speculate=False))
    assert {} == switches_of(session)
    await session.stop()


class Sized:
    """A recogniser that knows whether it is loaded."""

    def __init__(self, name: str) -> None:
        self.name, self.loads, self.closes, self.fails = name, 0, 0, False

    async def recognise(self, samples: Any, *, voiced_s: float | None = None) -> Recognised:
        return Recognised(self.name)

    async def warmup(self) -> None:
        if self.fails:
            raise OSError(self.name)
        self.loads += 1

    async def aclose(self) -> None:
        self.closes += 1


async def test_the_small_recogniser_is_loaded_when_it_is_wanted() -> None:
    full, small = Sized("full"), Sized("small")
    both = TwoSizes(full, small)
    await both.warmup()
    assert (1, 0, "full") == (full.loads, small.loads, (await both.recognise(silence(1.0, 16_000))).text)
    await both.use_full(False)
    assert (1, "small") == (small.loads, (await both.recognise(silence(1.0, 16_000))).text)
    await both.use_full(True)
    assert "full" == (await both.recognise(silence(1.0, 16_000))).text
    await both.aclose()
    assert (1, 1) == (full.closes, small.closes)


async def test_a_small_one_that_cannot_be_loaded_is_not_used() -> None:
    full, small = Sized("full"), Sized("small")
    both, small.fails = TwoSizes(full, small), True
    with pytest.raises(OSError, match="small"):
        await both.use_full(False)
    assert "full" == (await both.recognise(silence(1.0, 16_000))).text


def test_the_worst_is_told_once() -> None:
    lateness = Lateness()
    for late_s in (0.01, 0.2, 0.03):
        lateness.add(late_s)
    assert [0.2, 0.0] == [lateness.take_s(), lateness.take_s()]
    assert 0.2 == lateness.worst_s


class Hogged:
    """A recogniser and a synthesiser on a machine whose processor somebody else takes for a while."""

    def __init__(self, room: Room, until_s: float) -> None:
        self.room, self.until_s = room, until_s
        self.recogniser = ScriptedRecogniser([f"number {number}" for number in range(5)], delay_s=0.1)
        self.synthesiser = CutSynthesiser(delay_s=0.05)
        self.rate = self.synthesiser.rate
        self.calls = 0

    async def slowly(self) -> float:
        slow_s = 1.2 if self.room.now_s < self.until_s else 0.0
        await anyio.sleep(slow_s)
        return slow_s

    async def recognise(self, samples: Any, *, voiced_s: float | None = None) -> Recognised:
        self.calls += 1
        slow_s = await self.slowly()
        heard = await self.recogniser.recognise(samples, voiced_s=voiced_s)
        return Recognised(heard.text, took_s=heard.took_s + slow_s)

    async def warmup(self) -> None: ...

    async def aclose(self) -> None: ...


def test_a_talk_on_a_machine_that_is_late_for_a_while_sheds_is_spoken_whole_and_has_all_back() -> None:
    told: list[Event] = []

    async def main(room: Room) -> tuple[int, list[str]]:
        hogged = Hogged(room, until_s=20.0)
        session = room.session(
            responder=EchoResponder(2),
            recogniser=hogged,
            synthesiser=hogged.synthesiser,
            policy=Policy(silence_timeout_s=0.0),
        )

        async def follow(events: Any) -> None:
            told.extend([event async for event in events])

        for number in range(5):
            room.say(speech_like(1.0, 48_000, seed=number + 2), at_s=1.0 + 6.0 * number, text=f"number {number}")
        async with governed(session, room.engine.lag), anyio.create_task_group() as tasks:
            tasks.start_soon(follow, session.events("shed"))
            session.start()
            await anyio.sleep(66.0)
            agent = [turn.text for turn in session.discussion.conversation.utterances if turn.speaker == "agent"]
            underflows = room.engine.health().underflows
            await session.stop()
        return underflows, agent

    underflows, agent = run_in_room(main, Room(detectors=cheap_detectors, echo_path=NoEchoPath))
    states = [(event.data["what"], event.data["state"]) for event in told if event.kind == "shed"]
    gone = ["interim", "speculation"]
    assert [*((what, "shed") for what in gone), *((what, "restored") for what in reversed(gone))] == states
    assert 0 == underflows
    assert [f"number {number} number {number} (2)" for number in range(5)] == agent
