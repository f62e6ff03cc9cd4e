"""L1 where a device does not let itself be closed: scenarios of shutdown in the simulated room."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from discussion_helper.testing.room import After, Hanging, Unplugged
from discussion_helper.testing.room.troubles import Which

pytestmark = pytest.mark.anyio

LIMIT_S = 2.0
LONG_S = 1_000.0
REPLY = ["There is a lot to tell about that.", "It began a long time ago in the north."]
SAID = ("speech/sphinx_cards_002.wav", "four queen of clubs")
State = Callable[[Any], Awaitable[None]]


async def warming_up(on: Any) -> None:
    """The recogniser is being loaded."""
    assert "listening" == on.session.floor.value
    assert on.warming


async def listening(on: Any) -> None:
    """Nobody speaks."""
    await on.passed(1.0)


async def thinking(on: Any) -> None:
    """The responder will never answer."""
    on.answers.delay_s = LONG_S
    await on.session.say("Tell me.")
    await on.passed(1.0)
    assert "thinking" == on.session.floor.value


async def speaking(on: Any) -> None:
    """In the middle of a word."""
    await on.session.say("Tell me.")
    await on.room.reached("reply")
    await on.passed(1.0)


async def turned_down(on: Any) -> None:
    """A voice over the reply is still to be decided about."""
    await on.session.say("Tell me.")
    on.say("speech/sphinx_goforward.wav", "go forward ten meters", after=After("reply", 1, 0.5), dbfs=-20.0)
    await on.room.reached("reply")
    await on.passed(1.4)
    assert not on.replies


async def opening_again(on: Any) -> None:
    """Both devices went away, and are to be opened again."""
    await speaking(on)
    for which in ("microphone", "loudspeaker"):
        on.room.trouble(Unplugged(which, on.room.now_s))
    await on.passed(1.7)
    assert 2 == len(await on.told("device", state="lost"))


STATES = [warming_up, listening, thinking, speaking, turned_down, opening_again]
WHICH: dict[str, list[Which]] = {
    "microphone": ["microphone"],
    "loudspeaker": ["loudspeaker"],
    "both": ["microphone", "loudspeaker"],
}


@pytest.mark.parametrize("close_s", [1.0, LONG_S], ids=["a-second", "for-ever"])
@pytest.mark.parametrize("hanging", WHICH.values(), ids=WHICH)
@pytest.mark.parametrize("state", STATES)
async def test_l1_a_device_that_hangs_when_it_is_closed(
    talk: Any, state: State, hanging: list[Which], close_s: float
) -> None:
    """It is over within 2 s in every state, says which device held on, and leaves nothing when that lets go."""
    tasks = len(asyncio.all_tasks())
    async with talk(REPLY, fast=state is not turned_down, start=False) as on:
        on.warming = state is warming_up
        on.ears.warmup = _never if state is warming_up else on.ears.warmup
        on.session.start()
        await on.passed(0.2)
        for which in hanging:
            on.room.trouble(Hanging(which, on.room.now_s, close_s))
        await state(on)
        began_s = on.room.now_s
        await on.session.stop()
        took_s = on.room.now_s - began_s
        told = [it["which"] for it in await on.told("device", state="hanging")]

        assert took_s <= LIMIT_S
        assert on.session.ended
        assert sorted(hanging) == sorted(told)
    await anyio.sleep(LONG_S)
    assert tasks == len(asyncio.all_tasks())


async def _never() -> None:
    await anyio.sleep_forever()
