"""Whatever is done to a session, done at every single step of the event loop."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import anyio
import pytest
import trio
import trio.testing

from discussion_helper.discussion import Discussion
from discussion_helper.events import Event
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, ScriptedListener, SilentVoice, VirtualTimeLoop
from discussion_helper.types import Floor, Policy, SpokenSentence

Act = Callable[[], Awaitable[object]]


class SteppedLoop(VirtualTimeLoop):
    """Calls `hook` with the number of every round of callbacks, before it."""

    def __init__(self, hook: Callable[[int], None]) -> None:
        super().__init__()
        self._hook = hook
        self._round = 0

    def _run_once(self) -> None:
        self._round += 1
        self._hook(self._round)
        super()._run_once()  # type: ignore[misc]


class SteppedTrio(trio.abc.Instrument):
    """The same for trio."""

    def __init__(self, hook: Callable[[int], None]) -> None:
        self._hook = hook
        self._round = 0

    def before_task_step(self, task: trio.lowlevel.Task) -> None:
        self._round += 1
        self._hook(self._round)


@dataclass
class Steps:
    """Starts `act` at step `at`, beside everything else, and says how many steps there were."""

    at: int
    act: Act | None = None
    count: int = 0
    open: bool = False
    tasks: list[object] = field(default_factory=list)

    def hook(self, number: int) -> None:
        if not self.open:
            return
        self.count += 1
        if self.count == self.at and self.act is not None:
            act, self.act = self.act, None
            self.tasks.append(self._spawn(act))

    def _spawn(self, act: Act) -> object:
        async def main() -> None:
            await act()

        try:
            return asyncio.get_running_loop().create_task(main())
        except RuntimeError:
            return trio.lowlevel.spawn_system_task(main)


def run(loop: str, steps: Steps, main: Callable[[Steps], Awaitable[Any]]) -> Any:
    if loop == "asyncio":
        options: dict[str, Any] = {"loop_factory": lambda: SteppedLoop(steps.hook)}
    else:
        clock = trio.testing.MockClock(autojump_threshold=0)
        options = {"clock": clock, "instruments": [SteppedTrio(steps.hook)]}
    return anyio.run(main, steps, backend=loop, backend_options=options)


class BareVoice:
    """The bare port."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._silent = anyio.Event()
        self.spoken: list[str] = []
        self.stops = 0
        self.closes = 0
        self.speaking = 0

    async def speak(self, sentence: str) -> SpokenSentence:
        self.spoken.append(sentence)
        self._silent = anyio.Event()
        self.speaking += 1
        try:
            with anyio.move_on_after(self._seconds):
                await self._silent.wait()
                return SpokenSentence(sentence, cut=True, heard="")
            return SpokenSentence(sentence, played_s=self._seconds)
        finally:
            self.speaking -= 1

    async def stop(self) -> None:
        self.stops += 1
        self._silent.set()

    async def aclose(self) -> None:
        self.closes += 1


class AheadVoice(SilentVoice):
    """Looks ahead and knows when it is audible."""

    async def prepare(self, sentence: str) -> None:
        await anyio.sleep(0.01)


VOICES: dict[str, Callable[[], Any]] = {
    "bare": lambda: BareVoice(0.1),
    "silent": lambda: SilentVoice(0.1, 0.02),
    "ahead": lambda: AheadVoice(0.1, 0.02),
}
LOOPS = ("asyncio", "trio")
TURN = ["utterance user", "floor thinking", "floor speaking", "utterance agent", "timing", "floor listening"]


def shape(event: Event) -> str:
    telling = ("floor", "speaker", "reason")
    return " ".join([event.kind, *(str(event.data[key]) for key in telling if key in event.data)])


def session_with(voice: Any, **policy: Any) -> Session:
    listener = ScriptedListener(["one", "two"], pace_s=0.05)
    return Session(listener, EchoResponder(2, delay_s=0.03), voice, Policy(**policy))


def until_all_were_tried(loop: str, attempt: Callable[[Steps], Awaitable[Any]]) -> int:
    """Act at step 1, 2, 3 ... until a whole session takes fewer steps."""
    at = 1
    while True:
        steps = Steps(at)
        run(loop, steps, attempt)
        if steps.act is not None:
            return at
        at += 1


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("voice", VOICES)
def test_interrupt_at_every_step(loop: str, voice: str) -> None:
    answers: set[tuple[Floor, bool]] = set()

    async def attempt(steps: Steps) -> None:
        pressed: list[tuple[Floor, bool, Floor, float]] = []

        async def press() -> None:
            before, at = session.floor, anyio.current_time()
            answer = await session.interrupt()
            pressed.append((before, answer, session.floor, anyio.current_time() - at))

        mouth = VOICES[voice]()
        session, steps.act = session_with(mouth), press
        events = session.events()
        steps.open = True
        session.start()
        conversation = await session.wait()
        steps.open = False
        agent = [u for u in conversation.utterances if u.speaker == "agent"]

        assert ["floor listening", *TURN, *TURN, "floor idle", "ended finished"] == [shape(e) async for e in events]
        assert 2 == len(agent)
        for before, answer, after, took in pressed:
            answers.add((before, answer))
            assert answer == (before is Floor.SPEAKING)
            assert sum(u.interrupted for u in agent) == answer, steps
            assert mouth.stops == 1 + answer
            assert took < 0.01
            assert not answer or after is Floor.LISTENING
        whole = [u.text for u in agent if not u.interrupted]
        assert all(text in ("one one (2)", "two two (2)") for text in whole)

    assert until_all_were_tried(loop, attempt) > 30
    floors = (Floor.IDLE, Floor.LISTENING, Floor.THINKING, Floor.SPEAKING)
    assert {(floor, floor is Floor.SPEAKING) for floor in floors} == answers


