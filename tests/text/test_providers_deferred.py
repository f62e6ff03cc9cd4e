"""A provider that is made with the first message."""

from collections.abc import Iterator

import anyio
import pytest

from discussion_helper.errors import ModelMissing
from discussion_helper.text import Manager, MemoryThreads, ProcessError, Step, TextDelta, UserMessageEvent
from discussion_helper.text.providers.base import Provider
from discussion_helper.text.providers.deferred import DeferredProvider
from discussion_helper.text.providers.scripted import ScriptedProvider

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request: pytest.FixtureRequest) -> str:
    """A real thread takes part: loops on real time."""
    return str(request.param)


async def test_it_is_made_once_for_however_many_ask_and_released() -> None:
    made: list[ScriptedProvider] = []

    def make() -> Provider:
        made.append(ScriptedProvider([TextDelta("yes")]))
        return made[-1]

    provider = DeferredProvider(make)
    async with Manager(MemoryThreads(), provider, lambda _: Step()) as manager:
        assert [] == made
        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                stream = await manager.create()
                tasks.start_soon(stream.process, UserMessageEvent("hi"))
    await provider.aclose()

    assert (1, 5, True) == (len(made), len(made[0].states), made[0].closed)


async def test_what_is_missing_fails_the_message_and_the_next_one_tries_again() -> None:
    outcomes: Iterator[ScriptedProvider | Exception] = iter(
        [ModelMissing("The model is not here.", fix="Pull it."), ScriptedProvider([TextDelta("yes")])]
    )

    def make() -> Provider:
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async with Manager(MemoryThreads(), DeferredProvider(make), lambda _: Step()) as manager:
        stream = await manager.create()
        with pytest.raises(ProcessError, match=r"The model is not here\. Pull it\."):
            await stream.process(UserMessageEvent("hi"))
        await stream.process(UserMessageEvent("again"))

        assert "yes" == stream.thread.state.turns[-1].text
