"""The scripted provider: answers in turn, and tells what it was asked."""

import anyio
import pytest

from discussion_helper.text.artifacts import Text, TextDelta
from discussion_helper.text.providers.options import Temperature
from discussion_helper.text.providers.scripted import FOREVER, ScriptedProvider
from discussion_helper.text.state import State, Turn

pytestmark = pytest.mark.anyio


async def given_by(provider: ScriptedProvider, state: State | None = None, *options: Temperature) -> list[object]:
    return [artifact async for artifact in provider.invoke(state or State(), *options)]


async def test_answers_come_in_turn_and_the_last_is_repeated() -> None:
    provider = ScriptedProvider([TextDelta("one")], lambda state: [TextDelta(str(len(state)))])
    assert await given_by(provider) == [TextDelta("one")]
    assert await given_by(provider) == [TextDelta("0")]
    assert await given_by(provider, State([Turn("user")]), Temperature(1)) == [TextDelta("1")]
    assert [len(state) for state in provider.states] == [0, 0, 1]
    assert provider.options[-1] == (Temperature(1),)


async def test_without_a_script_it_says_nothing() -> None:
    assert await given_by(ScriptedProvider()) == []


async def test_what_it_was_asked_with_stays_as_it_was() -> None:
    provider, state = ScriptedProvider(), State([Turn("user", (Text("a"),))])
    await given_by(provider, state)
    state.append(Turn("assistant"))
    assert len(provider.states[0]) == 1


async def test_cues_fail_wait_and_block() -> None:
    gate = anyio.Event()
    provider = ScriptedProvider([2.5, gate, ValueError("no")], [FOREVER])
    began = anyio.current_time()
    gate.set()
    with pytest.raises(ValueError, match="no"):
        await given_by(provider)
    assert anyio.current_time() - began >= 2.5
    with anyio.move_on_after(1000) as scope:
        await given_by(provider)
    assert scope.cancelled_caught
    assert (provider.running, provider.most) == (0, 1)


async def test_calls_are_waited_for_and_counted() -> None:
    gate = anyio.Event()
    provider = ScriptedProvider([gate])
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(given_by, provider)
        tasks.start_soon(given_by, provider)
        await provider.asked(2)
        assert provider.running == 2
        gate.set()
    assert (provider.running, provider.most) == (0, 2)
    await provider.aclose()
    assert provider.closed