@pytest.mark.parametrize("loop", LOOPS)
def test_an_interrupt_whose_caller_gives_up_at_every_step_still_silences(loop: str) -> None:
    """The caller is cancelled right after it asked."""

    async def attempt(steps: Steps) -> None:
        asked: list[bool] = []

        async def press() -> None:
            with anyio.CancelScope() as scope:
                asked.append(session.floor is Floor.SPEAKING)
                scope.cancel()
                await session.interrupt()

        mouth = BareVoice(0.1)
        session, steps.act = session_with(mouth), press
        steps.open = True
        conversation = await session.start().wait()
        steps.open = False

        cut = [u for u in conversation.utterances if u.interrupted]
        assert len(cut) == sum(asked)
        assert 4 == len(conversation.utterances)
        assert mouth.stops == 1 + sum(asked)

    assert until_all_were_tried(loop, attempt) > 30


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("voice", VOICES)
def test_stop_at_every_step(loop: str, voice: str) -> None:
    async def attempt(steps: Steps) -> None:
        mouth = VOICES[voice]()
        session = session_with(mouth)
        steps.act = session.stop
        events = session.events()
        steps.open = True
        conversation = await session.start().wait()
        steps.open = False
        told = [shape(event) async for event in events]

        assert conversation is await session.stop()
        assert Floor.IDLE is session.floor
        assert told[-1] in ("ended stopped", "ended finished")
        assert "floor idle" in (told[-2:-1] or ["floor idle"])
        assert not mouth.speaking
        assert mouth.stops >= 1
        assert told.count("utterance agent") == told.count("timing") <= told.count("utterance user")
        assert not session._talk.running
        for utterance in conversation.utterances:
            assert utterance.interrupted or utterance.text in ("one", "two", "one one (2)", "two two (2)")

    assert until_all_were_tried(loop, attempt) > 30


@pytest.mark.parametrize("loop", LOOPS)
def test_stop_cancelled_by_its_caller_at_every_step_still_stops(loop: str) -> None:
    async def attempt(steps: Steps) -> None:
        async def stop() -> None:
            with anyio.CancelScope() as scope:
                scope.cancel()
                await session.stop()

        session, steps.act = session_with(BareVoice(0.1)), stop
        steps.open = True
        session.start()
        await session.wait()
        steps.open = False

        assert session.ended
        assert Floor.IDLE is session.floor

    assert until_all_were_tried(loop, attempt) > 30


@pytest.mark.parametrize("loop", LOOPS)
def test_a_discussion_cancelled_at_every_step_is_silent_and_keeps_what_was_heard(loop: str) -> None:
    async def attempt(steps: Steps) -> None:
        async def cancel() -> None:
            scope.cancel()

        mouth = BareVoice(0.1)
        discussion = Discussion(ScriptedListener(["one", "two"], pace_s=0.05), EchoResponder(2, delay_s=0.03), mouth)
        steps.act = cancel
        steps.open = True
        with anyio.CancelScope() as scope:
            async with discussion:
                await discussion.run()
        steps.open = False

        assert (0, 1) == (mouth.speaking, mouth.closes)
        assert Floor.IDLE is discussion.conversation.floor
        assert discussion.reason in ("stopped", "finished")
        agent = [u for u in discussion.conversation.utterances if u.speaker == "agent"]
        assert all(u.interrupted or u.text in ("one one (2)", "two two (2)") for u in agent)
        assert len(mouth.spoken) <= 4

    assert until_all_were_tried(loop, attempt) > 30


def test_a_discussion_whose_task_is_cancelled_at_every_step_ends_as_cancelled() -> None:
    async def attempt(steps: Steps) -> None:
        async def cancel() -> None:
            running.cancel()

        mouth = BareVoice(0.1)
        discussion = Discussion(ScriptedListener(["one", "two"], pace_s=0.05), EchoResponder(2, delay_s=0.03), mouth)
        steps.act = cancel
        steps.open = True
        running = asyncio.create_task(discussion.run())
        await asyncio.wait([running])
        steps.open = False

        assert running.cancelled() or running.exception() is None
        assert not mouth.speaking
        assert {asyncio.current_task()} == asyncio.all_tasks() - set(steps.tasks)

    assert until_all_were_tried("asyncio", attempt) > 30


@pytest.mark.parametrize("loop", LOOPS)
def test_a_typed_turn_at_every_step_is_answered_or_refused(loop: str) -> None:
    async def attempt(steps: Steps) -> None:
        refused: list[bool] = []

        async def say() -> None:
            try:
                await session.say("typed")
            except RuntimeError:
                refused.append(True)

        session, steps.act = session_with(BareVoice(0.1)), say
        steps.open = True
        conversation = await session.start().wait()
        steps.open = False
        await anyio.sleep(0.001)  # for an act that was started at the last step
        if steps.act is None:
            users, agent = ([u.text for u in conversation.utterances if u.speaker == s] for s in ("user", "agent"))
            assert ("typed" in users) != bool(refused), steps
            assert len(users) == len(agent)

    assert until_all_were_tried(loop, attempt) > 30
