"""Waiting in a room: until it happens, or until it is known why it does not."""

from typing import Any

import anyio
import pytest

from discussion_helper.errors import RecogniserError
from discussion_helper.session import Session
from discussion_helper.stt.base import Recognised
from discussion_helper.testing import EchoResponder
from discussion_helper.testing.room import (
    After,
    CutSynthesiser,
    MatchingRecogniser,
    NoEchoPath,
    Room,
    cheap_detectors,
    speech_like,
)

pytestmark = pytest.mark.anyio

STORY, MORE = (speech_like(2.0, 48_000, seed=seed) for seed in (7, 8))


class Broken(MatchingRecogniser):
    def __init__(self) -> None:
        super().__init__(list)

    async def recognise(self, samples: Any, *, voiced_s: float | None = None) -> Recognised:
        raise RecogniserError("the recogniser is closed.")


def room() -> Room:
    return Room(detectors=cheap_detectors, echo_path=NoEchoPath)


def session_in(room: Room, *, recogniser: Any = None, delay_s: float = 0.0) -> Session:
    return room.session(
        responder=EchoResponder(delay_s=delay_s),
        recogniser=recogniser or room.recogniser(),
        synthesiser=CutSynthesiser(),
    )


@pytest.mark.parametrize("wait", ["reached", "until", "quiet"])
async def test_a_session_that_fails_ends_the_wait_with_its_error(wait: str) -> None:
    async with room() as it:
        session_in(it, recogniser=Broken()).start()
        it.say(STORY, at_s=0.5, text="tell me a story")
        calls: Any = {
            "reached": lambda: it.reached("reply"),
            "until": lambda: it.until(lambda: False),
            "quiet": lambda: it.quiet(20.0),
        }
        with pytest.raises(RecogniserError, match="the recogniser is closed"):
            await calls[wait]()
        assert it.now_s < 6.0
        with pytest.raises(RecogniserError, match="the recogniser is closed"):  # also when it is known before
            await calls[wait]()


async def test_what_holds_when_the_session_has_failed_is_reached_all_the_same() -> None:
    async with room() as it:
        session = session_in(it, recogniser=Broken()).start()
        it.say(STORY, at_s=0.5, text="tell me a story")

        await it.until(lambda: session.ended)

        assert 2.5 == pytest.approx((await it.reached("line_end")).at_s, abs=0.01)


async def test_a_session_that_was_stopped_gives_no_more_replies() -> None:
    async with room() as it:
        session = session_in(it).start()
        it.say(STORY, at_s=0.5, text="tell me a story")
        await it.reached("reply")
        await session.stop()

        with pytest.raises(
            RuntimeError, match=r'no 2nd "reply", and none will come: the session has ended \(stopped\)'
        ):
            await it.reached("reply", 2)
        assert it.now_s < 10.0
        assert 1 == (await it.reached("reply")).number
        await it.quiet()


async def test_a_wait_in_vain_tells_what_happened_instead() -> None:
    async with room() as it:
        with pytest.raises(TimeoutError, match=r'no 1st "reply" within 1 s: there is no session; marks so far: none'):
            await it.reached("reply", within_s=1.0)
        session = session_in(it)
        with pytest.raises(TimeoutError, match="the session was not started"):
            await it.reached("reply", within_s=1.0)
        session.start()
        it.say(STORY, at_s=3.0, text="tell me a story")
        with pytest.raises(TimeoutError) as caught:
            await it.reached("reply", 2, within_s=20.0)
        assert 'There was no 2nd "reply" within 20 s: the floor: listening; marks so far: 1st line at 3.00 s' in str(
            caught.value
        )
        assert "1st reply at" in str(caught.value)
        with pytest.raises(TimeoutError, match=r"The condition did not hold within 0.5 s: the floor: listening"):
            await it.until(lambda: False, within_s=0.5)
        with pytest.raises(TimeoutError, match="It was not quiet for 99 s within 1 s"):
            await it.quiet(99.0, within_s=1.0)


async def test_quiet_waits_for_what_is_to_be_said_and_for_its_answer() -> None:
    async with room() as it:
        session = session_in(it, delay_s=5.0).start()
        it.say(STORY, at_s=4.0, text="tell me a story")

        await it.quiet(1.5)

        assert ["tell me a story", "tell me a story"] == [said["text"] for said in session.state["utterances"]]
        assert it.now_s > 11.0


async def test_quiet_does_not_wait_for_a_line_whose_mark_may_never_come() -> None:
    async with room() as it:
        session_in(it).start()
        it.say(STORY, after=After("reply", 9), text="tell me a story")

        assert 0.0 == pytest.approx(await it.quiet(), abs=0.02)
        assert 1.0 == pytest.approx(it.now_s, abs=0.02)


async def test_a_line_may_wait_for_any_mark() -> None:
    async with room() as it:
        session = session_in(it).start()
        it.say(STORY, at_s=0.5, text="one two three four five six seven eight")
        it.say(MORE, after=After("halt", plus_s=1.0), text="and then")
        await it.reached("reply")
        await anyio.sleep(0.5)
        await session.interrupt()
        halt = await it.reached("halt")

        assert halt.at_s + 1.0 == pytest.approx((await it.reached("line", 2)).at_s, abs=0.001)
        assert (await it.reached("voice", 2)).at_s < (await it.reached("voice_end", 2)).at_s
