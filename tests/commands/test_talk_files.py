"""Recorded speech as the user, on virtual time."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Future
from typing import Any

import anyio
import pytest

from discussion_helper.commands.talk_files import (
    ANOTHER_TURN_S,
    FOLLOWED,
    HELD_TURN_S,
    NOTICED_S,
    UNDERSTOOD_WITHIN_S,
    RecordedTurns,
)
from discussion_helper.discussion import OWED_S
from discussion_helper.errors import EndpointUnreachable
from discussion_helper.parts import Reporter
from discussion_helper.session import Session
from discussion_helper.testing import EchoResponder, SilentVoice, VirtualTimeLoop
from discussion_helper.types import Message, SpokenUtterance, Utterance

pytestmark = pytest.mark.anyio

CLIP_S = 3.0

Heard = tuple[float, str]
"""How long after the beginning of a clip something is heard, and what."""


@pytest.fixture
def anyio_backend() -> Any:
    return "asyncio", {"loop_factory": VirtualTimeLoop}


class Room:
    """A microphone that says clips of 3 s, and the listener at it, which hears `heard[n]` in clip n."""

    def __init__(self, *heard: Sequence[Heard]) -> None:
        self._heard = heard
        self._turns: list[str] = []
        self._changed = anyio.Event()
        self._reporter: Reporter | None = None
        self.opened = anyio.Event()
        """The microphone is; `attach` opens it, unless a test does later."""
        self.opens_at_once = True
        self.begun = anyio.Event()
        """A clip is being said."""
        self.closed = anyio.Event()
        self.said: list[tuple[int, float]] = []
        self.waiting: list[Future[None]] = []

    def attach(self, reporter: Reporter) -> None:
        self._reporter = reporter
        if self.opens_at_once:
            self.opened.set()

    def say(self, clip: int) -> "Future[None]":
        assert self._reporter is not None
        if self.closed.is_set():
            raise RuntimeError("The device is closed.")
        self.said.append((clip, round(self._reporter.now(), 3)))
        self.begun.set()
        loop, future = asyncio.get_running_loop(), Future[None]()
        loop.call_later(CLIP_S, self._end, future)
        for after_s, text in self._heard[clip]:
            loop.call_later(after_s, self._hear, text)
        self.waiting.append(future)
        return future

    def _end(self, future: "Future[None]") -> None:
        if not future.done():
            future.set_result(None)

    def _hear(self, text: str) -> None:
        self._turns.append(text)
        self._changed.set()

    async def utterances(self) -> AsyncIterator[Utterance]:
        assert self._reporter is not None
        await self.opened.wait()
        self._reporter.report("device", which="microphone", state="open")
        while True:
            while self._turns:
                yield self.turn(self._turns.pop(0))
            self._changed = anyio.Event()
            await self._changed.wait()

    def turn(self, text: str) -> Utterance:
        return Utterance("user", text)

    async def speech_started(self) -> None:
        await anyio.sleep_forever()

    async def aclose(self) -> None:
        self.closed.set()
        for future in self.waiting:
            future.cancel()


async def hold(
    room: Room, count: int, *, delay_s: float = 0.5, answer_s: float = 1.0, heard_out: Any = None, **more: Any
) -> tuple[int, list[str], float]:
    """How many clips were understood, what was told, and when it was over."""
    session = Session(room, EchoResponder(1, delay_s), SilentVoice(answer_s), **more)
    told: list[str] = []
    names = [f"{number}.wav" for number in range(count)]
    recorded = RecordedTurns(room, names, session.events(*FOLLOWED), told.append, heard_out=heard_out)
    session.start()
    understood = await recorded.hold()
    at_s = session.state["elapsed_s"]
    await session.stop()
    return understood, told, at_s


async def test_each_clip_waits_for_the_end_of_the_answer_before() -> None:
    room = Room([(4.0, "One.")], [(4.0, "Two.")])

    assert (2, [], 11.6) == await hold(room, 2)
    assert [(0, 0.0), (1, 5.5 + HELD_TURN_S)] == room.said


async def test_a_turn_that_was_heard_during_the_answer_is_answered_before_the_next_clip() -> None:
    room = Room([(3.5, "One."), (4.0, "Two.")], [(4.0, "Three.")])

    await hold(room, 2)

    assert [(0, 0.0), (1, 6.5 + HELD_TURN_S)] == room.said


class Stopping(Room):
    """Its turns are a mere "stop", which nobody answers."""

    def turn(self, text: str) -> Utterance:
        return SpokenUtterance("user", text, wants_answer=False)


async def test_a_turn_that_wants_no_answer_is_not_waited_for() -> None:
    room = Stopping([(4.0, "Stop.")], [(4.0, "Stop.")])

    assert (2, [], 8.0 + 2 * HELD_TURN_S) == await hold(room, 2)


class Unclear(Room):
    """What has no text in it was somebody's who was not understood."""

    def turn(self, text: str) -> Utterance:
        return SpokenUtterance("user", text, unclear="" if text else "not understood")


