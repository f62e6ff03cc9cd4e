"""L. Shutdown: scenarios of public bug reports, in the simulated room."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from discussion_helper.testing.room import After, Hanging, Stalled, Unplugged
from discussion_helper.testing.room.troubles import Which

pytestmark = pytest.mark.anyio

LIMIT_S = 2.0
NEVER_S = 10_000.0
REPLY = ["There is a lot to tell about that.", "It began a long time ago in the north."]
SAID = ("speech/sphinx_cards_002.wav", "four queen of clubs")
State = Callable[[Any], Awaitable[None]]


async def nothing(on: Any) -> None:
    """Not even started, or listening."""
    await on.passed(1.0)


async def user_speaks(on: Any) -> None:
    """In the middle of a turn."""
    on.say(*SAID)
    await on.passed(0.9)


async def recognising(on: Any) -> None:
    """The recogniser is at work and will never be done."""
    on.ears._delay_s = NEVER_S
    on.say(*SAID)
    await on.passed(3.0)
    assert on.ears.given


async def thinking(on: Any) -> None:
    """The responder will never answer."""
    on.answers.delay_s = NEVER_S
    await on.session.say("Tell me.")
    await on.passed(1.0)
    assert "thinking" == on.session.floor.value


async def synthesising(on: Any) -> None:
    """The synthesiser will never be done."""
    on.voice._delay_s = NEVER_S
    await on.session.say("Tell me.")
    await on.passed(1.0)
    assert "speaking" == on.session.floor.value


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


async def interrupted(on: Any) -> None:
    """In the moment of an interruption."""
    await turned_down(on)
    await on.room.reached("halt")


async def warming_up(on: Any) -> None:
    """The recogniser is being loaded, and never will be."""
    assert "listening" == on.session.floor.value
    assert on.warming


async def opening_again(on: Any) -> None:
    """Both devices went away, and are to be opened again."""
    await speaking(on)
    for which in ("microphone", "loudspeaker"):
        on.room.trouble(Unplugged(which, on.room.now_s))
    await on.passed(1.7)
    assert 2 == len(await on.told("device", state="lost"))


STATES = [nothing, user_speaks, recognising, thinking, synthesising, speaking, turned_down, interrupted]


async def closed(on: Any) -> float:
    """Stop the talk; how long it took."""
    began_s = on.room.now_s
    await on.session.stop()
    took_s: float = on.room.now_s - began_s
    assert on.session.ended
    assert on.ears.closed
    assert on.voice.closed
    return took_s


@pytest.mark.parametrize("state", STATES)
async def test_l1_it_closes_within_two_seconds_in_every_state(talk: Any, state: State) -> None:
    """close() in every state: idle, listening, transcribing, thinking, speaking, deciding; <= 2 s, nothing is left."""
    tasks, threads = len(asyncio.all_tasks()), threading.active_count()
    async with talk(REPLY, fast=state is not turned_down and state is not interrupted) as on:
        await state(on)

        assert await closed(on) <= LIMIT_S
    assert (tasks, threads) == (len(asyncio.all_tasks()), threading.active_count())


async def test_l1_before_it_was_started(talk: Any) -> None:
    """The same before the start."""
    async with talk(REPLY, fast=True, start=False) as on:
        await on.session.stop()

        assert on.session.ended


@pytest.mark.parametrize(
    "trouble",
    [
        lambda at_s: Stalled("microphone", at_s, NEVER_S),
        lambda at_s: Unplugged("microphone", at_s),
        lambda at_s: Unplugged("loudspeaker", at_s),
        lambda at_s: Stalled("loudspeaker", at_s, NEVER_S),
    ],
    ids=["microphone-hangs", "microphone-gone", "loudspeaker-gone", "loudspeaker-hangs"],
)
@pytest.mark.parametrize("state", [nothing, user_speaks, recognising, speaking])
@pytest.mark.parametrize("after_s", [0.05, 2.5])
async def test_l1_also_with_a_dead_device(talk: Any, state: State, trouble: Any, after_s: float) -> None:
    """A device is dead, just now or for a while: close() takes 2 s at most all the same."""
    tasks = len(asyncio.all_tasks())
    async with talk(REPLY, fast=True) as on:
        await state(on)
        on.room.trouble(trouble(on.room.now_s))
        await on.passed(after_s)

        assert await closed(on) <= LIMIT_S
    assert tasks == len(asyncio.all_tasks())


async def test_l1_what_was_heard_is_on_record_when_it_is_closed(talk: Any) -> None:
    """Closed within a reply: what was heard of it is in the transcript, as interrupted."""
    async with talk(REPLY, fast=True) as on:
        await speaking(on)
        await closed(on)

        assert [("user", False), ("agent", True)] == [(turn.speaker, turn.interrupted) for turn in on.said]
        assert 2 <= len(on.replies[0].text.split()) <= 4


@pytest.mark.parametrize("close_s", [1.0, NEVER_S], ids=["a-second", "for-ever"])
@pytest.mark.parametrize("hanging", [["microphone"], ["loudspeaker"], ["loudspeaker", "microphone"]], ids="+".join)
@pytest.mark.parametrize("state", [warming_up, nothing, thinking, speaking, turned_down, opening_again])
async def test_l1_a_device_that_hangs_when_it_is_closed(
    talk: Any, state: State, hanging: list[Which], close_s: float
) -> None:
    """It is over within 2 s in every state, says which device held on, and leaves nothing when that lets go."""
    tasks = len(asyncio.all_tasks())
    async with talk(REPLY, fast=state is not turned_down, start=False) as on:
        on.warming = state is warming_up
        on.ears.warmup = anyio.sleep_forever if on.warming else on.ears.warmup
        on.session.start()
        await on.passed(0.2)
        for which in hanging:
            on.room.trouble(Hanging(which, on.room.now_s, close_s))
        await state(on)

        assert await closed(on) <= LIMIT_S
        assert hanging == sorted(it["which"] for it in await on.told("device", state="hanging"))
    await anyio.sleep(NEVER_S)
    assert tasks == len(asyncio.all_tasks())
