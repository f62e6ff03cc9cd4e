"""Pauses: nobody is in the middle of a turn or of a clause."""

from collections.abc import Callable
from typing import Any

import anyio
import numpy as np
import pytest

from discussion_helper.audio.playback import Playback
from discussion_helper.turn.turns import TurnEnded, TurnEvent, TurnStarted
from discussion_helper.voice.marks import Marks
from discussion_helper.voice.notes import Turn
from discussion_helper.voice.pauses import CLAUSE_S, TURN_S, Pauses

pytestmark = pytest.mark.anyio

RATE = 1_000


def turn(event: TurnEvent) -> Turn:
    return Turn(event, 0.0, 0.0, 0.0)


STARTED, ENDED = turn(TurnStarted(0)), turn(TurnEnded(np.zeros(1, np.float32), 0, 1, 0.3))


async def test_when_nothing_is_going_on_there_is_one_at_once() -> None:
    playback = Playback(RATE)
    began = anyio.current_time()

    await Pauses(playback, Marks(playback)).wait(speaks=True)

    assert anyio.current_time() == began


async def test_a_turn_of_the_users_is_waited_for_but_not_for_ever() -> None:
    playback = Playback(RATE)
    pauses = Pauses(playback, Marks(playback))
    took = []
    for ends in (True, False):
        pauses.noted(STARTED)
        began = anyio.current_time()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lambda: pauses.wait(speaks=True))
            await anyio.sleep(3.0)
            pauses.noted(ENDED if ends else STARTED)
        took.append(anyio.current_time() - began)

    assert took == [pytest.approx(3.0), pytest.approx(TURN_S)]


async def test_a_clause_is_waited_for(loudspeaker: Callable[[], Any]) -> None:
    async with loudspeaker() as device:
        pauses = Pauses(device.playback, device.marks)
        device.playback.write(1, np.full(3 * RATE, 0.5, np.float32))
        mark = device.marks.set(1, RATE - 1)  # the first clause of the reply ends
        await pauses.wait(speaks=True)

        assert mark.reached.is_set()
        assert RATE <= device.playback.position.samples <= RATE + 20


async def test_a_loudspeaker_that_plays_nothing_is_not_waited_for_long() -> None:
    playback = Playback(RATE)
    playback.write(1, np.full(RATE, 0.5, np.float32))
    pauses = Pauses(playback, Marks(playback))
    took = []
    for speaks in (True, False):
        began = anyio.current_time()
        await pauses.wait(speaks=speaks)
        took.append(anyio.current_time() - began)

    assert took == [pytest.approx(CLAUSE_S), 0.0]