@pytest.mark.parametrize("says", ["Pardon?", ""], ids=["aloud", "silently"])
async def test_a_recording_that_is_said_to_be_not_understood_is_waited_for_no_longer(says: str) -> None:
    room = Unclear([(4.0, "")], [(4.0, "Two.")])

    understood, told, _ = await hold(room, 2, apologies=lambda _: says)

    assert (1, ["Nothing was understood in 0.wav."]) == (understood, told)
    assert [(0, 0.0), (1, 4.0 + (1.0 if says else 0.0) + HELD_TURN_S)] == room.said


async def test_a_recording_is_understood_though_its_beginning_was_not() -> None:
    room = Unclear([(1.0, ""), (4.5, "One.")], [(4.0, "Two.")])

    understood, told, _ = await hold(room, 2, apologies=lambda _: "Pardon?")

    assert (2, []) == (understood, told)


class GoingOn(Room):
    """After its first turn something is heard that seems to go on with it, and is nothing."""

    def __init__(self, *heard: Sequence[Heard]) -> None:
        super().__init__(*heard)
        self._resumes = True

    def turn(self, text: str) -> Utterance:
        return SpokenUtterance("user", text)

    async def resumed(self) -> None:
        if not self._resumes:
            await anyio.sleep_forever()
        self._resumes = False

    def reopen(self, *, within_s: float) -> bool:
        return within_s > 0.0


async def test_an_answer_that_was_put_off_since_the_turn_seemed_to_go_on_is_waited_for() -> None:
    room = GoingOn([(4.0, "What is the weather")], [(4.0, "Two.")])

    understood, told, _ = await hold(room, 2)

    assert (2, []) == (understood, told)
    first_s, second_s = (at_s for _, at_s in room.said)
    assert first_s + 4.0 + OWED_S + 1.0 + HELD_TURN_S <= second_s, "the answer lasts a second"


async def test_nothing_is_said_before_the_microphone_is_open() -> None:
    room = Room([(4.0, "One.")])
    room.opens_at_once = False
    asyncio.get_running_loop().call_later(0.7, room.opened.set)

    await hold(room, 1)

    assert [(0, 0.7)] == room.said


async def test_a_clip_in_which_nothing_is_heard_is_told_and_left_behind() -> None:
    room = Room([], [(4.0, "Two.")])

    understood, told, _ = await hold(room, 2)

    assert (1, ["Nothing was understood in 0.wav."]) == (understood, told)
    assert [(0, 0.0), (1, CLIP_S + UNDERSTOOD_WITHIN_S)] == room.said


async def at_once() -> None:
    """Nothing of what was said is open or being read."""


async def test_a_clip_in_which_nobody_speaks_is_left_behind_as_soon_as_that_is_known() -> None:
    room = Room([], [(3.2, "Two.")])

    understood, told, _ = await hold(room, 2, heard_out=at_once)

    assert (1, ["Nothing was understood in 0.wav."]) == (understood, told)
    assert [(0, 0.0), (1, CLIP_S + NOTICED_S + HELD_TURN_S)] == room.said


