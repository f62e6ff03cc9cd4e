"""Providers that misbehave at the end of an answer, or while they are cancelled, seen on a stream."""

import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import anyio
import pytest

from discussion_helper.text.artifacts import Artifact, TextDelta
from discussion_helper.text.errors import ProcessError, TurnCancelledError
from discussion_helper.text.inputs import UserMessageEvent
from discussion_helper.text.manager import Manager
from discussion_helper.text.providers.base import Option
from discussion_helper.text.state import State

pytestmark = pytest.mark.anyio

Make = Callable[..., Manager]


class Answering:
    """An iterator of one piece, with an end of its own."""

    def __init__(self, closes: Callable[[], Any], *, fails: Exception | None = None) -> None:
        self._closes = closes
        self._fails = fails
        self._left = [TextDelta("Hello.")]

    def __aiter__(self) -> "Answering":
        return self

    async def __anext__(self) -> Artifact:
        if self._left:
            return self._left.pop()
        raise self._fails or StopAsyncIteration

    async def aclose(self) -> None:
        await self._closes()


class BadlyClosed:
    """Its iterators do at the end what they are told."""

    def __init__(self, closes: Callable[[], Any], *, fails: Exception | None = None) -> None:
        self._given = closes, fails

    def invoke(self, state: State, *options: Option) -> AsyncIterator[Artifact]:
        closes, fails = self._given
        return Answering(closes, fails=fails)

    async def aclose(self) -> None:
        pass


async def raises() -> None:
    raise ConnectionError("the key is sk-123")


async def hangs() -> None:
    await anyio.sleep_forever()


@pytest.mark.parametrize(
    ("closes", "says"), [(raises, "closing Answering failed (ConnectionError)"), (hangs, "took longer than 0.25 s")]
)
async def test_a_whole_answer_is_kept_when_its_iterator_does_not_close(
    manager_of: Make,
    closes: Callable[[], Any],
    says: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        async with manager_of(BadlyClosed(closes)) as manager:
            stream = await manager.create()
            await stream.process(UserMessageEvent("hi"))
            assert [turn.text for turn in stream.thread.state.turns] == ["hi", "Hello."]
            await stream.aclose()
    [line] = [record for record in caplog.records if record.name == "discussion_helper.iteration"]
    assert says in line.getMessage()
    assert line.exc_info is None
    assert "sk-123" not in caplog.text


async def test_a_failure_is_not_hidden_by_one_in_closing(manager_of: Make) -> None:
    async with manager_of(BadlyClosed(raises, fails=ValueError("the cause"))) as manager:
        stream = await manager.create()
        with pytest.raises(ProcessError, match="the cause"):
            await stream.process(UserMessageEvent("hi"))
        await stream.aclose()


class FailingWhenCancelled:
    """Says something, and raises `error` when it is cancelled; None = lets the cancellation through."""

    def __init__(self, error: Exception | None) -> None:
        self._error = error
        self.waits = anyio.Event()

    async def invoke(self, state: State, *options: Option) -> AsyncIterator[Artifact]:
        yield TextDelta("Well")
        self.waits.set()
        try:
            await anyio.sleep_forever()
        except anyio.get_cancelled_exc_class():
            if self._error is not None:
                raise self._error from None
            raise

    async def aclose(self) -> None:
        pass


@pytest.mark.parametrize("error", [None, OSError("lost")])
async def test_an_error_in_the_place_of_a_cancellation_fails_the_turn(
    manager_of: Make, error: Exception | None
) -> None:
    provider = FailingWhenCancelled(error)
    outcomes: list[ProcessError] = []
    async with manager_of(provider) as manager:
        stream = await manager.create()
        async with stream.subscribe("lifecycle", "error") as events:

            async def asking() -> None:
                with pytest.raises(ProcessError) as raised:
                    await stream.process(UserMessageEvent("hi"))
                outcomes.append(raised.value)

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(asking)
                await provider.waits.wait()
                stream.cancel()
            await stream.aclose()
            told = [getattr(event, "phase", event.kind) async for event in events]
    assert told == ["submitted", "streaming", "error" if error else "cancelled", "done"]
    assert isinstance(outcomes[0], TurnCancelledError) == (error is None)
    assert outcomes[0].__cause__ is error