async def test_a_turn_that_is_open_or_being_read_is_waited_for() -> None:
    room = Room([(3.0 + 20.0, "One.")], [(3.0 + 20.0, "Two.")])

    async def read_at_length() -> None:
        await anyio.sleep(20.0)

    understood, told, _ = await hold(room, 2, heard_out=read_at_length)

    assert (2, []) == (understood, told)


async def test_what_cannot_be_known_is_waited_for_no_longer_than_before() -> None:
    room = Room([], [(4.0, "Two.")])

    await hold(room, 2, heard_out=anyio.sleep_forever)

    assert [(0, 0.0), (1, CLIP_S + UNDERSTOOD_WITHIN_S)] == room.said


async def test_a_clip_whose_beginning_is_answered_while_it_goes_on_is_heard_to_its_end() -> None:
    room = Room([(1.0, "One,"), (4.5, "and one more.")], [(4.0, "Two.")])

    await hold(room, 2, delay_s=0.1, answer_s=0.2)

    assert [(0, 0.0), (1, 4.8 + ANOTHER_TURN_S)] == room.said


async def test_a_clip_with_a_pause_at_its_end_is_not_waited_for_long() -> None:
    room = Room([(2.0, "One.")], [(4.0, "Two.")])

    await hold(room, 2, delay_s=0.1, answer_s=0.2)

    assert [(0, 0.0), (1, CLIP_S + ANOTHER_TURN_S)] == room.said


async def test_the_end_of_the_session_ends_it_in_the_middle_of_a_clip() -> None:
    room = Room([(4.0, "One.")], [])
    session = Session(room, EchoResponder(), SilentVoice())
    told: list[str] = []
    recorded = RecordedTurns(room, ["0.wav", "1.wav"], session.events(*FOLLOWED), told.append)
    session.start()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(recorded.hold)
        await room.begun.wait()
        await session.stop()

    assert ["The talk ended before 1.wav was said."] == told
    assert [True] == [future.cancelled() for future in room.waiting]


async def test_a_closed_microphone_ends_it() -> None:
    room = Room([(4.0, "One.")])
    session = Session(room, EchoResponder(), SilentVoice())
    recorded = RecordedTurns(room, ["0.wav"], session.events(*FOLLOWED), print)
    session.start()
    await room.aclose()

    assert 0 == await recorded.hold()
    await session.stop()


async def test_cancelling_it_takes_back_the_clip() -> None:
    room = Room([(4.0, "One.")])
    session = Session(room, EchoResponder(), SilentVoice())
    recorded = RecordedTurns(room, ["0.wav"], session.events(*FOLLOWED), print)
    session.start()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(recorded.hold)
        await room.begun.wait()
        tasks.cancel_scope.cancel()

    assert [True] == [future.cancelled() for future in room.waiting]
    await session.stop()


class Refusing:
    """A responder that cannot be reached: the session fails, and its parts are closed before it says so."""

    def __init__(self, room: Room) -> None:
        self._room = room

    async def warmup(self) -> None:
        await self._room.begun.wait()
        raise EndpointUnreachable("Nobody answers.", fix="Start it.")

    async def reply(self, messages: Sequence[Message]) -> AsyncIterator[str]:
        yield ""

    async def aclose(self) -> None:
        await self._room.closed.wait()


async def test_a_talk_that_fails_in_a_clip_says_nothing_about_what_was_understood() -> None:
    room = Room([(4.0, "One.")], [], [])
    session = Session(room, Refusing(room), SilentVoice())
    told: list[str] = []
    recorded = RecordedTurns(room, ["0.wav", "1.wav", "2.wav"], session.events(*FOLLOWED), told.append)
    session.start()

    assert 0 == await recorded.hold()

    assert ["The talk ended before 1.wav and 1 more were said."] == told
    with pytest.raises(EndpointUnreachable):
        await session.wait()
